"""Weighted sets of links with capacities → max-min fair rates, one bottleneck level a round, NumPy only."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_TIE = 1e-9


def progressive_rates(
    first: NDArray[np.int64],
    link: NDArray[np.int32],
    weight: NDArray[np.float64],
    capacity: NDArray[np.float64],
    active: NDArray[np.bool_] | None = None,
) -> tuple[NDArray[np.float64], NDArray[np.int32]]:
    """Return max-min fair rates by progressive filling.

    All rates rise together until a link is full; the flows on it keep their rate and the others rise on. A link is full when
    the sum over its flows of weight × rate equals its capacity.

    Parameters and results are those of :func:`gpufabric.kernels.max_min.max_min_rates`.

    Notes
    -----
    Bertsekas and Gallager, Data Networks, 2nd edition, section 6.5.2, with weights. At most F rounds of O(N + E).
    """
    flows = len(first) - 1
    length = np.diff(first)
    room = capacity.astype(np.float64)
    rates = np.zeros(flows)
    bottleneck = np.full(flows, -1, np.int32)
    rising = np.ones(flows, np.bool_) if active is None else active.copy()
    level = 0.0
    while rising.any():
        entry_weight = weight if rising.all() else weight * np.repeat(rising, length)
        pressure = np.bincount(link, entry_weight, minlength=len(room))
        step = np.full(len(room), np.inf)
        np.divide(room, pressure, out=step, where=pressure > 0)
        rise = float(step.min(initial=np.inf))
        if not np.isfinite(rise):
            rates[rising] = np.inf
            break
        level += rise
        full = step <= rise + _TIE * level
        entries = np.flatnonzero(full[link])
        owner = np.searchsorted(first, entries, side="right") - 1
        still = rising[owner]
        owner, entries = owner[still], entries[still]
        bottleneck[owner] = link[entries]
        rates[owner] = level
        rising[owner] = False
        if rising.any():
            np.subtract(room, pressure * rise, out=room, where=pressure > 0)
            np.maximum(room, 0.0, out=room)
    return rates, bottleneck
