"""Static routing: a subnet manager's tables send all messages to one port over one fixed way (d-mod-k)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gpufabric.records.cluster import Cluster, Role
from gpufabric.records.flows import LinkLoads, PortEdges
from gpufabric.records.graph import Graph
from gpufabric.routing.single_path import route_single_paths
from gpufabric.routing.tier_links import TierLinks


def route(cluster: Cluster, graph: Graph, tiers: TierLinks, edges: PortEdges, seed: int = 0) -> LinkLoads:
    """Return one path an edge, chosen by its target alone.

    Server ports are numbered leaf by leaf. Port *d* is reached over up link *d mod k* of every leaf and *(d div k) mod k'* of
    every spine, and from a core over link *(d div k)*, modulo their number, of those to the pod, so that the messages of a shift
    permutation never meet in a full fat tree (Zahavi, D-Mod-K routing providing non-blocking traffic for shift permutations on
    real life fat trees, 2010).

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
    switch = tiers.lower[tiers.up.row]
    to_server = np.ones(len(tiers.lower), np.bool_)
    to_server[tiers.up.row] = False
    order = np.argsort(np.where(to_server, tiers.upper, tiers.devices), kind="stable")
    number = np.empty(len(order), np.int64)
    number[order] = np.arange(len(order))
    target = number[tiers.port_link[edges.entry_port]]
    leaf = cluster.devices.role[switch] == Role.LEAF
    width = int(np.bincount(switch[leaf]).max(initial=1))

    def pick(edge: NDArray[np.int64], hop: int, attempt: int) -> NDArray[np.int64]:
        own = target[edge]
        return (own if hop in {0, 3} else own // width) + attempt

    return route_single_paths(cluster, graph, tiers, edges, pick)
