"""Places that are kept for devices to come."""

from __future__ import annotations

import math

import numpy as np

from gpufabric.floorplan import keep_places
from gpufabric.records.floor_plan import FloorPlan, RackPurpose, Racks


def plan() -> FloorPlan:
    """Return three racks in a row, with two servers in the first, one in the second and a switch in the third."""
    position = np.arange(3, dtype=np.int32)
    racks = Racks(
        row=np.zeros(3, np.int32),
        position=position,
        x_m=0.3 + 0.6 * position,
        y_m=np.full(3, 0.6),
        purpose=np.array([RackPurpose.COMPUTE, RackPurpose.COMPUTE, RackPurpose.NETWORK], np.int8),
        units=np.full(3, 48, np.int32),
        power_w=np.full(3, math.nan),
        part=np.full(3, -1, np.int32),
        own_power_w=np.full(3, math.nan),
    )
    return FloorPlan(
        racks,
        rack=np.array([0, 0, 1, 2], np.int32),
        lowest_unit=np.array([1, 9, 1, 48], np.int32),
        height_units=np.array([8, 8, 8, 1], np.int32),
        power_w=np.array([1e4, 1e4, 1e4, 1e3]),
        contained=np.zeros(4, bool),
    )


def test_devices_keep_their_places_and_empty_racks_are_reserved():
    now = keep_places(plan(), np.array([3, 0], np.int64))
    assert now.places(np.arange(2)) == ["A03-U48", "A01-U01"]
    assert now.racks.purpose.tolist() == [RackPurpose.COMPUTE, RackPurpose.RESERVED, RackPurpose.NETWORK]
    assert now.racks.names == plan().racks.names
    assert now.rack_power_w.tolist() == [1e4, 0.0, 1e3]
    assert now.rack_units_used.tolist() == [8, 0, 1]


def test_nothing_is_reserved_when_all_are_there():
    now = keep_places(plan(), np.arange(4))
    assert now.racks.purpose.tolist() == plan().racks.purpose.tolist()
