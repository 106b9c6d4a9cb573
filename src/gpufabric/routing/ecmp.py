"""ECMP: a hash of each message's addresses picks one link at every switch."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gpufabric.kernels.hash_mix import hash_mix
from gpufabric.records.cluster import Cluster
from gpufabric.records.flow_hashing import PLAIN, FlowHashing
from gpufabric.records.flows import LinkLoads, PortEdges
from gpufabric.records.graph import Graph
from gpufabric.routing.queue_pairs import over_queue_pairs
from gpufabric.routing.single_path import TRIES, route_single_paths
from gpufabric.routing.tier_links import TierLinks

_HOPS = 4


def route(cluster: Cluster, graph: Graph, tiers: TierLinks, edges: PortEdges, seed: int = 0) -> LinkLoads:
    """Return one hashed path an edge; equal edges and seeds give equal paths.

    Every tier hashes anew, as switches with different hash seeds do, and a message is one flow.

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
    return route_hashed(cluster, graph, tiers, edges, seed, PLAIN)


def route_hashed(
    cluster: Cluster, graph: Graph, tiers: TierLinks, edges: PortEdges, seed: int, hashing: FlowHashing
) -> LinkLoads:
    """Return a hashed path for each queue pair of each edge.

    Parameters
    ----------
    cluster, graph, tiers, edges
        As for :func:`gpufabric.routing.adaptive.route`.
    seed : int
        Seed of the hash, 0 or more.
    hashing : FlowHashing
        Polarised: a message takes the same number at every switch, so that all that meet at a spine have chosen alike and leave
        most of its links idle.

    Raises
    ------
    UnbuildableError
        If an edge has no way.
    """

    def route_all(split: PortEdges) -> LinkLoads:
        def pick(edge: NDArray[np.int64], hop: int, attempt: int) -> NDArray[np.int64]:
            salt = (seed * TRIES + attempt) * _HOPS + (0 if hashing.polarised else hop)
            return (hash_mix(split.key[edge], salt) >> np.uint64(1)).astype(np.int64)

        return route_single_paths(cluster, graph, tiers, split, pick)

    return over_queue_pairs(route_all, edges, hashing.queue_pairs)
