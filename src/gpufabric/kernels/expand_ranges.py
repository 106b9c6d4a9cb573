"""Starts and sizes of ranges → all their members, one range after the other."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def expand_ranges(
    first: NDArray[np.integer], count: NDArray[np.integer]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return ``first[i], first[i] + 1, …`` (``count[i]`` numbers) for every *i*, joined, and the *i* of each.

    Returns
    -------
    int64 arrays, sum of *count*
        Members and the range that each is of.
    """
    owner = np.repeat(np.arange(len(count)), count)
    before = np.cumsum(count) - count
    return np.arange(len(owner)) + (first - before)[owner], owner
