"""Every policy sends every message all the way, up and down, through one plane."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpufabric.errors import InputError, UnbuildableError
from gpufabric.graphs.fabric_level import build_fabric_graph
from gpufabric.records.flows import PortEdges
from gpufabric.routing import ROUTING
from gpufabric.routing.tier_links import index_tiers

SMALL = "{ports: 8, rate: 100 Gb/s}"
BOX = "{gpus: 2, nics: 2, nic_rate: 100 Gb/s}"
TWO_PORTS = "{gpus: 2, nics: 2, nic_ports: 2, nic_rate: 100 Gb/s}"
FABRICS = {
    "one switch": (BOX, 4, "single-switch", SMALL),
    "two tiers": (BOX, 16, "leaf-spine", SMALL),
    "two tiers, 3:1": (BOX, 12, "leaf-spine", SMALL, ", oversubscription: '3:1'"),
    "three tiers": (BOX, 60, "fat-tree", SMALL),
    "rails": (BOX, 16, "rail-optimized", SMALL),
    "planes": (TWO_PORTS, 8, "multi-plane", SMALL),
}


def server_ports(cluster):
    return cluster.links.port_a[cluster.devices.role[cluster.link_device_a] == 0]


def random_edges(cluster, count, seed):
    """Return messages between ports of equal plane in different servers, and their senders and receivers."""
    rng = np.random.default_rng(seed)
    ports = server_ports(cluster)
    exits, entries = rng.choice(ports, 6 * count), rng.choice(ports, 6 * count)
    table = cluster.ports
    fine = (table.device[exits] != table.device[entries]) & (table.plane[exits] == table.plane[entries])
    exits, entries = exits[fine][:count], entries[fine][:count]
    return PortEdges(exits, entries, rng.integers(0, 2**60, len(exits)))


def netto(graph, loads):
    """Return what leaves each vertex less what enters it."""
    out = np.bincount(graph.link_from[loads.link], loads.weight, minlength=graph.vertices)
    return out - np.bincount(graph.link_to[loads.link], loads.weight, minlength=graph.vertices)


@pytest.mark.parametrize("policy", ROUTING)
@pytest.mark.parametrize("fabric", FABRICS)
def test_what_a_server_sends_arrives_and_switches_keep_nothing(wire, policy, fabric):
    cluster, _ = wire(*FABRICS[fabric])
    graph = build_fabric_graph(cluster, np.zeros((len(cluster.links), 2)))
    edges = random_edges(cluster, 40, 3)
    loads = ROUTING[policy](cluster, graph, index_tiers(cluster, graph), edges, 1)
    sent = np.bincount(cluster.ports.device[edges.exit_port], minlength=graph.vertices)
    received = np.bincount(cluster.ports.device[edges.entry_port], minlength=graph.vertices)
    np.testing.assert_allclose(netto(graph, loads), sent - received, atol=1e-9)


@pytest.mark.parametrize("policy", ["ecmp", "static"])
@pytest.mark.parametrize("fabric", ["two tiers", "three tiers"])
def test_a_single_path_is_a_path(wire, policy, fabric):
    cluster, _ = wire(*FABRICS[fabric])
    graph = build_fabric_graph(cluster, np.zeros((len(cluster.links), 2)))
    tiers = index_tiers(cluster, graph)
    for seed in range(10):
        edges = random_edges(cluster, 1, seed)
        loads = ROUTING[policy](cluster, graph, tiers, edges, seed)
        following = dict(zip(graph.link_from[loads.link], graph.link_to[loads.link], strict=True))
        at, way = int(cluster.ports.device[edges.exit_port[0]]), []
        while at in following:
            at = int(following.pop(at))
            way.append(int(cluster.devices.role[at]))
        assert not following
        assert at == cluster.ports.device[edges.entry_port[0]]
        assert way in ([1, 0], [1, 2, 1, 0], [1, 2, 3, 2, 1, 0])


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_hashing_is_the_same_for_the_same_seed_only(wire, seed):
    cluster, _ = wire(*FABRICS["two tiers"])
    graph = build_fabric_graph(cluster, np.zeros((len(cluster.links), 2)))
    tiers, edges = index_tiers(cluster, graph), random_edges(cluster, 60, 5)

    def links(s):
        return sorted(ROUTING["ecmp"](cluster, graph, tiers, edges, s).link.tolist())

    assert links(seed) == links(seed)
    assert links(seed) != links(seed + 1)


def test_adaptive_routing_loads_all_up_links_of_a_leaf_alike(wire):
    cluster, _ = wire(*FABRICS["three tiers"])
    graph = build_fabric_graph(cluster, np.zeros((len(cluster.links), 2)))
    edges = random_edges(cluster, 200, 9)
    loads = ROUTING["adaptive"](cluster, graph, index_tiers(cluster, graph), edges, 0)
    load = np.bincount(loads.link, loads.weight, minlength=graph.links)[graph.cable_link[:, 0]]
    role = cluster.devices.role[cluster.link_device_a]
    for device in np.unique(cluster.link_device_a[role >= 1]):
        mine = load[cluster.link_device_a == device]
        np.testing.assert_allclose(mine, mine[0])


@pytest.mark.parametrize("count", [(16, "leaf-spine"), (64, "fat-tree")])
def test_static_tables_keep_a_shift_free_of_conflicts(wire, count):
    cluster, _ = wire(BOX, *count, SMALL)
    graph = build_fabric_graph(cluster, np.zeros((len(cluster.links), 2)))
    ports = server_ports(cluster)
    edges = PortEdges(ports, np.roll(ports, -20), np.arange(len(ports)))
    loads = ROUTING["static"](cluster, graph, index_tiers(cluster, graph), edges, 0)
    assert np.bincount(loads.link).max() == 1


@pytest.mark.parametrize("policy", ROUTING)
def test_planes_are_not_mixed(wire, policy):
    cluster, _ = wire(*FABRICS["planes"])
    graph = build_fabric_graph(cluster, np.zeros((len(cluster.links), 2)))
    ports = server_ports(cluster)
    one = ports[(cluster.ports.plane[ports] == 0) & (cluster.ports.device[ports] == 0)][:1]
    other = ports[(cluster.ports.plane[ports] == 1) & (cluster.ports.device[ports] == 7)][:1]
    with pytest.raises(UnbuildableError, match="no way through the fabric"):
        ROUTING[policy](
            cluster, graph, index_tiers(cluster, graph), PortEdges(one, other, np.zeros(1, np.int64)), 0
        )


def test_a_direct_cable_is_one_link(wire):
    cluster, _ = wire(BOX, 3, "full-mesh", SMALL)
    graph = build_fabric_graph(cluster, np.zeros((len(cluster.links), 2)))
    edges = PortEdges(cluster.links.port_b, cluster.links.port_a, np.arange(len(cluster.links)))
    loads = ROUTING["ecmp"](cluster, graph, index_tiers(cluster, graph), edges, 0)
    assert sorted(loads.link) == sorted(graph.cable_link[:, 1])


def test_unknown_roles_are_refused_in_one_line(wire):
    from dataclasses import replace

    cluster, _ = wire(*FABRICS["two tiers"])
    blind = replace(
        cluster, devices=replace(cluster.devices, role=np.full(len(cluster.devices), -1, np.int8))
    )
    with pytest.raises(InputError, match=r"^cluster cluster: routing needs tiers[^\n]+$"):
        index_tiers(blind, build_fabric_graph(cluster, np.zeros((len(cluster.links), 2))))
