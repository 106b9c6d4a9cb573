"""Where every device stands: racks in rows, rack units in racks, and how long the way of each link is."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

RACK_UNIT_M = 0.04445  # EIA-310: 1.75 inches
_LETTERS = 26


class RackPurpose:
    """Values of ``Racks.purpose``."""

    # A reserved place is kept free for growth: nothing stands there and no rack is bought yet.
    COMPUTE, NETWORK, MANAGEMENT, STORAGE, RESERVED = range(5)
    NAMES = ("compute", "network", "management", "storage", "reserved")


@dataclass(frozen=True, slots=True)
class Racks:
    """Racks of the room. R rows, ordered by row and position.

    Attributes
    ----------
    row, position : int32
        Row of the room and position in that row, from 0.
    x_m, y_m : float64
        Centre of the rack: along its row, and across the rows.
    purpose : int8, see :class:`RackPurpose`
    units : int32
        Height inside, in rack units.
    power_w : float64
        What its feeds carry; NaN where the room does not say.
    part : int32
        Index into ``FloorPlan.rack_parts`` of a rack that is sold with servers in it; -1 for any other.
    own_power_w : float64
        Greatest power of a rack that is sold with servers in it, which are counted in: NaN where no source says. 0 for any other.
    """

    row: NDArray[np.int32]
    position: NDArray[np.int32]
    x_m: NDArray[np.float64]
    y_m: NDArray[np.float64]
    purpose: NDArray[np.int8]
    units: NDArray[np.int32]
    power_w: NDArray[np.float64]
    part: NDArray[np.int32]
    own_power_w: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.row)

    @property
    def names(self) -> tuple[str, ...]:
        """Names as on a raised floor: rows are letters, positions are numbers from 1, such as ``B07`` or ``AC12``."""
        width = max(2, len(str(int(self.position.max(initial=0)) + 1)))
        letters = [row_letters(row) for row in range(int(self.row.max(initial=-1)) + 1)]
        return tuple(
            f"{letters[row]}{position + 1:0{width}d}"
            for row, position in zip(self.row.tolist(), self.position.tolist(), strict=True)
        )


@dataclass(frozen=True, slots=True)
class LinkLengths:
    """How long the way of each link is. L rows, float64, metres.

    Attributes
    ----------
    total_m
        From port to port, slack included.
    lower_m, upper_m
        The part of it between the device at either end and the top of its rack, where a patch panel would be, with half the
        slack each. Both are NaN for a link that stays in its rack.
    """

    total_m: NDArray[np.float64]
    lower_m: NDArray[np.float64]
    upper_m: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.total_m)


@dataclass(frozen=True, slots=True)
class FloorPlan:
    """Racks, and the place of every device of a cluster in them. D rows a device.

    Attributes
    ----------
    racks : Racks
    rack : int32, D
        Index into ``racks``.
    lowest_unit : int32, D
        Lowest rack unit that the device takes, from 1 at the bottom.
    height_units : int32, D
    power_w : float64, D
        Greatest power of the device with its transceivers; NaN where no source says.
    contained : bool, D
        Whether the device is sold with its rack, whose power counts in its place.
    rack_parts : tuple of str
        Ids of the racks that are sold with servers in them.
    power_at_least : bool, D
        Whether the device may draw more: its typical power stands in, or a figure is missing. None: where ``power_w`` is NaN.
    rows_allowed : int or None
        Rows that the room has; None: as many as needed.
    lengths : LinkLengths or None
        None until they are measured.
    assumptions : tuple of str
        What neither the description nor the parts say, and was assumed.
    """

    racks: Racks
    rack: NDArray[np.int32]
    lowest_unit: NDArray[np.int32]
    height_units: NDArray[np.int32]
    power_w: NDArray[np.float64]
    contained: NDArray[np.bool_]
    rack_parts: tuple[str, ...] = ()
    power_at_least: NDArray[np.bool_] | None = None
    rows_allowed: int | None = None
    lengths: LinkLengths | None = None
    assumptions: tuple[str, ...] = ()

    @property
    def rack_power_w(self) -> NDArray[np.float64]:
        """Power of each rack: its own, and the sum of what is known of the devices that do not come with it. R, float64."""
        known = np.where(self.contained, 0.0, np.nan_to_num(self.power_w))
        devices = np.bincount(self.rack, weights=known, minlength=len(self.racks))
        return np.asarray(devices + np.nan_to_num(self.racks.own_power_w), np.float64)

    @property
    def unsure_power(self) -> NDArray[np.bool_]:
        """Whether the greatest power of each device is not wholly known, nor that of the rack that it comes with. D, bool."""
        unsure = np.isnan(self.power_w) if self.power_at_least is None else self.power_at_least
        covered: NDArray[np.bool_] = self.contained & ~np.isnan(self.racks.own_power_w)[self.rack]
        return unsure & ~covered

    @property
    def rack_units_used(self) -> NDArray[np.int64]:
        """Rack units taken in each rack. R, int64."""
        taken = np.bincount(self.rack, weights=self.height_units, minlength=len(self.racks))
        return taken.astype(np.int64)

    def places(self, rows: NDArray[np.integer]) -> list[str]:
        """Return rack and lowest rack unit of the devices *rows*, such as ``B07-U12``."""
        names = self.racks.names
        pairs = zip(self.rack[rows].tolist(), self.lowest_unit[rows].tolist(), strict=True)
        return [f"{names[rack]}-U{unit:02d}" for rack, unit in pairs]


def row_letters(row: int) -> str:
    """Return the letters of a row counted from 0: A to Z, then AA, AB and so on."""
    letters = ""
    row += 1
    while row:
        row, digit = divmod(row - 1, _LETTERS)
        letters = chr(ord("A") + digit) + letters
    return letters
