"""Cluster and room → floor plan: racks, rack units and cable ways; the verbs are ``place`` and ``measure``."""

from __future__ import annotations

from gpufabric.floorplan.fill_room import place, with_racks
from gpufabric.floorplan.link_ways import measure
from gpufabric.floorplan.reserve_racks import keep_places

__all__ = ["keep_places", "measure", "place", "with_racks"]
