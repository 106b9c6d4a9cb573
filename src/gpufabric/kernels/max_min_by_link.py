"""Live flows and the room on their links → max-min rates, one link after the other, each flow visited once (compiled).

For many flows on few links. Rounds over all flows, as in :mod:`gpufabric.kernels.max_min_fill`, are as many as links depend on
each other in a row: where all meet all, that is nearly every link on every other.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gpufabric.kernels.compile_kernel import compile_step
from gpufabric.kernels.link_members import LinkMembers
from gpufabric.kernels.max_min_fill import PRESSURE, ROOM, SHARE
from gpufabric.kernels.shared_links import LinkSets

# The column that rounds use for something else.
_RISING = 3
_RISES = -1.0
_SAME = 1e-12
# Below this part of what has just been taken from it, a sum of weights has lost digits and is taken anew.
_DIGITS_LOST = 1e-3


@compile_step
def fill_by_link(
    live: NDArray[np.int64],
    touched: NDArray[np.int32],
    sets: LinkSets,
    members: LinkMembers,
    work: NDArray[np.float64],
    rates: NDArray[np.float64],
    bottleneck: NDArray[np.int32],
) -> None:
    """Set the rates and bottlenecks of the live flows, whose limits must be infinite.

    The link of the least share is full first: its flows are frozen and taken off their other links. That only raises shares, so
    links stay in a heap by the share that they had, and one that comes up with a larger one goes back down.

    Parameters
    ----------
    live : int64 array
        Flows to set.
    touched : int32 array
        Every link of a live flow, once; overwritten.
    sets : LinkSets
    members : LinkMembers
        The running flows of each link; those that are not live must not have the rate -1.
    work : float64 array, (E, 4)
        Columns ``ROOM`` (bytes/s, given), ``PRESSURE`` (sum of the weights of live flows, given, left 0), ``SHARE`` and another.
    rates : float64 array, F
        Written for live flows; infinite where no link limits.
    bottleneck : int32 array, F
        Written for live flows: the full link that froze it, -1 where there is none.
    """
    # Local names: a field of a record that is read in a loop is counted as a reference each time.
    first, entry_link, entry_weight = sets.first, sets.link, sets.weight
    of_link, owner = members.entry, members.owner
    size = len(touched)
    for i in range(size):
        work[touched[i], SHARE] = _share(work, touched[i])
        work[touched[i], _RISING] = 0.0
    _count_rising(live, sets, work, rates)
    _sink(touched, size, work, size - 1)
    while size > 0:
        full = touched[0]
        share = _share(work, full) if work[full, _RISING] > 0.0 else 0.0
        if share == np.inf:
            break
        if share > work[full, SHARE] * (1 + _SAME):
            work[full, SHARE] = share
            _sink(touched, size, work, 0)
            continue
        begin = members.first[full]
        for m in range(begin, begin + members.joined[full]):
            flow = owner[of_link[m]]
            if rates[flow] != _RISES:
                continue
            rates[flow] = share
            bottleneck[flow] = full
            for e in range(first[flow], first[flow + 1]):
                link, weight = entry_link[e], entry_weight[e]
                work[link, ROOM] -= weight * share
                work[link, PRESSURE] -= weight
                work[link, _RISING] -= 1.0
                if work[link, PRESSURE] < weight * _DIGITS_LOST and work[link, _RISING] > 0.0:
                    work[link, PRESSURE] = _rising_weight(link, sets, members, rates)
        work[full, PRESSURE] = 0.0
        size -= 1
        touched[0] = touched[size]
        _sink(touched, size, work, 0)
    for i in range(size):
        work[touched[i], PRESSURE] = 0.0
    for flow in live:
        if rates[flow] == _RISES:
            rates[flow] = np.inf
            bottleneck[flow] = -1


@compile_step
def _count_rising(
    live: NDArray[np.int64], sets: LinkSets, work: NDArray[np.float64], rates: NDArray[np.float64]
) -> None:
    """Mark the live flows as rising, and count them on each link."""
    first, link = sets.first, sets.link
    for flow in live:
        rates[flow] = _RISES
        for e in range(first[flow], first[flow + 1]):
            work[link[e], _RISING] += 1.0


@compile_step
def _share(work: NDArray[np.float64], link: int) -> float:
    return float(max(work[link, ROOM], 0.0) / work[link, PRESSURE])


@compile_step
def _rising_weight(link: int, sets: LinkSets, members: LinkMembers, rates: NDArray[np.float64]) -> float:
    total = 0.0
    for m in range(members.first[link], members.first[link] + members.joined[link]):
        if rates[members.owner[members.entry[m]]] == _RISES:
            total += sets.weight[members.entry[m]]
    return total


@compile_step
def _sink(heap: NDArray[np.int32], size: int, work: NDArray[np.float64], last: int) -> None:
    """Move the links at places *last* down to 0 to where their shares belong; equal shares in the order of the links."""
    for start in range(last, -1, -1):
        at, link = start, heap[start]
        share = work[link, SHARE]
        while 2 * at + 1 < size:
            child = 2 * at + 1
            low = heap[child]
            if child + 1 < size:
                other = heap[child + 1]
                if work[other, SHARE] < work[low, SHARE] or (
                    work[other, SHARE] == work[low, SHARE] and other < low
                ):
                    child, low = child + 1, other
            if share < work[low, SHARE] or (share == work[low, SHARE] and link < low):
                break
            heap[at] = low
            at = child
        heap[at] = link
