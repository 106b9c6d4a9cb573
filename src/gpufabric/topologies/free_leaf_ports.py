"""Wired planes → down ports of their leaves that nothing uses yet."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gpufabric.topologies.fabric_rows import WiredPlane


@dataclass(frozen=True, slots=True)
class FreePorts:
    """Ports that were taken: leaf device, number in the leaf's down block, plane. One row each."""

    leaf: NDArray[np.int32]
    port: NDArray[np.int32]
    plane: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.leaf)


def take_free_ports(planes: list[WiredPlane], wanted: int) -> FreePorts:
    """Take up to *wanted* free ports, one a leaf before two, the last leaf of each plane first."""
    rows: list[tuple[int, int, int, int]] = []
    for number, plane in enumerate(planes):
        free = plane.leaf_block.count - plane.leaf_used
        for index in np.flatnonzero(free > 0)[::-1][:wanted].tolist():
            first, count = int(plane.leaf_used[index]), min(int(free[index]), wanted)
            rows += [(taken, number, -index, first + taken) for taken in range(count)]
    rows = sorted(rows)[:wanted]
    rows.sort(key=lambda row: int(planes[row[1]].leaves[-row[2]]))
    for _, number, index, _ in rows:
        planes[number].leaf_used[-index] += 1
    table = np.array([(planes[n].leaves[-i], port, n) for _, n, i, port in rows], np.int32).reshape(-1, 3)
    return FreePorts(table[:, 0], table[:, 1], table[:, 2])
