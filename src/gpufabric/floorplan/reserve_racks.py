"""Floor plan of a grown cluster → that of the devices which are there already, the places of the others kept free."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from gpufabric.records.floor_plan import FloorPlan, RackPurpose


def keep_places(grown: FloorPlan, rows: NDArray[np.int64]) -> FloorPlan:
    """Return the plan of the devices that are rows *rows* of *grown*; racks that none of them stands in are reserved.

    Parameters
    ----------
    grown
        Not measured yet.
    rows : int64 array, D
        Row in *grown* of each device that is there already.

    Returns
    -------
    FloorPlan, D rows
    """
    rack = grown.rack[rows]
    racks = grown.racks
    used = np.bincount(rack, minlength=len(racks)) > 0
    purpose = np.where(used, racks.purpose, RackPurpose.RESERVED).astype(np.int8)
    return replace(
        grown,
        racks=replace(
            racks,
            purpose=purpose,
            part=np.where(used, racks.part, -1).astype(np.int32),
            own_power_w=np.where(used, racks.own_power_w, np.nan),
        ),
        rack=rack,
        lowest_unit=grown.lowest_unit[rows],
        height_units=grown.height_units[rows],
        power_w=grown.power_w[rows],
        contained=grown.contained[rows],
        power_at_least=None if grown.power_at_least is None else grown.power_at_least[rows],
    )
