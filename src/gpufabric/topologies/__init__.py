"""Spec → Cluster, one topology a file; the verb is ``build``."""

from __future__ import annotations

from gpufabric.topologies.build_cluster import TOPOLOGIES, build_cluster, wire_cluster
from gpufabric.topologies.cabling import CabledAlike, assign_assemblies, cabled_alike
from gpufabric.topologies.resolve_parts import resolve_parts, with_cables

__all__ = [
    "TOPOLOGIES",
    "CabledAlike",
    "assign_assemblies",
    "build_cluster",
    "cabled_alike",
    "resolve_parts",
    "wire_cluster",
    "with_cables",
]
