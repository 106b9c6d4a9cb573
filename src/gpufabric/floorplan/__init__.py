"""Cluster and room → floor plan: racks, rack units and cable ways; the verbs are ``place`` and ``measure``."""

from __future__ import annotations

from gpufabric.floorplan.fill_room import place, with_racks
from gpufabric.floorplan.link_ways import measure

__all__ = ["measure", "place", "with_racks"]
