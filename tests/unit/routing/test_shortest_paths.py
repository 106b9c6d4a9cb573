"""Shortest paths on any wiring: everything arrives, over as few links as can be, spread as up–down routing spreads it."""

from dataclasses import replace

import numpy as np
import pytest

from gpufabric.errors import UnbuildableError
from gpufabric.graphs.fabric_level import build_fabric_graph
from gpufabric.records.flows import PortEdges
from gpufabric.routing import ROUTING, WITHOUT_TIERS, shortest_paths
from gpufabric.routing.edge_ends import find_edge_ends, index_ports
from gpufabric.routing.tier_links import index_tiers

SWITCH = "{ports: 16, rate: 100 Gb/s}"
BOX = "{gpus: 2, nics: 2, nic_rate: 100 Gb/s}"
ANY = {
    "torus": (BOX, 18, "torus", SWITCH, ", torus: {dimensions: [3, 3], links: 2}"),
    "dragonfly": (
        BOX, 12, "dragonfly", SWITCH,
        ", dragonfly: {groups: 3, group_switches: 2, switch_servers: 4, global_links: 2}",
    ),
    "collapsed spine": (BOX, 6, "collapsed-spine", SWITCH),
    "full mesh": ("{gpus: 4, nics: 4, nic_rate: 100 Gb/s}", 5, "full-mesh", SWITCH),
    "three tiers": (BOX, 60, "fat-tree", "{ports: 8, rate: 100 Gb/s}"),
}  # fmt: skip


def wired(wire, fabric):
    cluster, _ = wire(*ANY[fabric])
    return cluster, build_fabric_graph(cluster, np.zeros((len(cluster.links), 2)))


def messages(cluster, count, seed):
    """Return messages between random ports of servers; in a mesh the two ends of each cable."""
    links = cluster.links
    if (cluster.devices.role[cluster.link_device_b] == 0).all():
        return PortEdges(links.port_a, links.port_b, np.arange(len(links)))
    rng = np.random.default_rng(seed)
    ports = links.port_a[cluster.devices.role[cluster.link_device_a] == 0]
    exits, entries = rng.choice(ports, 3 * count), rng.choice(ports, 3 * count)
    apart = cluster.ports.device[exits] != cluster.ports.device[entries]
    exits, entries = exits[apart][:count], entries[apart][:count]
    return PortEdges(exits, entries, rng.integers(0, 2**60, len(exits)))


def least_links(cluster, graph, edges):
    """Return the links on a shortest way between the ports of each message: floods over switches, two cables at the ends."""
    ends = find_edge_ends(cluster, index_ports(cluster), edges)
    far = np.full((graph.vertices, graph.vertices), 10**6)
    np.fill_diagonal(far, 0)
    switch = cluster.devices.kind == 1
    between = switch[graph.link_from] & switch[graph.link_to]
    far[graph.link_from[between], graph.link_to[between]] = 1
    for via in np.flatnonzero(switch):
        far = np.minimum(far, far[:, [via]] + far[[via], :])
    return np.where(ends.direct, 1, far[ends.source, ends.target] + 2)


@pytest.mark.parametrize("policy", WITHOUT_TIERS)
@pytest.mark.parametrize("fabric", ANY)
def test_everything_arrives_over_as_few_links_as_can_be(wire, fabric, policy):
    cluster, graph = wired(wire, fabric)
    edges = messages(cluster, 80, 5)
    loads = WITHOUT_TIERS[policy](cluster, graph, None, edges, 3)
    out = np.bincount(graph.link_from[loads.link], loads.weight, minlength=graph.vertices)
    into = np.bincount(graph.link_to[loads.link], loads.weight, minlength=graph.vertices)
    sent = np.bincount(cluster.ports.device[edges.exit_port], minlength=graph.vertices)
    received = np.bincount(cluster.ports.device[edges.entry_port], minlength=graph.vertices)
    np.testing.assert_allclose(out - into, sent - received, atol=1e-9)
    # Each message may take the servers' cables and a shortest way between its switches, and no link more.
    assert loads.weight.sum() == pytest.approx(least_links(cluster, graph, edges).sum())


def test_in_a_fat_tree_shortest_ways_are_those_that_adaptive_routing_sprays_over(wire):
    cluster, graph = wired(wire, "three tiers")
    edges = messages(cluster, 300, 1)
    loads = [
        route(cluster, graph, index_tiers(cluster, graph), edges, 0)
        for route in (ROUTING["adaptive"], ROUTING["shortest"])
    ]
    sums = [np.bincount(load.link, load.weight, minlength=graph.links) for load in loads]
    np.testing.assert_allclose(sums[0], sums[1], atol=1e-9)


def test_hashes_follow_the_seed_and_tables_the_target(wire):
    cluster, graph = wired(wire, "torus")
    edges = messages(cluster, 200, 2)

    def load(route, edges, seed):
        found = route(cluster, graph, None, edges, seed)
        return np.bincount(found.link, found.weight, minlength=graph.links).tolist()

    hashed, by_target = WITHOUT_TIERS["ecmp"], WITHOUT_TIERS["static"]
    assert load(hashed, edges, 1) == load(hashed, edges, 1)
    assert load(hashed, edges, 1) != load(hashed, edges, 2)
    other_keys = replace(edges, key=edges.key + 1)
    assert load(hashed, edges, 1) != load(hashed, other_keys, 1)
    assert load(by_target, edges, 1) == load(by_target, other_keys, 1)


def test_targets_are_taken_in_blocks(wire, monkeypatch: pytest.MonkeyPatch):
    cluster, graph = wired(wire, "torus")
    edges = messages(cluster, 100, 4)
    whole = {name: route(cluster, graph, None, edges, 1) for name, route in WITHOUT_TIERS.items()}
    monkeypatch.setattr(shortest_paths, "_BLOCK_CELLS", 20)
    for name, route in WITHOUT_TIERS.items():
        found = route(cluster, graph, None, edges, 1)
        sums = [np.bincount(x.link, x.weight, minlength=graph.links) for x in (whole[name], found)]
        np.testing.assert_allclose(sums[0], sums[1], atol=1e-9)


def test_servers_do_not_forward(wire):
    """In a mesh a message for a server at the far end of another cable has no way."""
    cluster, graph = wired(wire, "full mesh")
    links = cluster.links
    other = next(
        n for n in range(len(links))
        if not {cluster.link_device_a[n], cluster.link_device_b[n]} & {cluster.link_device_a[0], cluster.link_device_b[0]}
    )  # fmt: skip
    lost = PortEdges(links.port_a[[0]], links.port_b[[other]], np.zeros(1, np.int64))
    with pytest.raises(UnbuildableError, match="1 messages of the collective have no way"):
        shortest_paths.route(cluster, graph, None, lost)


def test_planes_are_not_joined(wire):
    cluster, _ = wire(
        "{gpus: 2, nics: 2, nic_ports: 2, nic_rate: 100 Gb/s}", 8, "multi-plane", "{ports: 8, rate: 100 Gb/s}"
    )
    graph = build_fabric_graph(cluster, np.zeros((len(cluster.links), 2)))
    ports = cluster.links.port_a[cluster.devices.role[cluster.link_device_a] == 0]
    one = ports[cluster.ports.plane[ports] == 0][:1]
    other = ports[cluster.ports.plane[ports] == 1][-1:]
    with pytest.raises(UnbuildableError, match=r"from switch .* to .*, which are not connected"):
        shortest_paths.route(cluster, graph, None, PortEdges(one, other, np.zeros(1, np.int64)))
