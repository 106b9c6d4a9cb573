"""Ports as network operating systems call them."""

import numpy as np
import pytest

from gpufabric.exports.interface_names import interface_names, port_ranks
from gpufabric.records.cluster import DeviceKind


def names_of(source, style, device):
    names = interface_names(source.cluster, style, source.parts.by_id)
    return names[source.cluster.ports.device == device].tolist()


def a_switch(source):
    return int(np.flatnonzero(source.cluster.devices.kind == DeviceKind.SWITCH)[0])


@pytest.mark.parametrize(
    ("style", "first"),
    [
        ("nvos", ["sw1p1", "sw1p2"]),
        ("cumulus", ["swp1s0", "swp1s1"]),
        ("sonic", ["Ethernet0", "Ethernet4"]),
        ("linux", ["eth1", "eth2"]),
        ("rdma", ["eth1", "eth2"]),
    ],
)
def test_the_first_cage_of_a_switch_with_two_ports_a_cage(small, style, first):
    assert names_of(small, style, a_switch(small))[:2] == first


def test_an_unsplit_cage_is_one_port(roce):
    cluster = roce.cluster
    uplinks = np.flatnonzero(
        (cluster.devices.kind[cluster.ports.device] == DeviceKind.SWITCH) & (cluster.ports.lanes_in_cage == 1)
    )
    names = interface_names(cluster, "cumulus", roce.parts.by_id)[uplinks]
    assert all(name == f"swp{cage}" for name, cage in zip(names, cluster.ports.cage[uplinks], strict=True))


def test_servers_have_adapters_and_interfaces_by_their_place(small, roce):
    # The part says what the driver calls them: two dual-port cards stand between.
    assert names_of(small, "rdma", 0) == [f"mlx5_{n}" for n in (0, 3, 4, 5, 6, 9, 10, 11)]
    assert names_of(roce, "rdma", 0) == [f"mlx5_{n}" for n in range(8)]
    assert names_of(small, "sonic", 0) == [f"eth{n}" for n in range(1, 9)]


@pytest.mark.parametrize("style", ["cumulus", "nvos", "sonic", "linux", "rdma"])
def test_names_are_unique_within_a_device(small, roce, style):
    for source in (small, roce):
        names = interface_names(source.cluster, style, source.parts.by_id)
        pairs = list(zip(source.cluster.ports.device.tolist(), names.tolist(), strict=True))
        assert len(set(pairs)) == len(pairs)


def test_the_management_port_is_eth0(source_of):
    source = source_of(
        "servers: {model: dgx-h100, count: 2}\nfabrics:\n"
        "  - {name: compute, topology: single-switch, switch: qm9790}\n"
        "  - {name: oob, purpose: out-of-band, topology: leaf-spine, switch: sn2201}\n"
    )
    names = interface_names(source.cluster, "cumulus", source.parts.by_id)
    managed = source.cluster.ports.cage == 0
    assert set(names[managed]) == {"eth0"}
    assert (port_ranks(source.cluster)[managed] == -1).all()


def test_sonic_counts_eight_lanes_a_cage_where_the_switch_is_not_known(small):
    known = interface_names(small.cluster, "sonic", small.parts.by_id)
    assert interface_names(small.cluster, "sonic").tolist() == known.tolist()
