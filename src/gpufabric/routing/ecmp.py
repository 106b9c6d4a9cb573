"""ECMP: a hash of each message's addresses picks one link at every switch."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gpufabric.kernels.hash_mix import hash_mix
from gpufabric.records.cluster import Cluster
from gpufabric.records.flows import LinkLoads, PortEdges
from gpufabric.records.graph import Graph
from gpufabric.routing.single_path import TRIES, route_single_paths
from gpufabric.routing.tier_links import TierLinks

_HOPS = 4


def route(cluster: Cluster, graph: Graph, tiers: TierLinks, edges: PortEdges, seed: int = 0) -> LinkLoads:
    """Return one hashed path an edge; equal edges and seeds give equal paths.

    Every tier hashes anew, as switches with different hash seeds do; with equal ones the paths would polarise and the result be
    worse.

    Parameters
    ----------
    cluster, graph, tiers, edges
        As for :func:`gpufabric.routing.adaptive.route`.
    seed : int
        Seed of the hash, 0 or more.

    Raises
    ------
    UnbuildableError
        If an edge has no way.
    """

    def pick(edge: NDArray[np.int64], hop: int, attempt: int) -> NDArray[np.int64]:
        salt = (seed * TRIES + attempt) * _HOPS + hop
        return (hash_mix(edges.key[edge], salt) >> np.uint64(1)).astype(np.int64)

    return route_single_paths(cluster, graph, tiers, edges, pick)
