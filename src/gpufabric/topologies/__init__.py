"""Spec → Cluster, one topology a file; the verb is ``build``."""

from __future__ import annotations

from gpufabric.topologies.build_cluster import TOPOLOGIES, build_cluster
from gpufabric.topologies.resolve_parts import ResolvedParts, resolve_parts

__all__ = ["TOPOLOGIES", "ResolvedParts", "build_cluster", "resolve_parts"]
