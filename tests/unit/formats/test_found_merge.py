"""One fabric from the files of its devices."""

import io
from pathlib import Path

import numpy as np
import pytest

from gpufabric.errors import InputError
from gpufabric.formats.found_merge import folded_port, merge_found
from gpufabric.formats.ibnetdiscover import read_ibnetdiscover
from gpufabric.formats.lldp_json import read_lldp_json
from gpufabric.formats.lldp_tables import read_lldp_table
from gpufabric.records.labels import port_label

CAPTURED = Path(__file__).parents[2] / "captured"
LLDP = CAPTURED / "lldp"


def pairs(found):
    cluster = found.cluster
    ends = zip(cluster.links.port_a.tolist(), cluster.links.port_b.tolist(), strict=True)
    return {frozenset((port_label(cluster, a), port_label(cluster, b))) for a, b in ends}


def test_both_ends_of_a_cable_become_one_link():
    parts = [
        read_lldp_table(LLDP / "basalt-leaf1.txt"),
        read_lldp_json(LLDP / "basalt-n01.json"),
        read_lldp_json(LLDP / "basalt-n02.json"),
        read_lldp_json(LLDP / "basalt-n03.json0.json", device="basalt-n03"),
    ]
    found = merge_found(parts)
    assert pairs(found) == {
        frozenset(("basalt-leaf1:Ethernet8", "basalt-n01:enp24s0")),
        # Its port is etp2a to the host, and Ethernet16 by its description: the leaf's own name counts.
        frozenset(("basalt-leaf1:Ethernet16", "basalt-n02:enp24s0")),
        frozenset(("basalt-leaf1:Ethernet24", "basalt-n03:enp24s0")),
        frozenset(("basalt-leaf1:Ethernet256", "basalt-spine1:Eth1/1")),
        frozenset(("basalt-n02:eno1", "basalt-mgmt:swp12")),
    }
    assert sorted(found.link_ends.tolist()) == [1, 1, 1, 2, 2]
    assert len(found.files) == 4
    assert {where.split(":")[0].rsplit("/")[-1] for where in found.cluster.links.where} == {
        "basalt-leaf1.txt",
        "basalt-n02.json",
        "basalt-n03.json0.json",
    }
    assert "found-ends-disagree" not in {finding.rule for finding in found.findings}


def test_files_that_contradict_each_other_are_told():
    text = (LLDP / "basalt-n01.json").read_text().replace("Ethernet8", "Ethernet16")
    parts = [
        read_lldp_table(LLDP / "basalt-leaf1.txt"),
        read_lldp_json(io.BytesIO(text.encode()), "basalt-n01.json"),
    ]
    found = merge_found(parts)
    assert "found-ends-disagree" in {finding.rule for finding in found.findings}


def test_the_halves_of_a_netlist_are_the_whole():
    text = (CAPTURED / "ibnetdiscover" / "two-leaves-missing-uplink.txt").read_text()
    whole = read_ibnetdiscover(io.BytesIO(text.encode()), "w")
    cut = text.index("vendid", len(text) // 2)
    halves = [
        read_ibnetdiscover(io.BytesIO(part.encode()), name)
        for part, name in ((text[:cut], "1"), (text[cut:], "2"))
    ]
    found = merge_found(halves)
    assert pairs(found) == pairs(whole)
    assert (found.link_ends == 2).all()
    assert sorted(found.device_guid.tolist()) == sorted(whole.device_guid.tolist())


def test_ethernet_and_infiniband_of_the_same_servers_are_two_networks():
    netlist = read_ibnetdiscover(CAPTURED / "ibnetdiscover" / "two-leaves-missing-uplink.txt")
    text = (LLDP / "basalt-n01.json").read_text()
    found = merge_found([netlist, read_lldp_json(io.BytesIO(text.encode()), "amber-n01.json")])
    assert [fabric.network for fabric in found.cluster.fabrics] == ["infiniband", "ethernet"]
    row = found.cluster.devices.names.index("amber-n01")
    assert set(found.cluster.ports.fabric[found.cluster.ports.device == row].tolist()) == {0, 1}
    assert np.array_equal(np.unique(found.cluster.ports.fabric), [0, 1])


def test_one_fabric_is_itself_and_none_is_refused():
    netlist = read_ibnetdiscover(CAPTURED / "ibnetdiscover" / "two-leaves-missing-uplink.txt")
    assert merge_found([netlist]) is netlist
    with pytest.raises(InputError, match="nothing to join"):
        merge_found([])


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [("Eth1/1", "Ethernet1/1", True), ("Et49/1", "Ethernet49/1", True), ("eth0", "Ethernet0", False)],
)
def test_spellings_of_ports(one, other, same):
    assert (folded_port(one) == folded_port(other)) == same
