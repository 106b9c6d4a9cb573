"""How far apart servers are: switches and latency, near and far."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpufabric.catalog.load import load_catalog
from gpufabric.errors import UnbuildableError
from gpufabric.graphs.hops import fabric_reach
from gpufabric.graphs.link_latency import ASSUMED_LENGTH_M, FIBRE_S_PER_M, FORWARDING_S
from gpufabric.records.cluster import DeviceKind, Links
from gpufabric.records.cluster_spec import ClusterSpec
from gpufabric.topologies import build_cluster, resolve_parts

CATALOG = load_catalog()
CABLE_S = ASSUMED_LENGTH_M * FIBRE_S_PER_M
SWITCH_S = FORWARDING_S["ethernet"]


def wired(count, topology, nics=4, ports=16, **fabric):
    spec = ClusterSpec.model_validate(
        {
            "servers": {"model": {"gpus": nics, "nics": nics, "nic_rate": "400 Gb/s"}, "count": count},
            "fabrics": {
                "topology": topology,
                "switch": {"ports": ports, "rate": "400 Gb/s"},
                **fabric,
            },
        }
    )
    return build_cluster(spec, CATALOG), resolve_parts(spec, CATALOG)


@pytest.mark.parametrize(
    ("count", "topology", "fabric", "near", "far", "near_gpus"),
    [
        (4, "full-mesh", {}, 0, 0, 16),
        (4, "single-switch", {}, 1, 1, 16),
        (8, "leaf-spine", {}, 1, 3, 8),
        (8, "rail-optimized", {}, 1, 1, 32),
        (32, "rail-optimized", {"unit_servers": 8}, 1, 3, 32),
        (64, "fat-tree", {}, 1, 5, 8),
        (2, "leaf-spine", {"leaf": {"ports_down": 4}}, 3, 3, 8),
    ],
)
def test_switches_near_and_far(count, topology, fabric, near, far, near_gpus):
    reach = fabric_reach(*wired(count, topology, **fabric), 0)
    assert (reach.near_hops, reach.far_hops, reach.near_gpus, reach.unreached) == (near, far, near_gpus, 0)
    for hops, latency in ((near, reach.near_latency_s), (far, reach.far_latency_s)):
        assert latency == pytest.approx((hops + 1) * CABLE_S + hops * SWITCH_S)


def test_units_without_a_link_between_them_leave_servers_unreached():
    cluster, parts = wired(16, "rail-optimized", unit_servers=8)
    devices = cluster.devices
    between = devices.kind[cluster.link_device_a] == DeviceKind.SWITCH
    far = between & (devices.unit[cluster.link_device_a] == 1)
    kept = Links(
        *(getattr(cluster.links, name)[~far] for name in ("port_a", "port_b", "bytes_per_s", "assembly"))
    )
    reach = fabric_reach(replace(cluster, links=kept), parts, 0)
    assert (reach.near_hops, reach.unreached) == (1, 8)


def test_one_server_alone_has_no_distance():
    assert fabric_reach(*wired(1, "leaf-spine"), 0) is None


def all_pairs(cluster):
    """Return the switches between every two servers, by brute force."""
    a, b = cluster.link_device_a, cluster.link_device_b
    switch = cluster.devices.kind == DeviceKind.SWITCH
    joined = [set() for _ in range(len(cluster.devices))]
    for one, other in zip(a.tolist(), b.tolist(), strict=True):
        joined[one].add(other)
        joined[other].add(one)
    found = []
    for source in np.flatnonzero(~switch).tolist():
        level, seen, hops = {source}, {source}, 0
        while level:
            level = {n for v in level for n in joined[v]} - seen
            seen |= level
            found += [hops] * sum(not switch[v] for v in level)
            level = {v for v in level if switch[v]}
            hops += 1
    return found


@settings(max_examples=60, deadline=None)
@given(
    st.integers(2, 40),
    st.sampled_from(["leaf-spine", "fat-tree", "rail-optimized", "multi-plane"]),
    st.sampled_from([8, 12, 16]),
    st.sampled_from([1, 2, 3]),
)
def test_near_and_far_are_those_of_all_pairs(count, topology, ports, ratio):
    fabric = {"planes": 2} if topology == "multi-plane" else {}
    try:
        cluster, parts = wired(count, topology, ports=ports, oversubscription=ratio, **fabric)
    except UnbuildableError:
        return
    reach = fabric_reach(cluster, parts, 0)
    pairs = all_pairs(cluster)
    assert (reach.near_hops, reach.far_hops) == (min(pairs), max(pairs))
