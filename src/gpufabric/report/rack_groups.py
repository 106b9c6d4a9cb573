"""Floor plan → kinds of rack: racks that hold the same parts in the same units count as one kind."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gpufabric.records.cluster import Cluster
from gpufabric.records.floor_plan import FloorPlan, RackPurpose


@dataclass(frozen=True, slots=True)
class RackGroup:
    """Racks with equal devices in equal places, all of them within their limit or all above it.

    Attributes
    ----------
    purpose : str
    racks : int64, ascending
        Indices into ``plan.racks``; the first one stands for all.
    devices : int64
        Devices of the first rack, from the lowest unit upwards.
    units, units_used : int
        Height of the rack and how much of it is taken, in rack units.
    power_w : float
        Its own, and the sum of what is known of its devices that are not sold with it, of the rack that draws most; 0 when
        nothing is known. A lower bound when ``unknown_power`` is above 0.
    unknown_power : int
        Devices of one rack whose greatest power is not wholly known, at most.
    limit_w : float
        What its feeds carry; NaN where the room does not say.
    part : str
        The rack part that is sold with its servers in it; empty for any other rack.
    """

    purpose: str
    racks: NDArray[np.int64]
    devices: NDArray[np.int64]
    units: int
    units_used: int
    power_w: float
    unknown_power: int
    limit_w: float
    part: str = ""

    @property
    def power_unknown(self) -> bool:
        """Whether nothing is known of its power."""
        return self.unknown_power > 0 and self.power_w == 0


def rack_groups(cluster: Cluster, plan: FloorPlan) -> tuple[RackGroup, ...]:
    """Return the kinds of rack, in the order in which their first rack stands in the room; reserved places are none."""
    devices = cluster.devices
    order = np.lexsort((plan.lowest_unit, plan.rack))
    columns = np.stack(
        [
            plan.lowest_unit[order].astype(np.int32),
            plan.height_units[order].astype(np.int32),
            devices.part[order].astype(np.int32),
            devices.role[order].astype(np.int32),
        ],
        axis=1,
    )
    ends = np.searchsorted(plan.rack[order], np.arange(len(plan.racks) + 1))
    purpose, units, limit = (
        plan.racks.purpose.tolist(),
        plan.racks.units.tolist(),
        plan.racks.power_w.tolist(),
    )
    sold = plan.racks.part.tolist()
    used = plan.rack_units_used
    power = plan.rack_power_w
    unsure = np.bincount(plan.rack, weights=plan.unsure_power, minlength=len(plan.racks))
    alike: dict[tuple[bytes, int, int, str, int, bool], list[int]] = {}
    for rack in np.flatnonzero(plan.racks.purpose != RackPurpose.RESERVED).tolist():
        inside = columns[ends[rack] : ends[rack + 1]].tobytes()
        # NaN is not equal to itself, so limits are compared as text.
        over = bool(power[rack] > limit[rack])
        key = (inside, purpose[rack], units[rack], repr(limit[rack]), sold[rack], over)
        alike.setdefault(key, []).append(rack)
    groups = []
    for racks in alike.values():
        first = racks[0]
        rows = order[ends[first] : ends[first + 1]].astype(np.int64)
        groups.append(
            RackGroup(
                purpose=RackPurpose.NAMES[purpose[first]],
                racks=np.array(racks, np.int64),
                devices=rows,
                units=units[first],
                units_used=int(used[first]),
                power_w=float(power[racks].max()),
                unknown_power=int(unsure[racks].max()),
                limit_w=limit[first],
                part=plan.rack_parts[sold[first]] if sold[first] >= 0 else "",
            )
        )
    return tuple(groups)
