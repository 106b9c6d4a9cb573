"""Bisection and injection, against what follows from the wiring by hand (one link is 50 GB/s)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from gpufabric.catalog.load import load_catalog
from gpufabric.graphs.bisection import bisection_bytes_per_s, injection_bytes_per_s
from gpufabric.records.cluster import Cluster, Links, Role
from gpufabric.records.cluster_spec import ClusterSpec
from gpufabric.topologies import build_cluster

LINK = 50e9
ONE_NIC = {"gpus": 1, "nics": 1, "nic_rate": "400 Gb/s"}


def designed(count: int, model: Any = "dgx-h100", **fabric: Any) -> Cluster:
    spec = ClusterSpec.model_validate({"servers": {"model": model, "count": count}, "fabrics": fabric})
    return build_cluster(spec, load_catalog())


@pytest.mark.parametrize("servers", [1, 2, 7, 8])
def test_a_single_switch_passes_half_of_the_injection(servers: int) -> None:
    cluster = designed(servers, topology="single-switch", switch="qm9790")
    assert injection_bytes_per_s(cluster, 0) == servers * 8 * LINK
    assert bisection_bytes_per_s(cluster, 0) == servers * 4 * LINK


@pytest.mark.parametrize(("servers", "pairs"), [(2, 1), (4, 4), (5, 6), (8, 16)])
def test_a_full_mesh_passes_the_pairs_between_its_halves(servers: int, pairs: int) -> None:
    parallel = 8 // (servers - 1)
    assert bisection_bytes_per_s(designed(servers, topology="full-mesh"), 0) == pairs * parallel * LINK


@pytest.mark.parametrize("planes", [1, 2])
def test_one_to_one_fabrics_pass_half_of_the_injection(planes: int) -> None:
    switch = {"ports": 16, "rate": "400 Gb/s"}
    for tiers, topology in ((2, "rail-optimized"), (3, "fat-tree"), (2, "leaf-spine")):
        cluster = designed(12, topology=topology, switch=switch, tiers=tiers, planes=planes)
        half = injection_bytes_per_s(cluster, 0) / 2
        assert bisection_bytes_per_s(cluster, 0) == pytest.approx(half, rel=1e-12)


@pytest.mark.parametrize("leaves", [2, 3, 4, 5])
def test_oversubscribed_leaves_pass_what_the_least_of_all_halvings_does(leaves: int) -> None:
    """Leaves of 6 servers and 2 uplinks: try every halving of the servers and take the least cut."""
    fabric = {
        "leaf": {"ports_down": 6, "ports_up": 2},
        "spine": {"count": 2},
        "switch": {"ports": 12, "rate": "400 Gb/s"},
    }
    cluster = designed(leaves * 6, ONE_NIC, topology="leaf-spine", **fabric)

    def cut(in_first: tuple[int, ...]) -> float:
        return min(
            sum(min(n, 6 - n + 2) for n in in_first),
            sum(min(6 - n, n + 2) for n in in_first),
        )

    halvings = [h for h in np.ndindex(*(7,) * leaves) if sum(h) == leaves * 3]
    assert bisection_bytes_per_s(cluster, 0) == min(map(cut, halvings)) * LINK


def test_oversubscribed_spines_count_too() -> None:
    """Two pods of 6 leaves and 4 spines; a spine has 6 links down and 2 up, so 8 links leave a pod."""
    fabric = {"spine": {"oversubscription": "3:1"}, "switch": {"ports": 8, "rate": "400 Gb/s"}}
    cluster = designed(48, ONE_NIC, topology="fat-tree", tiers=3, **fabric)
    spines = cluster.devices.role == Role.SPINE
    assert np.bincount(cluster.devices.pod[spines]).tolist() == [4, 4]
    assert bisection_bytes_per_s(cluster, 0) == 8 * LINK


def test_a_link_between_two_leaves_makes_it_unknown() -> None:
    cluster = designed(16, topology="leaf-spine", switch="qm9790")
    leaf_ports = cluster.links.port_b[[0, len(cluster.links.port_b) // 4]]
    links = cluster.links
    crossed = Links(
        np.append(links.port_a, leaf_ports[0]).astype(np.int32),
        np.append(links.port_b, leaf_ports[1]).astype(np.int32),
        np.append(links.bytes_per_s, LINK),
        np.append(links.assembly, -1).astype(np.int32),
    )
    assert bisection_bytes_per_s(replace(cluster, links=crossed), 0) is None


def test_unknown_roles_and_empty_fabrics_have_no_bisection() -> None:
    cluster = designed(8, topology="single-switch", switch="qm9790")
    blank = replace(cluster.devices, role=np.full(len(cluster.devices), -1, np.int8))
    assert bisection_bytes_per_s(replace(cluster, devices=blank), 0) is None
    assert bisection_bytes_per_s(cluster, 1) is None
