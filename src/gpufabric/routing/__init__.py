"""Edges between network ports → loads on links, one policy a file."""

from __future__ import annotations

from collections.abc import Callable

from gpufabric.records.cluster import Cluster
from gpufabric.records.flows import LinkLoads, PortEdges
from gpufabric.records.graph import Graph
from gpufabric.routing import adaptive, ecmp, shortest_paths, static
from gpufabric.routing.tier_links import TierLinks

Route = Callable[[Cluster, Graph, TierLinks, PortEdges, int], LinkLoads]
ROUTING: dict[str, Route] = {
    "adaptive": adaptive.route,
    "ecmp": ecmp.route,
    "static": static.route,
    "shortest": shortest_paths.route,
}
RouteAnywhere = Callable[[Cluster, Graph, TierLinks | None, PortEdges, int], LinkLoads]
WITHOUT_TIERS: dict[str, RouteAnywhere] = {
    "adaptive": shortest_paths.route,
    "ecmp": shortest_paths.route_hashed,
    "static": shortest_paths.route_by_target,
    "shortest": shortest_paths.route,
}
"""What stands for each policy where messages can't go up and down tiers of switches."""
