"""ibnetdiscover, iblinkinfo and ibdiagnet: one small fabric in four forms."""

import gzip
import io
import math
from pathlib import Path

import numpy as np
import pytest

from gpufabric.formats.ibdiagnet_db import read_ibdiagnet_db
from gpufabric.formats.iblinkinfo import read_iblinkinfo
from gpufabric.formats.ibnetdiscover import read_ibnetdiscover
from gpufabric.formats.ibnetdiscover_ports import read_ibnetdiscover_ports
from gpufabric.formats.infiniband_nodes import AGGREGATION_NODE, width_and_speed, width_rate
from gpufabric.records.cluster import UNKNOWN, DeviceKind
from gpufabric.records.found_fabric import PortState
from gpufabric.records.labels import port_label
from gpufabric.units import parse_rate

CAPTURED = Path(__file__).parents[2] / "captured"
NDR = parse_rate("400 Gb/s")


def pairs(found):
    cluster = found.cluster
    ends = zip(cluster.links.port_a.tolist(), cluster.links.port_b.tolist(), strict=True)
    return {frozenset((port_label(cluster, a), port_label(cluster, b))) for a, b in ends}


def rules(found):
    return [finding.rule for finding in found.findings]


@pytest.fixture(scope="module")
def netlist():
    return read_ibnetdiscover(CAPTURED / "ibnetdiscover" / "two-leaves-missing-uplink.txt", "built.txt")


def test_netlist_yields_switches_servers_and_links(netlist):
    devices = netlist.cluster.devices
    names = np.array(devices.names)
    assert set(names[devices.kind == DeviceKind.SWITCH]) == {
        "amber-leaf1",
        "amber-leaf2",
        "amber-spine1",
        "amber-spine2",
    }
    assert set(names[devices.kind == DeviceKind.SERVER]) == {
        "amber-n01",
        "amber-n02",
        "amber-n03",
        "amber-n04",
        "0xb8599f0300a04000",
    }
    assert len(netlist.cluster.links) == 15
    assert netlist.left_out == ((AGGREGATION_NODE, 1),)
    assert (netlist.link_ends == 2).all()
    assert netlist.lines_not_understood == 0
    assert netlist.findings == ()
    assert frozenset(("amber-n01:mlx5_5/1", "amber-leaf2:1")) in pairs(netlist)


def test_netlist_keeps_guids_models_and_lines(netlist):
    devices = netlist.cluster.devices
    leaf = devices.names.index("amber-leaf1")
    assert devices.where[leaf] == "built.txt:10"
    assert int(netlist.device_guid[leaf]) == 0xB8599F0300B00001
    assert netlist.device_model[leaf] == "MQM9700"
    assert netlist.cluster.links.where[0] == "built.txt:11"
    adapter = netlist.cluster.ports.names.index("mlx5_0/1")
    assert int(netlist.port_guid[adapter]) == 0xB8599F0300A01000


def test_netlist_invents_no_roles(netlist):
    devices, ports = netlist.cluster.devices, netlist.cluster.ports
    columns = (devices.role, devices.unit, devices.plane, devices.rail, ports.cage, ports.rail, ports.nic)
    assert all((column == UNKNOWN).all() for column in columns)


def test_one_narrow_link_has_half_the_rate(netlist):
    rates = netlist.cluster.links.bytes_per_s
    assert sorted(rates.tolist()) == [NDR / 2] + [NDR] * 14
    slow = int(np.argmin(rates))
    cluster = netlist.cluster
    assert port_label(cluster, int(cluster.links.port_a[slow])) == "amber-leaf1:35"


def test_the_port_list_is_the_same_fabric(netlist):
    found = read_ibnetdiscover_ports(CAPTURED / "ibnetdiscover" / "two-leaves-port-list.txt")
    assert pairs(found) == pairs(netlist)
    assert found.lines_not_understood == 0
    dark = np.flatnonzero(found.port_state == PortState.DARK).tolist()
    assert [port_label(found.cluster, port) for port in dark] == ["amber-leaf1:40", "amber-leaf1:41"]


def test_the_ibdiagnet_database_is_the_same_fabric(netlist):
    found = read_ibdiagnet_db(CAPTURED / "ibdiagnet" / "two-leaves.db_csv")
    assert pairs(found) == pairs(netlist)
    assert sorted(found.cluster.links.bytes_per_s.tolist()) == sorted(
        netlist.cluster.links.bytes_per_s.tolist()
    )
    assert found.lines_not_understood == 0
    assert found.left_out == ((AGGREGATION_NODE, 1),)
    dark = np.flatnonzero(found.port_state == PortState.DARK).tolist()
    assert [port_label(found.cluster, port) for port in dark] == ["amber-leaf1:40"]


def test_iblinkinfo_finds_far_ends_by_lid_and_slow_links():
    found = read_iblinkinfo(CAPTURED / "iblinkinfo" / "two-leaves.txt", "i.txt")
    assert pairs(found) == {
        frozenset(("amber-n01:mlx5_0/1", "amber-leaf1:1")),
        frozenset(("amber-n02:mlx5_0/1", "amber-leaf1:2")),
        frozenset(("amber-leaf1:33", "0xb8599f0300b00002:33")),
    }
    assert rules(found) == ["found-below-ability"]
    assert "Could be 106.25 Gbps" in found.findings[0].message
    assert int((found.port_state == PortState.DARK).sum()) == 1


def test_iblinkinfo_of_switches_only_knows_servers_by_lid():
    text = (CAPTURED / "iblinkinfo" / "two-leaves.txt").read_text()
    found = read_iblinkinfo(io.BytesIO(text[text.index("Switch:") :].encode()), "i.txt")
    assert {"amber-n01", "amber-n02"} <= set(found.cluster.devices.names)
    assert len(found.cluster.links) == 3
    assert (np.bincount(found.link_ends) == [0, 2, 1]).all()


def test_iblinkinfo_by_lines_tells_switches_by_their_ports():
    line = (
        '0x00000000000000{:02x} "  {}"  {} {}[  ] ==( 4X  10.0 Gbps (FDR10) Active/  LinkUp)==> '
        '0x00000000000000{:02x}  {} {}[  ] "{}" ( )\n'
    )
    text = line.format(1, "jade-1 HCA-1", 7, 1, 9, 3, 20, "SwitchX -  Mellanox Technologies")
    text += line.format(9, "SwitchX -  Mellanox Technologies", 3, 20, 1, 7, 1, "jade-1 HCA-1")
    found = read_iblinkinfo(io.BytesIO(text.encode()), "l.txt")
    assert found.cluster.devices.names == ("jade-1", "0x0000000000000009")
    assert found.cluster.devices.kind.tolist() == [DeviceKind.SERVER, DeviceKind.SWITCH]
    assert found.cluster.links.bytes_per_s.tolist() == [parse_rate("40 Gb/s")]
    assert found.lines_not_understood == 0


def test_a_discovery_that_stopped_at_once_is_called_so():
    found = read_ibnetdiscover(CAPTURED / "ibnetdiscover" / "first-adapter-only.txt")
    assert len(found.cluster.devices) == 1
    assert len(found.cluster.links) == 0
    assert [(f.rule, f.severity) for f in found.findings] == [("found-no-links", "error")]


def test_gzip_crlf_and_launcher_tags_change_nothing(netlist):
    text = (CAPTURED / "ibnetdiscover" / "two-leaves-missing-uplink.txt").read_text()
    tagged = "".join(f"[1,0]<stdout>:{line}\r\n" for line in text.split("\n"))
    assert pairs(read_ibnetdiscover(io.BytesIO(gzip.compress(tagged.encode())))) == pairs(netlist)


def test_an_end_that_contradicts_its_far_end_is_an_error():
    text = (CAPTURED / "ibnetdiscover" / "two-leaves-missing-uplink.txt").read_text()
    bent = text.replace('[33]\t"S-b8599f0300c00001"[1]', '[33]\t"S-b8599f0300c00001"[9]')
    found = read_ibnetdiscover(io.BytesIO(bent.encode()), "bent.txt")
    assert rules(found) == ["found-ends-disagree"]
    assert "amber-leaf1:33" in found.findings[0].message


def test_two_servers_of_one_name_are_told_apart():
    text = (CAPTURED / "ibnetdiscover" / "two-leaves-missing-uplink.txt").read_text()
    found = read_ibnetdiscover(io.BytesIO(text.replace("amber-n02", "amber-n01").encode()), "twice.txt")
    assert rules(found) == ["found-duplicate-name"] * 2
    assert sum(name.startswith("amber-n01 (0x") for name in found.cluster.devices.names) == 4
    assert len(found.cluster.links) == 15


@pytest.mark.parametrize(
    ("text", "rate"),
    [
        ("4xNDR", "400 Gb/s"),
        ("4x EDR", "100 Gb/s"),
        ("1xSDR", "2.5 Gb/s"),
        ("4xFDR10", "40 Gb/s"),
        ("4X 25.78125 Gbps", "100 Gb/s"),
        ("4X 25.78 Gbps", "100 Gb/s"),
        ("2X 106.25 Gbps", "200 Gb/s"),
        ("4X 10.0 Gbps (FDR10)", "40 Gb/s"),
    ],
)
def test_rates_of_all_spellings(text, rate):
    assert width_rate(width_and_speed(text)) == parse_rate(rate)


@pytest.mark.parametrize("text", ["4x ???", "", "3xNDR", "4xABC", "4X 77 Gbps", "x" * 1000])
def test_what_is_no_rate_is_unknown(text):
    assert math.isnan(width_rate(width_and_speed(text)))
