"""Edges between network ports → loads on links, one policy a file."""

from __future__ import annotations

from collections.abc import Callable

from gpufabric.records.cluster import Cluster
from gpufabric.records.flows import LinkLoads, PortEdges
from gpufabric.records.graph import Graph
from gpufabric.routing import adaptive, ecmp, static
from gpufabric.routing.tier_links import TierLinks

Route = Callable[[Cluster, Graph, TierLinks, PortEdges, int], LinkLoads]
ROUTING: dict[str, Route] = {"adaptive": adaptive.route, "ecmp": ecmp.route, "static": static.route}
