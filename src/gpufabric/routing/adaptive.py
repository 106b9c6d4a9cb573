"""Adaptive routing: every message is sprayed evenly over all links of a tier."""

from __future__ import annotations

import numpy as np

from gpufabric.records.cluster import Cluster
from gpufabric.records.flows import LinkLoads, PortEdges
from gpufabric.records.graph import Graph
from gpufabric.routing.edge_ends import end_cables
from gpufabric.routing.tier_links import TierLinks, find_ends


def route(cluster: Cluster, graph: Graph, tiers: TierLinks, edges: PortEdges, seed: int = 0) -> LinkLoads:
    """Return the load of all edges together, sprayed evenly.

    A leaf sends what leaves it in equal parts over all its up links, a spine likewise to the cores; downwards, all links to the
    target's pod and all links to the target leaf carry equal parts. That is exact where every switch has equal groups of links
    to all switches of the next tier that it is linked with, as a fat tree must.

    Parameters
    ----------
    cluster, graph
        The wiring and a graph of it, fabric or GPU level.
    tiers
        From :func:`gpufabric.routing.tier_links.index_tiers`.
    edges
        Messages.
    seed
        Not used: nothing is left to chance.

    Raises
    ------
    UnbuildableError
        If an edge has no way.
    """
    ends, turn = find_ends(cluster, tiers, edges)
    climb, count = tiers.climb, tiers.devices
    away, over_core = turn >= 1, turn == 2
    size = edges.sizes_of(np.arange(len(turn)))
    out = np.bincount(ends.source[away], size[away], minlength=count)
    into = np.bincount(ends.target[away], size[away], minlength=count)
    if over_core.any():
        core_out = np.bincount(ends.source[over_core], size[over_core], minlength=count)
        # What a leaf sends beyond its pod goes on from its spines to the cores, evenly over all their up links.
        out += np.bincount(climb.upper, core_out[climb.lower] * climb.leaf_share, minlength=count)
    up = out[climb.lower] * climb.leaf_share
    down = into[climb.lower] * climb.leaf_share
    if over_core.any():
        entering = np.bincount(tiers.pod[ends.target[over_core]], size[over_core], minlength=count)
        down += entering[climb.pod] * climb.core_share
    rising, falling = np.flatnonzero(up != 0), np.flatnonzero(down != 0)
    cables, owner = end_cables(graph, ends)
    ways = [cables, climb.up_link[rising], climb.down_link[falling]]
    return LinkLoads(np.concatenate(ways), np.concatenate([size[owner], up[rising], down[falling]]))
