"""Dragonfly, torus and collapsed spine: shapes, bisection against brute force, and what is refused."""

from __future__ import annotations

from itertools import combinations, product
from typing import Any

import numpy as np
import pytest

from gpufabric.catalog.load import load_catalog
from gpufabric.errors import InputError, UnbuildableError
from gpufabric.graphs.bisection import bisection_bytes_per_s, injection_bytes_per_s
from gpufabric.graphs.fabric_level import build_fabric_graph
from gpufabric.records.cluster import Cluster, DeviceKind
from gpufabric.records.cluster_spec import ClusterSpec
from gpufabric.records.names import device_names
from gpufabric.report.fabric_counts import link_counts, switch_counts
from gpufabric.routing.tier_links import index_tiers
from gpufabric.topologies import build_cluster

CATALOG = load_catalog()
RATE = 400e9 / 8
SERVER = {"gpus": 1, "nics": 1, "nic_rate": "400 Gb/s"}
SWITCH = {"ports": 64, "rate": "400 Gb/s"}


def build(count: int, topology: str, model: Any = SERVER, switch: Any = SWITCH, **fabric: Any) -> Cluster:
    spec = {
        "servers": {"model": model, "count": count},
        "fabrics": {"topology": topology, "switch": switch, **fabric},
    }
    return build_cluster(ClusterSpec.model_validate(spec), CATALOG)


def between_switches(cluster: Cluster) -> np.ndarray:
    """Return both ends of every link between switches, as rows of devices."""
    both = cluster.devices.kind[cluster.link_device_a] == DeviceKind.SWITCH
    return np.stack([cluster.link_device_a[both], cluster.link_device_b[both]])


def test_the_example_of_the_dragonfly_paper():
    """Kim et al., ISCA 2008, figure 5: p = h = 2, a = 4, nine groups, 36 routers of radix 7, 72 terminals."""
    shape = {"group_switches": 4, "switch_servers": 2, "global_links": 2}
    cluster = build(72, "dragonfly", switch={"ports": 7, "rate": "400 Gb/s"}, dragonfly=shape)
    assert switch_counts(cluster, 0)["leaf"] == 36
    assert cluster.devices.pod.max() + 1 == 9
    assert link_counts(cluster, 0)["leaf_leaf"] == 9 * 6 + 36
    assert (np.bincount(between_switches(cluster).ravel())[72:] == 3 + 2).all()
    assert bisection_bytes_per_s(cluster, 0) is None
    assert device_names(cluster)[72:74].tolist() == ["leaf-pod01-01", "leaf-pod01-02"]


def test_the_same_dragonfly_follows_from_the_radix():
    cluster = build(72, "dragonfly", switch={"ports": 7, "rate": "400 Gb/s"})
    assert switch_counts(cluster, 0)["leaf"] == 36


def test_few_servers_are_one_group_of_as_many_switches_as_they_need():
    cluster = build(33, "dragonfly")
    assert switch_counts(cluster, 0)["leaf"] == 3
    assert link_counts(cluster, 0)["leaf_leaf"] == 3


@pytest.mark.parametrize(
    ("shape", "says", "nearest"),
    [
        ({"groups": 1, "group_switches": 1_000_000}, "and 999,999 links to other switches", "fewer servers"),
        ({"groups": 10, "group_switches": 4, "global_links": 2}, "10 groups need 9 links", "9 groups"),
        (
            {"groups": 2, "group_switches": 4, "switch_servers": 2},
            "have room for 16 links, 72 are",
            "9 groups",
        ),
        (
            {"groups": 2, "switch_servers": 60, "global_links": 20},
            "can't hold 60 server links",
            "fewer servers",
        ),
    ],
)
def test_dragonflies_that_cannot_be_built(shape: dict[str, int], says: str, nearest: str):
    with pytest.raises(UnbuildableError, match=says) as refusal:
        build(72, "dragonfly", dragonfly=shape)
    assert nearest in refusal.value.nearest


@pytest.mark.slow
@pytest.mark.parametrize(
    "dimensions",
    [[6], [4, 2], [2, 2, 2], [4, 3], [5, 2], [3, 2, 2], [2, 3], [12], [2, 6], [7, 2], [4, 4]],
)
def test_the_bisection_of_a_torus_is_the_least_over_all_halves(dimensions: list[int]):
    """Every choice of half of the switches is tried; a server link is fast enough never to be the better cut."""
    switches = int(np.prod(dimensions))
    cluster = build(
        switches, "torus", SERVER, "sn5400", torus={"dimensions": dimensions}, uplink_rate="100 Gb/s"
    )
    first, second = between_switches(cluster) - switches
    least = min(
        int((np.isin(first, half) != np.isin(second, half)).sum())
        for half in combinations(range(switches), switches // 2)
    )
    assert bisection_bytes_per_s(cluster, 0) == pytest.approx(least * RATE / 4)


def test_thick_links_between_switches_make_servers_the_limit():
    cluster = build(8, "torus", torus={"dimensions": [4, 2], "links": 8})
    assert bisection_bytes_per_s(cluster, 0) == pytest.approx(injection_bytes_per_s(cluster, 0) / 2)


def test_neighbours_in_a_torus_differ_in_one_place_by_one():
    sizes = (5, 2, 4)  # slowest first; two count as four
    cluster = build(40, "torus", torus={"dimensions": [2, 5, 4]})
    place = np.array(list(product(*map(range, sizes))))
    step = np.abs(place[between_switches(cluster)[0] - 40] - place[between_switches(cluster)[1] - 40])
    wrapped = np.minimum(step, np.array(sizes) - step)
    assert (wrapped.sum(axis=1) == 1).all()


@pytest.mark.parametrize(
    ("keys", "says"),
    [
        ({}, "a torus needs its shape"),
        (
            {"torus": {"dimensions": [4], "switch_servers": 2}},
            "4 switches with 2 servers each hold 8 servers, 9",
        ),
        ({"torus": {"dimensions": [4], "links": 40}}, "80 links to other switches"),
        ({"torus": {"dimensions": [1024, 1024]}}, "1,048,576 switches with 4 links to others each are more"),
        (
            {"torus": {"dimensions": [4]}, "oversubscription": "2:1"},
            "oversubscription says nothing in a torus",
        ),
        ({"torus": {"dimensions": [4]}, "tiers": 2}, "tiers says nothing in a torus"),
    ],
)
def test_tori_that_cannot_be_built(keys: dict[str, Any], says: str):
    with pytest.raises(UnbuildableError, match=says) as refusal:
        build(9, "torus", **keys)
    assert refusal.value.nearest


def test_nics_alternate_between_two_joined_switches():
    cluster = build(4, "collapsed-spine", {"gpus": 8, "nics": 8, "nic_rate": "400 Gb/s"})
    down = cluster.devices.kind[cluster.link_device_a] == DeviceKind.SERVER
    rail = cluster.ports.rail[cluster.links.port_a[down]]
    assert (cluster.devices.index[cluster.link_device_b[down]] == rail % 2).all()
    assert link_counts(cluster, 0)["leaf_leaf"] == 16


@pytest.mark.parametrize(("model", "split"), [({**SERVER, "nics": 4}, "server"), (SERVER, "nic")])
def test_servers_are_halved_when_asked_or_when_they_have_one_port(model: dict[str, Any], split: str):
    cluster = build(6, "collapsed-spine", model, collapsed={"split": split}, oversubscription="3:1")
    down = cluster.devices.kind[cluster.link_device_a] == DeviceKind.SERVER
    server = cluster.link_device_a[down]
    assert (cluster.devices.index[cluster.link_device_b[down]] == server // 3).all()
    assert link_counts(cluster, 0)["leaf_leaf"] == model["nics"]
    assert bisection_bytes_per_s(cluster, 0) == pytest.approx(model["nics"] * RATE)


def test_two_joined_switches_end_where_the_ports_do():
    eight = {"gpus": 8, "nics": 8, "nic_rate": "400 Gb/s"}
    build(8, "collapsed-spine", eight)
    with pytest.raises(UnbuildableError, match="can't hold 36 server links, 0 reserved ports and 36 links"):
        build(9, "collapsed-spine", eight)
    build(9, "collapsed-spine", eight, collapsed={"links": 28})


def test_routing_says_that_it_needs_tiers():
    cluster = build(8, "torus", torus={"dimensions": [4, 2]})
    with pytest.raises(InputError, match="links between switches of one tier"):
        index_tiers(cluster, build_fabric_graph(cluster, np.zeros((len(cluster.links), 2))))


@pytest.mark.parametrize(
    ("topology", "shape"),
    [
        ("dragonfly", {"groups": 1, "group_switches": 100_000, "switch_servers": 1, "global_links": 1}),
        (
            "dragonfly",
            {"groups": 1_000_000, "group_switches": 1000, "switch_servers": 1, "global_links": 1000},
        ),
        ("torus", {"dimensions": [1024] * 6}),
        ("torus", {"dimensions": [1000, 1000], "links": 4096}),
    ],
)
def test_shapes_without_bound_are_refused_before_they_are_laid_out(topology: str, shape: dict[str, Any]):
    huge = {"ports": 1_000_000, "rate": "400 Gb/s"}
    with pytest.raises(UnbuildableError, match="are more than gpufabric wires"):
        build(9, topology, switch=huge, **{topology: shape})
