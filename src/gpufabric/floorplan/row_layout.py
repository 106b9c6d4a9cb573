"""Server racks and the leaf switches at home in them → rows of racks."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from gpufabric.floorplan.rack_filling import RackFill
from gpufabric.floorplan.room_figures import RoomFigures
from gpufabric.floorplan.row_grid import RowGrid, row_grid


@dataclass(slots=True)
class Row:
    """One row: its server racks, the switches in each of its network racks, and its racks that serve the whole room."""

    servers: list[int] = field(default_factory=list)
    network: list[list[int]] = field(default_factory=list)
    central: list[int] = field(default_factory=list)

    @property
    def length(self) -> int:
        """Racks of the row."""
        return len(self.servers) + len(self.network) + len(self.central)


@dataclass(frozen=True, slots=True)
class SwitchSizes:
    """Height and power of every device, and what a rack takes: (units, watts)."""

    height_units: NDArray[np.int32]
    power_w: NDArray[np.float64]
    limits: tuple[int, float]

    def add(self, fill: RackFill, switches: list[int]) -> RackFill:
        """Return *fill* with *switches* added in order."""
        for switch in switches:
            fill = fill.add(int(self.height_units[switch]), float(self.power_w[switch]), self.limits)
        return fill

    def racks(self, switches: list[int]) -> list[list[int]]:
        """Return *switches* rack by rack."""
        racks: list[list[int]] = []
        fill = RackFill()
        for switch in switches:
            before = fill.racks
            fill = self.add(fill, [switch])
            if fill.racks > before:
                racks.append([])
            racks[-1].append(switch)
        return racks


def lay_rows(
    block: NDArray[np.int64], leaves_of: dict[int, list[int]], sizes: SwitchSizes, per_row: int
) -> tuple[list[Row], list[int]]:
    """Return the rows, and the leaves that no row of *per_row* racks had a place for.

    Rows are filled rack by rack with the network racks of their leaves counted in. A block that fits into one row is not broken
    over two.

    Parameters
    ----------
    block : int64 array, S
        Block of each server rack.
    leaves_of
        Server rack → leaf switches at home there.
    sizes
    per_row
        Racks of a row.
    """
    rows = [Row()]
    homeless: list[int] = []
    fill = RackFill()
    leaves: list[list[int]] = [[]]
    ends = np.flatnonzero(np.r_[block[1:] != block[:-1], True]) + 1
    first = 0
    for end in ends.tolist():
        racks = list(range(first, end))
        first = end
        whole = sizes.add(RackFill(), [leaf for rack in racks for leaf in leaves_of.get(rack, [])])
        pieces = [racks] if len(racks) + whole.racks <= per_row else [[rack] for rack in racks]
        for piece in pieces:
            wanted = [leaf for rack in piece for leaf in leaves_of.get(rack, [])]
            grown = sizes.add(fill, wanted)
            if rows[-1].servers and len(rows[-1].servers) + len(piece) + grown.racks > per_row:
                rows.append(Row())
                leaves.append([])
                grown = sizes.add(RackFill(), wanted)
            if len(rows[-1].servers) + len(piece) + grown.racks > per_row:
                homeless += wanted
                wanted, grown = [], RackFill()
            fill = grown
            leaves[-1] += wanted
            rows[-1].servers += piece
    for row, mine in zip(rows, leaves, strict=True):
        row.network = sizes.racks(mine)
    return rows, homeless


def add_central(rows: list[Row], racks: int, room: RoomFigures) -> RowGrid:
    """Give racks that serve the whole room, numbered from 0 to *racks* - 1, a place in *rows*, and return where the rows lie.

    They take free positions nearest to the middle of the room, or where these are too few rows of their own in its middle.
    """
    per_row = room.racks_per_row
    free = [max(0, per_row - row.length) for row in rows]
    if racks <= sum(free):
        grid = row_grid(len(rows), room)
        numbers = iter(range(racks))
        for at in grid.from_middle():
            rows[at].central = list(islice(numbers, free[at]))
        return grid
    own = [Row(central=list(range(at, min(at + per_row, racks)))) for at in range(0, racks, per_row)]
    grid = row_grid(len(rows) + len(own), room)
    taken = dict(zip(sorted(grid.from_middle()[: len(own)]), own, strict=True))
    others = iter(rows)
    rows[:] = [taken[at] if at in taken else next(others) for at in range(grid.rows)]
    return grid
