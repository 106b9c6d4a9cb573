"""Devices in order → racks, one after the other; and devices of a rack → rack units."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class RackFill:
    """Racks that are being filled one after the other: how many are open or closed, and what the open one holds."""

    racks: int = 0
    units: int = 0
    power_w: float = 0.0

    def add(self, height: int, power_w: float, limits: tuple[int, float]) -> RackFill:
        """Return the state after one more device: in the open rack where *limits* (units, watts) allow, else in a new one."""
        fits = self.units + height <= limits[0] and self.power_w + power_w <= limits[1]
        if self.racks and fits:
            return RackFill(self.racks, self.units + height, self.power_w + power_w)
        return RackFill(self.racks + 1, height, power_w)


def stack(
    rack: NDArray[np.integer],
    height: NDArray[np.integer],
    from_top: NDArray[np.bool_],
    rack_units: int,
) -> NDArray[np.int32]:
    """Return the lowest rack unit of each device, from 1.

    Servers stand from the bottom upwards, what *from_top* marks hangs from the top downwards, near the cable tray. A rack that
    is too full is stacked from the bottom alone, beyond its height, so that no two devices overlap.

    Parameters
    ----------
    rack, height : integer arrays, D
    from_top : bool array, D
    rack_units : int
        Height of every rack.

    Returns
    -------
    int32 array, D
    """
    racks = int(rack.max(initial=-1)) + 1
    used = np.bincount(rack, weights=height, minlength=racks)
    top = from_top & (used[rack] <= rack_units)
    lowest = np.empty(len(rack), np.int64)
    for hanging in (False, True):
        rows = np.flatnonzero(top == hanging)
        rows = rows[np.argsort(rack[rows], kind="stable")]
        below = _before_in_group(rack[rows], height[rows].astype(np.int64))
        lowest[rows] = rack_units - below - height[rows] + 1 if hanging else 1 + below
    return lowest.astype(np.int32)


def _before_in_group(group: NDArray[np.integer], value: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the sum of *value* over the earlier rows of the same group; *group* is sorted."""
    before = np.cumsum(value) - value
    if not len(group):
        return before
    first = np.flatnonzero(np.r_[True, group[1:] != group[:-1]])
    return before - np.repeat(before[first], np.diff(np.r_[first, len(group)]))
