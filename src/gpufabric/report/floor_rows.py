"""Floor plan → its rows, each as runs of equal racks, and the measures of the room that they show."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np

from gpufabric.records.floor_plan import FloorPlan
from gpufabric.report.rack_groups import RackGroup

RESERVED = -1


@dataclass(frozen=True, slots=True)
class Run:
    """Neighbouring racks of one kind: the first of them, how many, and the index of their kind; RESERVED for places kept free."""

    first: int
    racks: int
    kind: int


@dataclass(frozen=True, slots=True)
class RowOfRacks:
    """One row: its number, its racks as runs, its left and its near edge in metres, and what is known of its power."""

    row: int
    racks: int
    runs: tuple[Run, ...]
    left_m: float
    near_m: float
    power_w: float


@dataclass(frozen=True, slots=True)
class RoomMeasures:
    """Metres: one rack, from line to line of racks (0 with one line), from column to column of rows (0 with one), all racks."""

    rack_width_m: float
    rack_depth_m: float
    line_m: float
    column_m: float
    width_m: float
    depth_m: float
    row_m: float


def rows_of_racks(plan: FloorPlan, groups: Sequence[RackGroup]) -> tuple[RowOfRacks, ...]:
    """Return the rows in their order.

    Parameters
    ----------
    plan
    groups
        Its kinds of rack.
    """
    room = room_measures(plan)
    kind = np.full(len(plan.racks), RESERVED, np.int64)
    for number, group in enumerate(groups):
        kind[group.racks] = number
    power = plan.rack_power_w
    found = []
    for row, members in groupby(range(len(plan.racks)), key=plan.racks.row.tolist().__getitem__):
        racks = list(members)
        found.append(
            RowOfRacks(
                row=row,
                racks=int(np.count_nonzero(kind[racks] != RESERVED)),
                runs=_runs(racks, kind[racks].tolist()),
                left_m=float(plan.racks.x_m[racks[0]]) - room.rack_width_m / 2,
                near_m=float(plan.racks.y_m[racks[0]]) - room.rack_depth_m / 2,
                power_w=float(power[racks].sum()),
            )
        )
    return tuple(found)


def room_measures(plan: FloorPlan) -> RoomMeasures:
    """Return the measures of a room; its first rack stands with two edges on the axes, so its centre tells its size."""
    racks = plan.racks
    width, depth = 2 * float(racks.x_m.min()), 2 * float(racks.y_m.min())
    lines, columns = np.unique(racks.y_m), np.unique(racks.x_m[racks.position == 0])
    return RoomMeasures(
        rack_width_m=width,
        rack_depth_m=depth,
        line_m=float(lines[1] - lines[0]) if len(lines) > 1 else 0.0,
        column_m=float(columns[1] - columns[0]) if len(columns) > 1 else 0.0,
        width_m=float(racks.x_m.max()) + width / 2,
        depth_m=float(racks.y_m.max()) + depth / 2,
        row_m=(int(racks.position.max()) + 1) * width,
    )


def _runs(racks: list[int], kinds: list[int]) -> tuple[Run, ...]:
    runs = []
    for kind, members in groupby(zip(racks, kinds, strict=True), key=lambda pair: pair[1]):
        numbers = [rack for rack, _ in members]
        runs.append(Run(numbers[0], len(numbers), kind))
    return tuple(runs)
