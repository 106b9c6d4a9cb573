"""Edges and a rule that picks one of several links → one path an edge."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gpufabric.errors import UnbuildableError, printable
from gpufabric.records.cluster import Cluster
from gpufabric.records.flows import LinkLoads, PortEdges
from gpufabric.records.graph import Graph
from gpufabric.routing.edge_ends import end_cables
from gpufabric.routing.tier_links import TierLinks, find_ends

TRIES = 64
Pick = Callable[[NDArray[np.int64], int, int], NDArray[np.int64]]
"""(edges, hop, try) → a non-negative number for each edge; modulo the number of links it says which one is taken.

Hops are numbered 0 leaf → spine, 1 spine → core, 2 core → spine, 3 spine → leaf.
"""


@dataclass(frozen=True, slots=True)
class _Way:
    """Edges that are being routed: their source, target and turn."""

    edge: NDArray[np.int64]
    source: NDArray[np.int32]
    target: NDArray[np.int32]
    over_core: NDArray[np.bool_]


def route_single_paths(
    cluster: Cluster, graph: Graph, tiers: TierLinks, edges: PortEdges, pick: Pick
) -> LinkLoads:
    """Return the links of one path for each edge, each with the size of its message as weight.

    Where the picked switch has no way down to the target, as real routing tables don't list it, the edge picks again.

    Raises
    ------
    UnbuildableError
        If an edge has no way.
    """
    ends, turn = find_ends(cluster, tiers, edges)
    waiting = np.flatnonzero(turn >= 1)
    cables, owners = end_cables(graph, ends)
    chosen, edge = [cables], [owners]
    for attempt in range(TRIES):
        if not len(waiting):
            break
        way = _Way(waiting, ends.source[waiting], ends.target[waiting], turn[waiting] == 2)
        hops, fine = _walk(tiers, way, pick, attempt)
        for mine, crossed in hops:
            arrived = slice(None) if fine.all() else fine[mine]
            chosen.append(crossed[arrived])
            edge.append(waiting[mine[arrived]])
        waiting = waiting[~fine]
    if len(waiting):
        raise UnbuildableError(
            f"cluster {printable(cluster.name)}: {len(waiting):,} messages of the collective found no spine or core that "
            f"reaches their target in {TRIES} tries",
            "a fabric in which every switch has equal groups of links",
        )
    owner = np.concatenate(edge)
    return LinkLoads(np.concatenate(chosen), edges.sizes_of(owner), owner)


def _walk(
    tiers: TierLinks, way: _Way, pick: Pick, attempt: int
) -> tuple[list[tuple[NDArray[np.int64], NDArray[np.int32]]], NDArray[np.bool_]]:
    """Return for each hop the edges that take it and their directed links, and for each edge whether it arrived."""
    hops = []
    fine = np.ones(len(way.edge), np.bool_)
    at = way.source.astype(np.int64)

    def take(hop: int, mine: NDArray[np.int64], first: NDArray[np.int64], size: NDArray[np.int64]) -> None:
        some = size > 0
        if not some.all():
            fine[mine[~some]] = False
            mine, first, size = mine[some], first[some], size[some]
        groups = (tiers.up, tiers.up, tiers.down_to_pod.groups, tiers.down_to_switch.groups)[hop]
        taken = groups.row[first + pick(way.edge[mine], hop, attempt) % size]
        hops.append((mine, tiers.up_and_down[taken, int(hop >= 2)]))
        at[mine] = tiers.upper[taken] if hop < 2 else tiers.lower[taken]

    everything, crossing = np.arange(len(way.edge)), np.flatnonzero(way.over_core)
    take(0, everything, *tiers.links_up(at))
    take(1, crossing, *tiers.links_up(at[crossing]))
    take(2, crossing, *tiers.links_to(tiers.down_to_pod, at[crossing], tiers.pod[way.target[crossing]]))
    take(3, everything, *tiers.links_to(tiers.down_to_switch, at, way.target))
    return hops, fine
