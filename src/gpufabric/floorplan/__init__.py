"""Cluster and room → floor plan: racks, rack units and cable ways; the verbs are ``place`` and ``measure``."""

from __future__ import annotations

from gpufabric.floorplan.device_power import DevicePower, device_power, kept_power_w
from gpufabric.floorplan.fill_room import place, with_power, with_racks
from gpufabric.floorplan.link_ways import measure
from gpufabric.floorplan.reserve_racks import keep_places

__all__ = [
    "DevicePower",
    "device_power",
    "keep_places",
    "kept_power_w",
    "measure",
    "place",
    "with_power",
    "with_racks",
]
