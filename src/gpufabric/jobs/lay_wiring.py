"""A cluster → everything that flows need to find their links."""

from __future__ import annotations

from dataclasses import dataclass

from gpufabric.graphs.directed_links import LinkIndex, index_links
from gpufabric.graphs.gpu_level import build_gpu_graph
from gpufabric.graphs.link_latency import link_latencies
from gpufabric.records.cluster import Cluster
from gpufabric.records.flow_hashing import PLAIN, FlowHashing
from gpufabric.records.graph import Graph, Inside
from gpufabric.records.part_set import PartSet
from gpufabric.routing.forwarding_tables import BoundTables
from gpufabric.routing.tier_links import TierLinks, index_tiers, why_no_tiers


@dataclass(frozen=True, slots=True)
class Wiring:
    """A cluster with its GPU-level graph and the indices that paths are looked up in.

    ``tiers`` is None where messages can't go up and down tiers of switches; ``tables`` are forwarding tables to route by;
    ``hashing`` is what ECMP does besides its seed.
    """

    cluster: Cluster
    graph: Graph
    inside: Inside
    index: LinkIndex
    tiers: TierLinks | None
    tables: BoundTables | None = None
    hashing: FlowHashing = PLAIN


def lay_wiring(cluster: Cluster, parts: PartSet) -> Wiring:
    """Return *cluster* with everything that flows need to find their links; raises as what it calls does."""
    graph, inside = build_gpu_graph(cluster, parts.servers, link_latencies(cluster, parts))
    tiers = None if why_no_tiers(cluster) else index_tiers(cluster, graph)
    return Wiring(cluster, graph, inside, index_links(graph), tiers)
