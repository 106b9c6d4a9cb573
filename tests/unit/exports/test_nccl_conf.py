"""nccl.conf names the compute NICs and fits the network."""

import pytest

from gpufabric.errors import InputError
from gpufabric.exports import EXPORTS

ROCE = """
name: roce
servers: {model: hgx-h100, count: 8}
fabrics:
  - {name: compute, topology: TOPOLOGY, network: NETWORK, switch: SWITCH, link_rate: 400 Gb/s, ecmp: {queue_pairs: 4}}
library: {name: nccl, settings: {NCCL_IB_TC: "96", NCCL_DEBUG: WARN}}
"""


def settings(source_of, topology, network, switch, *options):
    text = ROCE.replace("TOPOLOGY", topology).replace("NETWORK", network).replace("SWITCH", switch)
    source = source_of(text, options=options)
    (file,) = EXPORTS["nccl-conf"].write(source)
    lines = b"".join(file.pieces).decode().splitlines()
    assert lines[0].startswith("# roce, fabric compute: 8 compute ports a server")
    return dict(line.split("=", 1) for line in lines[1:])


def test_ethernet_without_rails(source_of):
    found = settings(source_of, "leaf-spine", "ethernet", "sn5600")
    assert len(found["NCCL_IB_HCA"].removeprefix("=").split(",")) == 8
    assert found["NCCL_CROSS_NIC"] == "2"
    assert found["NCCL_IB_QPS_PER_CONNECTION"] == "4"
    assert found["NCCL_IB_GID_INDEX"] == "3"
    assert found["NCCL_IB_TC"] == "96", "what the description sets goes before"
    assert found["NCCL_DEBUG"] == "WARN"


def test_infiniband_with_rails(source_of):
    found = settings(source_of, "rail-optimized", "infiniband", "qm9790", ("qps", "2"), ("socket", "bond0"))
    assert found["NCCL_CROSS_NIC"] == "0"
    assert found["NCCL_SOCKET_IFNAME"] == "=bond0"
    assert found["NCCL_IB_QPS_PER_CONNECTION"] == "2"
    assert "NCCL_IB_GID_INDEX" not in found


def test_devices_by_name(source_of):
    names = ",".join(f"rdma{number}" for number in range(8))
    assert (
        settings(source_of, "leaf-spine", "ethernet", "sn5600", ("hcas", names))["NCCL_IB_HCA"] == f"={names}"
    )
    with pytest.raises(InputError, match="a server has 8 compute ports"):
        settings(source_of, "leaf-spine", "ethernet", "sn5600", ("hcas", "a,b"))
    for option in (("hcas", "a\nb"), ("gid", "300"), ("qps", "0"), ("socket", "a b")):
        with pytest.raises(InputError, match="--set"):
            settings(source_of, "leaf-spine", "ethernet", "sn5600", option)
