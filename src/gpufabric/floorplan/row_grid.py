"""Number of rows → where each row lies: side by side in columns, so that a large room is about square."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gpufabric.floorplan.room_figures import RoomFigures

_ONE_COLUMN_ROWS = 10


@dataclass(frozen=True, slots=True)
class RowGrid:
    """Rows in columns of ``lines`` rows; aisles are between rows and between columns.

    Every other column is numbered backwards, so that a row and the next one are always neighbours.

    ``column_m`` is from column to column, ``line_m`` from row to row of a column.
    """

    rows: int
    lines: int
    column_m: float
    line_m: float

    def column(self, row: NDArray[np.integer]) -> NDArray[np.integer]:
        """Return the column of each row."""
        return row // self.lines

    def line(self, row: NDArray[np.integer]) -> NDArray[np.integer]:
        """Return the line of each row in its column."""
        line = row % self.lines
        return np.where(self.column(row) % 2 == 0, line, self.lines - 1 - line)

    def from_middle(self) -> list[int]:
        """Return the numbers of all rows, the one nearest to the middle of the room first."""
        row = np.arange(self.rows)
        columns = -(-self.rows // self.lines)
        along = np.abs(self.column(row) - (columns - 1) / 2) * self.column_m
        across = np.abs(self.line(row) - (self.lines - 1) / 2) * self.line_m
        return [int(r) for r in np.argsort(along + across, kind="stable")]


def row_grid(rows: int, room: RoomFigures) -> RowGrid:
    """Return the grid of *rows* rows: one column up to ten rows, beyond that as many as make the room about square."""
    column_m = room.racks_per_row * room.rack_width_m + room.aisle_width_m
    line_m = room.rack_depth_m + room.aisle_width_m
    columns = 1 if rows <= _ONE_COLUMN_ROWS else max(1, round(math.sqrt(rows * line_m / column_m)))
    return RowGrid(rows, max(1, -(-rows // columns)), column_m, line_m)
