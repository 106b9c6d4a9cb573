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
    Bertsekas and Gallager, Data Networks, 2nd edition, section 6.5.2, with weights. At most F rounds of O(N + links used).
    """
    flows = len(first) - 1
    owner = np.repeat(np.arange(flows, dtype=np.int64), np.diff(first))
    used, compact = _compact(link, len(capacity))
    room = capacity[used].astype(np.float64)
    rates = np.zeros(flows)
    bottleneck = np.full(flows, -1, np.int32)
    rising = np.ones(flows, np.bool_) if active is None else active.copy()
    level = 0.0
    while rising.any():
        entry_weight = weight if rising.all() else np.where(rising[owner], weight, 0.0)
        pressure = np.bincount(compact, entry_weight, minlength=len(used))
        with np.errstate(divide="ignore", invalid="ignore"):
            step = np.where(pressure > 0, room / pressure, np.inf)
        rise = float(step.min(initial=np.inf))
        if not np.isfinite(rise):
            rates[rising] = np.inf
            break
        level += max(rise, 0.0)
        room = np.where(pressure > 0, np.maximum(room - pressure * rise, 0.0), room)
        full = step <= rise + _TIE * max(level, np.finfo(np.float64).tiny)
        stopped_entry = np.flatnonzero(full[compact] & (entry_weight > 0))
        bottleneck[owner[stopped_entry]] = used[compact[stopped_entry]]
        stopped = np.zeros(flows, np.bool_)
        stopped[owner[stopped_entry]] = True
        rates[stopped] = level
        rising &= ~stopped
    return rates, bottleneck


def _compact(link: NDArray[np.int32], links: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the links in use and, for each entry, the position of its link among them."""
    seen = np.zeros(links, np.bool_)
    seen[link] = True
    used = np.flatnonzero(seen)
    position = np.cumsum(seen) - 1
    return used, position[link]
