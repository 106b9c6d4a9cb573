"""Weighted sets of links with capacities → the max-min fair rate of each set."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_TIE = 1e-9


def max_min_rates(
    first: NDArray[np.int64],
    link: NDArray[np.int32],
    weight: NDArray[np.float64],
    capacity: NDArray[np.float64],
    active: NDArray[np.bool_] | None = None,
) -> tuple[NDArray[np.float64], NDArray[np.int32]]:
    """Return max-min fair rates by progressive filling.

    All rates rise together until a link is full; the flows on it keep their rate and the others rise on. A link is full when
    the sum over its flows of weight × rate equals its capacity.

    Parameters
    ----------
    first : int64 array, F + 1
        Flow *f* uses entries ``first[f] .. first[f + 1] - 1`` of ``link`` and ``weight``.
    link : int32 array, N
        Link of each entry; at most once in a flow.
    weight : float64 array, N
        Positive; bytes on the link per byte of the flow.
    capacity : float64 array, E
        Bytes/s; infinite where a link sets no limit.
    active : bool array, F, optional
        Flows that take part; the others get rate 0.

    Returns
    -------
    rates : float64 array, F
        Bytes/s; infinite for a flow that no link limits.
    bottleneck : int32 array, F
        The last full link of each flow; -1 where no link limits it or it is not active.

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
