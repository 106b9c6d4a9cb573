"""Floor plan → blocks of rows that look alike from above, each row as runs of equal racks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np

from gpufabric.records.floor_plan import FloorPlan, row_letters
from gpufabric.report.rack_groups import RackGroup

MOST_BLOCKS = 12


@dataclass(frozen=True, slots=True)
class Run:
    """Neighbouring racks of one kind: the first of them, how many, and the index of their kind."""

    first: int
    racks: int
    kind: int


@dataclass(frozen=True, slots=True)
class RowBlock:
    """Rows drawn as one: the runs of the first of them. ``power_w`` is of all its rows, what is known of it."""

    first: int
    rows: int
    racks: int
    runs: tuple[Run, ...]
    power_w: float

    @property
    def title(self) -> str:
        """``Row C``, or ``Rows C to F``."""
        last = self.first + self.rows - 1
        return (
            f"Row {row_letters(self.first)}"
            if self.rows == 1
            else f"Rows {row_letters(self.first)} to {row_letters(last)}"
        )


def row_blocks(plan: FloorPlan, groups: Sequence[RackGroup]) -> tuple[RowBlock, ...]:
    """Return the blocks from the first row to the last.

    Up to ``MOST_BLOCKS`` rows are a block each. Of more rows, neighbours with equally many racks of the same purposes in the
    same order are one block.

    Parameters
    ----------
    plan
    groups
        Its kinds of rack.
    """
    kind = np.empty(len(plan.racks), np.int64)
    for number, group in enumerate(groups):
        kind[group.racks] = number
    power = plan.rack_power_w
    row_of = plan.racks.row
    rows = [np.flatnonzero(row_of == row) for row in range(int(row_of.max(initial=-1)) + 1)]
    purposes = plan.racks.purpose
    fold = len(rows) > MOST_BLOCKS
    alike = groupby(range(len(rows)), key=lambda row: purposes[rows[row]].tobytes() if fold else row)
    blocks = []
    for _, members in alike:
        numbers = list(members)
        racks = rows[numbers[0]]
        blocks.append(
            RowBlock(
                first=numbers[0],
                rows=len(numbers),
                racks=len(racks),
                runs=_runs(racks.tolist(), kind[racks].tolist()),
                power_w=float(sum(power[rows[row]].sum() for row in numbers)),
            )
        )
    return tuple(blocks)


def _runs(racks: list[int], kinds: list[int]) -> tuple[Run, ...]:
    runs = []
    for kind, members in groupby(zip(racks, kinds, strict=True), key=lambda pair: pair[1]):
        numbers = [rack for rack, _ in members]
        runs.append(Run(numbers[0], len(numbers), kind))
    return tuple(runs)
