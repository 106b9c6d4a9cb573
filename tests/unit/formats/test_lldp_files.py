"""LLDP neighbours in the forms of lldpd, SONiC, NX-OS and EOS."""

import io
from pathlib import Path

import pytest

from gpufabric.formats.lldp_details import read_lldp_details
from gpufabric.formats.lldp_json import read_lldp_json
from gpufabric.formats.lldp_rows import device_of_file
from gpufabric.formats.lldp_tables import read_lldp_table
from gpufabric.records.labels import port_label

CAPTURED = Path(__file__).parents[2] / "captured" / "lldp"


def pairs(found):
    cluster = found.cluster
    ends = zip(cluster.links.port_a.tolist(), cluster.links.port_b.tolist(), strict=True)
    return {(port_label(cluster, a), port_label(cluster, b)) for a, b in ends}


def test_one_interface_is_an_object():
    found = read_lldp_json(CAPTURED / "basalt-n01.json")
    assert pairs(found) == {("basalt-n01:enp24s0", "basalt-leaf1:Ethernet8")}
    assert found.cluster.links.where[0].endswith("basalt-n01.json:4")
    assert "basalt-n01 enp24s0" in found.port_note
    assert found.device_model == ("", "example network operating system")


def test_several_interfaces_are_a_list_and_the_named_neighbour_wins():
    found = read_lldp_json(CAPTURED / "basalt-n02.json")
    assert pairs(found) == {
        ("basalt-n02:enp24s0", "basalt-leaf1.example.net:etp2a"),
        ("basalt-n02:eno1", "basalt-mgmt:swp12"),
    }
    assert [(f.rule, f.severity) for f in found.findings] == [("found-second-neighbour", "info")]


def test_json0_has_lists_everywhere():
    found = read_lldp_json(CAPTURED / "basalt-n03.json0.json", device="basalt-n03")
    assert pairs(found) == {("basalt-n03:enp24s0", "basalt-leaf1:Ethernet24")}


def test_json_of_many_hosts_behind_their_labels():
    text = "".join(
        f"{host}: {line}\n"
        for host in ("basalt-n01", "basalt-n05")
        for line in (CAPTURED / "basalt-n01.json").read_text().splitlines()
    )
    found = read_lldp_json(io.BytesIO(text.encode()), "all.txt")
    assert {near for near, _ in pairs(found)} <= {"basalt-n01:enp24s0", "basalt-n05:enp24s0"}
    # Both say that they are at one port of the leaf: only one can be right.
    assert [f.rule for f in found.findings] == ["found-ends-disagree"]


def test_sonic_table():
    found = read_lldp_table(CAPTURED / "basalt-leaf1.txt")
    assert pairs(found) == {
        ("basalt-leaf1:Ethernet8", "basalt-n01:enp24s0"),
        ("basalt-leaf1:Ethernet16", "basalt-n02:enp24s0"),
        ("basalt-leaf1:Ethernet256", "basalt-spine1:Eth1/1"),
    }
    assert found.lines_not_understood == 1


def test_sonic_table_whose_blanks_were_lost():
    text = "LocalPort RemoteDevice RemotePortID Capability RemotePortDescr\nEthernet8 n1 swp3 BR swp3\neth0 n2 swp4\n"
    found = read_lldp_table(io.BytesIO(text.encode()), "leaf9.txt")
    assert pairs(found) == {("leaf9:Ethernet8", "n1:swp3"), ("leaf9:eth0", "n2:swp4")}


def test_nxos_table_with_a_name_on_its_own_line():
    found = read_lldp_table(CAPTURED / "slate-nxos.txt")
    assert pairs(found) == {
        ("slate-leaf1:Eth1/49", "slate-spine1:Ethernet1/1"),
        ("slate-leaf1:Eth1/50", "slate-spine-with-a-long-name.example.net:Ethernet1/1"),
        ("slate-leaf1:Eth1/1", "slate-n07:0211.2233.4455"),
    }
    assert found.lines_not_understood == 0
    assert found.findings == ()


def test_a_table_with_fewer_rows_than_its_footer_says_is_cut():
    text = (CAPTURED / "slate-nxos.txt").read_text().replace("displayed: 3", "displayed: 30")
    found = read_lldp_table(io.BytesIO(text.encode()), "x.txt")
    assert [f.rule for f in found.findings] == ["found-file-cut"]


def test_eos_table():
    found = read_lldp_table(CAPTURED / "slate-eos.txt")
    assert pairs(found) == {
        ("slate-leaf2:Et1", "slate-n07:0211.2233.4456"),
        ("slate-leaf2:Et49/1", "slate-spine1:Ethernet2/1"),
    }
    assert found.lines_not_understood == 0


@pytest.mark.parametrize(
    ("file", "links"),
    [
        (
            "slate-nxos-detail.txt",
            {
                ("slate-leaf1:Eth1/49", "slate-spine1:Ethernet1/1"),
                ("slate-leaf1:Eth1/1", "slate-n07:enp24s0"),
            },
        ),
        ("slate-eos-detail.txt", {("slate-leaf2:Ethernet49/1", "slate-spine1:Ethernet2/1")}),
        ("basalt-leaf2-lldpctl.txt", {("basalt-leaf2:Ethernet8", "basalt-n01:enp41s0")}),
    ],
)
def test_long_forms(file, links):
    found = read_lldp_details(CAPTURED / file)
    assert pairs(found) == links
    assert found.lines_not_understood == 0
    assert found.findings == ()


def test_outputs_of_two_switches_in_one_file_are_told_apart_by_their_prompts():
    text = (CAPTURED / "slate-nxos.txt").read_text() + (CAPTURED / "slate-eos.txt").read_text()
    found = read_lldp_table(io.BytesIO(text.encode()), "both.txt")
    assert len(found.cluster.links) == 5
    assert {"slate-leaf1", "slate-leaf2"} <= set(found.cluster.devices.names)


@pytest.mark.parametrize(
    ("file", "device"),
    [
        ("a/b/leaf01.json", "leaf01"),
        ("leaf01_lldp.json", "leaf01"),
        ("lldp-leaf-01.txt", "leaf-01"),
        ("leaf-01-lldpctl.txt.gz", "leaf-01"),
        ("show lldp neighbors leaf1.txt", "leaf1"),
    ],
)
def test_files_are_named_after_devices(file, device):
    assert device_of_file(file) == device
