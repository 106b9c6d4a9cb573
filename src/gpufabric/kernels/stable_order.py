"""Integer keys → the rows in their order, equal keys as they stood."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_BITS = 62


def stable_order(key: NDArray[np.integer]) -> NDArray[np.int64]:
    """Return what ``numpy.argsort(key, kind="stable")`` does, several times as fast for a million keys.

    Key and row are packed into one integer wherever they fit, because integers themselves are sorted much faster than rows by
    their keys.

    Parameters
    ----------
    key : integer array, N
    """
    rows = len(key)
    width = rows.bit_length()
    least = int(key.min(initial=0))
    if (int(key.max(initial=0)) - least).bit_length() + width > _BITS:
        return np.argsort(key, kind="stable").astype(np.int64, copy=False)
    packed = (key.astype(np.int64) - least) << width
    packed |= np.arange(rows)
    packed.sort()
    packed &= (1 << width) - 1
    return packed
