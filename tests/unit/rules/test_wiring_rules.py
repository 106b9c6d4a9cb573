"""Each wiring rule finds the fault that it is for, and only that one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from gpufabric.catalog.load import load_catalog
from gpufabric.records.cluster import Cluster, DeviceKind, Role
from gpufabric.records.cluster_spec import ClusterSpec
from gpufabric.rules import RULES
from gpufabric.topologies import build_cluster, resolve_parts, with_cables

CATALOG = load_catalog()
SPEC = ClusterSpec.model_validate(
    {
        "servers": {"model": "dgx-h100", "count": 40},
        "fabrics": {"topology": "rail-optimized", "switch": "qm9790"},
    }
)


@pytest.fixture(scope="module")
def cluster() -> Cluster:
    return build_cluster(SPEC, CATALOG)


def broken_rules(cluster: Cluster, spec: ClusterSpec = SPEC) -> dict[str, list[str]]:
    parts = with_cables(resolve_parts(spec, CATALOG), cluster, CATALOG)
    found = {name: check(cluster, parts, spec) for name, check in RULES.items()}
    return {name: [f.severity for f in findings] for name, findings in found.items() if findings}


def test_a_fabric_without_faults_has_no_finding(cluster: Cluster):
    assert broken_rules(cluster) == {}


def test_two_links_on_one_port(cluster: Cluster):
    port_b = cluster.links.port_b.copy()
    port_b[1] = port_b[9]
    wrong = replace(cluster, links=replace(cluster.links, port_b=port_b))
    assert broken_rules(wrong)["port-used-once"] == ["error"]


def test_a_link_on_a_reserved_port(cluster: Cluster):
    reserved = cluster.ports.reserved.copy()
    reserved[cluster.links.port_b[3]] = True
    wrong = replace(cluster, ports=replace(cluster.ports, reserved=reserved))
    assert broken_rules(wrong) == {"port-used-once": ["error"]}


def test_a_lane_that_stands_for_two_ports(cluster: Cluster):
    lane = cluster.ports.lane.copy()
    twin = np.flatnonzero((cluster.ports.device == 0) & (cluster.ports.cage == 1))
    lane[twin] = 1
    wrong = replace(cluster, ports=replace(cluster.ports, lane=lane))
    assert broken_rules(wrong)["port-used-once"] == ["error", "error"]


def test_two_rails_exchanged_at_the_leaf(cluster: Cluster):
    port_b = cluster.links.port_b.copy()
    port_b[[0, 1]] = port_b[[1, 0]]
    wrong = replace(cluster, links=replace(cluster.links, port_b=port_b))
    assert broken_rules(wrong) == {"nic-on-its-rail": ["error", "error"]}


def test_a_nic_on_another_rail_than_its_map_says(cluster: Cluster):
    rail = cluster.ports.rail.copy()
    rail[cluster.links.port_a[0]] = (rail[cluster.links.port_a[0]] + 1) % 8
    wrong = replace(cluster, ports=replace(cluster.ports, rail=rail))
    assert set(broken_rules(wrong)) == {"nic-on-its-rail"}


def test_a_port_at_another_rate_than_its_link(cluster: Cluster):
    rate = cluster.ports.bytes_per_s.copy()
    rate[cluster.links.port_a[5]] /= 2
    wrong = replace(cluster, ports=replace(cluster.ports, bytes_per_s=rate))
    assert broken_rules(wrong) == {"rate-fits-cage": ["error"]}


def test_a_split_that_the_switch_does_not_offer(cluster: Cluster):
    split = cluster.ports.lanes_in_cage.copy()
    split[cluster.links.port_b[0]] = 3
    wrong = replace(cluster, ports=replace(cluster.ports, lanes_in_cage=split))
    assert broken_rules(wrong) == {"rate-fits-cage": ["error"]}


@pytest.mark.parametrize(("switch", "severity"), [("qm9790", "error"), ("sn5600", "warning")])
def test_a_number_of_spines_that_does_not_divide_the_uplinks(switch: str, severity: str):
    spec = ClusterSpec.model_validate(
        {
            "servers": {"model": "dgx-h100", "count": 64},
            "fabrics": {
                "topology": "rail-optimized", "switch": switch, "unit_servers": 32,
                "spine": {"count": 9}, "leaf": {"ports_down": 32, "ports_up": 32},
            },
        }
    )  # fmt: skip
    # 9 × 57 ports take 512 uplinks, so some spines have more links to one half of the leaves than to the other.
    assert broken_rules(build_cluster(spec, CATALOG), spec) == {
        "equal-groups": [severity],
        "bisection-as-asked": ["warning"],
    }


@pytest.mark.slow
def test_an_infiniband_subnet_runs_out_of_lids():
    """49,151 unicast LIDs: 47,200 adapter ports and the switches of three tiers are more, in two planes they are not."""
    fabric = {"topology": "fat-tree", "switch": {"ports": 128, "rate": "400 Gb/s", "network": "infiniband"}}
    servers = {"model": {"gpus": 8, "nics": 8, "nic_rate": "400 Gb/s"}, "count": 5900}
    one = ClusterSpec.model_validate({"servers": servers, "fabrics": fabric})
    assert broken_rules(build_cluster(one, CATALOG), one) == {"subnet-lids": ["error"]}
    two = ClusterSpec.model_validate({"servers": servers, "fabrics": {**fabric, "planes": 2}})
    assert broken_rules(build_cluster(two, CATALOG), two) == {}


def test_copper_beyond_its_reach():
    spec = ClusterSpec.model_validate(
        {
            "servers": {"model": "dgx-h100", "count": 64},
            "fabrics": {
                "topology": "rail-optimized",
                "switch": "qm9790",
                "cables": {"leaf_spine": {"technology": "dac", "length": "20 m"}},
            },
        }
    )
    assert broken_rules(build_cluster(spec, CATALOG), spec) == {"cable-known-and-reaches": ["error"]}


@pytest.mark.parametrize(("connector", "severity"), [("rj45", "error"), ("sfp28", "warning")])
def test_cages_that_no_cable_of_the_catalogue_joins(connector: str, severity: str):
    """An RJ45 socket and a module cage can't be joined at all; for two module cages the catalogue may just lack the cable."""
    switch = {"ports": 64, "rate": "400 Gb/s", "connector": connector}
    spec = ClusterSpec.model_validate(
        {
            "servers": {"model": "dgx-h100", "count": 16},
            "fabrics": {"topology": "rail-optimized", "switch": switch},
        }
    )
    findings = broken_rules(build_cluster(spec, CATALOG), spec)["cable-known-and-reaches"]
    assert severity in findings


def test_a_newer_qsfp_cage_takes_an_older_module():
    spec = ClusterSpec.model_validate(
        {
            "servers": {
                "model": {"gpus": 8, "nics": 8, "nic_rate": "100 Gb/s", "connector": "qsfp112"},
                "count": 4,
            },
            "fabrics": {"topology": "rail-optimized", "switch": "sn4600c"},
        }
    )
    cluster = build_cluster(spec, CATALOG)
    assert "cable-known-and-reaches" not in broken_rules(cluster, spec)
    assert (cluster.assemblies.part >= 0).all()


def test_switch_planes_are_not_crossed():
    spec = ClusterSpec.model_validate(
        {
            "servers": {"model": "dgx-b300-spectrum", "count": 64},
            "fabrics": {"topology": "rail-optimized", "switch": "sn5600d"},
        }
    )
    cluster = build_cluster(spec, CATALOG)
    ports, links = cluster.ports, cluster.links
    server = cluster.devices.kind[ports.device[links.port_a]] == DeviceKind.SERVER
    first, second = (
        int(np.flatnonzero(server & (ports.plane[links.port_a] == p) & (ports.rail[links.port_a] == 0))[0])
        for p in (0, 1)
    )
    port_b = links.port_b.copy()
    port_b[[first, second]] = port_b[[second, first]]
    wrong = replace(cluster, links=replace(links, port_b=port_b))
    assert broken_rules(wrong, spec) == {"nic-on-its-rail": ["error", "error"]}
    assert (cluster.devices.role == Role.LEAF).sum() == 16
