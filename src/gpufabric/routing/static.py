"""Static routing: a subnet manager's tables send all messages to one port over one fixed way (d-mod-k)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gpufabric.records.cluster import Cluster
from gpufabric.records.flows import LinkLoads, PortEdges
from gpufabric.records.graph import Graph
from gpufabric.routing.single_path import route_single_paths
from gpufabric.routing.tier_links import TierLinks


def route(cluster: Cluster, graph: Graph, tiers: TierLinks, edges: PortEdges, seed: int = 0) -> LinkLoads:
    """Return one path an edge, chosen by its target alone.

    The target port's number *d* at its leaf picks up link *d mod k* of the leaf and *(d div k) mod k'* of the spine, so that
    the messages of a shift permutation never meet (Zahavi, D-Mod-K routing providing non-blocking traffic for shift
    permutations on real life fat trees, 2010).

    Parameters
    ----------
    cluster, graph, tiers, edges
        As for :func:`gpufabric.routing.adaptive.route`.
    seed
        Not used: nothing is left to chance.

    Raises
    ------
    UnbuildableError
        If an edge has no way.
    """
    leaf_of_link = cluster.link_device_b
    order = np.argsort(leaf_of_link, kind="stable")
    start = np.searchsorted(leaf_of_link[order], np.arange(tiers.devices))
    number = np.empty(len(order), np.int64)
    number[order] = np.arange(len(order)) - start[leaf_of_link[order]]
    target = number[tiers.port_link[edges.entry_port]]
    degree = np.diff(tiers.up.first).max(initial=1)

    def pick(edge: NDArray[np.int64], hop: int, attempt: int) -> NDArray[np.int64]:
        own = target[edge]
        return (own if hop != 1 else own // degree) + attempt

    return route_single_paths(cluster, graph, tiers, edges, pick)
