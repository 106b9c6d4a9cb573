"""Adaptive routing: every message is sprayed evenly over all links of a tier."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gpufabric.records.cluster import Cluster
from gpufabric.records.flows import LinkLoads, PortEdges
from gpufabric.records.graph import Graph
from gpufabric.routing.tier_links import TierLinks, end_cables, find_ends


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
        Messages, each of one byte per byte of the flow.
    seed
        Not used: nothing is left to chance.

    Raises
    ------
    UnbuildableError
        If an edge has no way.
    """
    ends = find_ends(cluster, tiers, edges)
    devices = tiers.devices
    away, over_core = ends.turn >= 1, ends.turn == 2
    out = np.bincount(ends.source[away], minlength=devices).astype(np.float64)
    into = np.bincount(ends.target[away], minlength=devices).astype(np.float64)
    core_out = np.bincount(ends.source[over_core], minlength=devices).astype(np.float64)
    core_into = np.bincount(ends.target[over_core], minlength=devices).astype(np.float64)
    links = tiers.up.row
    lower, upper = tiers.lower[links], tiers.upper[links]
    degree = np.bincount(lower, minlength=devices)
    share = 1.0 / degree[lower]
    # What a leaf sends beyond its pod goes on from its spines to the cores, evenly over all their up links.
    risen = np.bincount(upper, core_out[lower] * share, minlength=devices)
    up = (out + risen)[lower] * share
    down = into[lower] * share + _from_cores(tiers, core_into, lower, upper)
    up_side = (cluster.link_device_a[links] != lower).astype(np.int64)
    ways = [end_cables(graph, ends), graph.cable_link[links, up_side], graph.cable_link[links, 1 - up_side]]
    return LinkLoads(np.concatenate(ways), np.concatenate([np.ones(len(ways[0])), up, down]))


def _from_cores(
    tiers: TierLinks, core_into: NDArray[np.float64], lower: NDArray[np.int32], upper: NDArray[np.int32]
) -> NDArray[np.float64]:
    """Return the load of each core → spine link: what enters the spine's pod, in equal parts over all links from cores."""
    # Only a spine has links below it and a link above it.
    has_below = np.zeros(tiers.devices, np.bool_)
    has_below[upper] = True
    from_core = has_below[lower]
    entering = np.bincount(tiers.pod, core_into, minlength=tiers.devices)
    width = np.bincount(tiers.pod[lower[from_core]], minlength=tiers.devices)
    return np.where(from_core, entering[tiers.pod[lower]] / np.maximum(width[tiers.pod[lower]], 1), 0.0)
