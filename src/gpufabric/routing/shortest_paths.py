"""Shortest paths on any wiring: torus, dragonfly, joined spines, fabrics whose roles nobody knows.

Only switches forward. Where several links lead nearer to the target, messages are spread evenly over them or a hash picks one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gpufabric.kernels.hash_mix import hash_mix
from gpufabric.kernels.shortest_ways import Bundles, bundle_links, hop_distances, pick_nearer, spread_evenly
from gpufabric.records.cluster import Cluster, DeviceKind
from gpufabric.records.flow_hashing import PLAIN, FlowHashing
from gpufabric.records.flows import LinkLoads, PortEdges
from gpufabric.records.graph import Graph
from gpufabric.records.tiers import joins_fabrics
from gpufabric.routing.edge_ends import EdgeEnds, end_cables, find_edge_ends, index_ports, refuse_lost
from gpufabric.routing.queue_pairs import over_queue_pairs
from gpufabric.routing.tier_links import TierLinks

_BLOCK_CELLS = 1 << 23
_MAX_HOPS = 1 << 12


def route(
    cluster: Cluster, graph: Graph, tiers: TierLinks | None, edges: PortEdges, seed: int = 0
) -> LinkLoads:
    """Return the load of all edges together, split evenly at every switch over all links of shortest ways.

    Parameters
    ----------
    cluster, graph
        The wiring and a graph of it, fabric or GPU level.
    tiers
        Not used: nothing is known of tiers.
    edges
        Messages.
    seed
        Not used: nothing is left to chance.

    Raises
    ------
    UnbuildableError
        If an edge has no way over switches.
    """
    del tiers, seed
    ends, net = _locate(cluster, edges)
    load = np.zeros(len(net.bundles.end))
    for hops, block in net.by_target(cluster, edges):
        cell = block.row * net.bundles.vertices + block.start
        amount = np.bincount(cell, edges.sizes_of(block.edge), minlength=hops.size)
        load += spread_evenly(net.bundles, hops, amount.reshape(hops.shape))
    load = np.repeat(load, net.bundles.width)
    used = np.flatnonzero(load)
    cables, owner = end_cables(graph, ends)
    link = np.concatenate([cables, graph.cable_link[net.link[used], net.side[used]]])
    return LinkLoads(link, np.concatenate([edges.sizes_of(owner), load[used]]))


def route_hashed(
    cluster: Cluster,
    graph: Graph,
    tiers: TierLinks | None,
    edges: PortEdges,
    seed: int = 0,
    hashing: FlowHashing = PLAIN,
) -> LinkLoads:
    """Return one hashed shortest path for each queue pair of each edge; every hop hashes anew unless polarised.

    As :func:`route`, with *seed* 0 or more.
    """
    del tiers

    def route_all(split: PortEdges) -> LinkLoads:
        return _hashed(cluster, graph, split, split.key, (seed, hashing.polarised))

    return over_queue_pairs(route_all, edges, hashing.queue_pairs)


def route_by_target(
    cluster: Cluster, graph: Graph, tiers: TierLinks | None, edges: PortEdges, seed: int = 0
) -> LinkLoads:
    """Return one shortest path an edge, hashed by its target port alone, as forwarding tables do. As :func:`route`."""
    del tiers
    return _hashed(cluster, graph, edges, edges.entry_port.astype(np.int64), (seed, False))


def _hashed(
    cluster: Cluster, graph: Graph, edges: PortEdges, key: NDArray[np.int64], salted: tuple[int, bool]
) -> LinkLoads:
    seed, polarised = salted
    ends, net = _locate(cluster, edges)
    cables, owner = end_cables(graph, ends)
    taken, owners = [cables], [owner]
    for hops, block in net.by_target(cluster, edges):
        row, at, edge = block.row, block.start, block.edge
        for hop in range(_MAX_HOPS):
            away = hops[row, at] > 0
            row, at, edge = row[away], at[away], edge[away]
            if not len(at):
                break
            salt = seed * _MAX_HOPS + (0 if polarised else hop)
            number = (hash_mix(key[edge], salt) >> np.uint64(1)).astype(np.int64)
            chosen, at = pick_nearer(net.bundles, hops, (row, at), number)
            taken.append(graph.cable_link[net.link[chosen], net.side[chosen]])
            owners.append(edge)
    owner = np.concatenate(owners)
    return LinkLoads(np.concatenate(taken), edges.sizes_of(owner), owner)


@dataclass(frozen=True, slots=True)
class _Block:
    """Edges to some of the targets: row of the distances, vertex where each starts, and number of the edge."""

    row: NDArray[np.int64]
    start: NDArray[np.int64]
    edge: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class _SwitchNet:
    """Links between switches in bundles; ``link`` and ``side`` say which of the cluster each of their links is.

    ``start`` and ``target`` are the vertices of the edges that cross it, ``edge`` their numbers.
    """

    bundles: Bundles
    link: NDArray[np.int64]
    side: NDArray[np.int64]
    start: NDArray[np.int64]
    target: NDArray[np.int64]
    edge: NDArray[np.int64]

    def by_target(self, cluster: Cluster, edges: PortEdges) -> Iterator[tuple[NDArray[np.int16], _Block]]:
        """Give the distances to some targets and the edges that go there, so many at a time as fit into memory."""
        targets, row = np.unique(self.target, return_inverse=True)
        order = np.argsort(row, kind="stable")
        step = max(1, _BLOCK_CELLS // max(1, self.bundles.vertices))
        for begin in range(0, len(targets), step):
            first, last = np.searchsorted(row[order], [begin, begin + step])
            mine = order[first:last]
            block = _Block(row[mine] - begin, self.start[mine], self.edge[mine])
            hops = hop_distances(self.bundles, targets[begin : begin + step], (block.row, block.start))
            lost = np.zeros(len(edges.key), np.bool_)
            lost[block.edge] = hops[block.row, block.start] < 0
            refuse_lost(cluster, edges, lost)
            yield hops, block


def _locate(cluster: Cluster, edges: PortEdges) -> tuple[EdgeEnds, _SwitchNet]:
    ends = find_edge_ends(cluster, index_ports(cluster), edges)
    switch = cluster.devices.kind == DeviceKind.SWITCH
    vertex = np.cumsum(switch) - 1
    crossing = np.flatnonzero((ends.source != ends.target) & ~ends.direct)
    stuck = np.zeros(len(edges.key), np.bool_)
    stuck[crossing] = ~(switch[ends.source] & switch[ends.target])[crossing]
    refuse_lost(cluster, edges, stuck)
    a, b = cluster.link_device_a, cluster.link_device_b
    rows = np.flatnonzero(switch[a] & switch[b] & ~joins_fabrics(cluster))
    bundles, order = bundle_links(
        int(switch.sum()),
        np.concatenate([vertex[a[rows]], vertex[b[rows]]]),
        np.concatenate([vertex[b[rows]], vertex[a[rows]]]),
    )
    return ends, _SwitchNet(
        bundles,
        link=np.tile(rows, 2)[order].astype(np.int64),
        side=np.repeat([0, 1], len(rows))[order].astype(np.int64),
        start=vertex[ends.source[crossing]],
        target=vertex[ends.target[crossing]],
        edge=crossing.astype(np.int64),
    )
