"""Spec → Cluster, one topology a file; the verb is ``build``."""

from __future__ import annotations

from gpufabric.topologies.build_cluster import TOPOLOGIES, build_cluster, wire_cluster
from gpufabric.topologies.cabling import assign_assemblies
from gpufabric.topologies.resolve_parts import resolve_parts, with_cables

__all__ = [
    "TOPOLOGIES",
    "assign_assemblies",
    "build_cluster",
    "resolve_parts",
    "wire_cluster",
    "with_cables",
]
