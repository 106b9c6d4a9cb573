"""Values in groups → the greatest of each group."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def group_maximum(value: NDArray[np.float64], group: NDArray[np.integer], groups: int) -> NDArray[np.float64]:
    """Return the greatest value of each group: NaN where one of its values is, -inf where it has none.

    Parameters
    ----------
    value : float64 array, N
        Finite or NaN.
    group : integer array, N
        Group of each value, below *groups*.
    groups : int

    Returns
    -------
    float64 array, *groups*
    """
    most = np.full(groups, -np.inf)
    # numpy.maximum warns of NaN, so infinity stands in for it.
    np.maximum.at(most, group, np.where(np.isnan(value), np.inf, value))
    return np.where(most == np.inf, np.nan, most)
