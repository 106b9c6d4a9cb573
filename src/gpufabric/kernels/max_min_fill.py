"""Live flows and the room on their links → max-min rates, all local bottlenecks of a round at once (compiled)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gpufabric.kernels.compile_kernel import compile_kernel, compile_step

ROOM, PRESSURE, SHARE, LEAST = 0, 1, 2, 3
_TIE = 1e-9


class LinkSets(NamedTuple):
    """Flows as weighted sets of links: ``first`` int64 F + 1, ``link`` int32 N, ``weight`` float64 N, positive."""

    first: NDArray[np.int64]
    link: NDArray[np.int32]
    weight: NDArray[np.float64]


@compile_step
def fill_flows(
    live: NDArray[np.int64],
    touched: NDArray[np.int32],
    sets: LinkSets,
    work: NDArray[np.float64],
    rates: NDArray[np.float64],
    bottleneck: NDArray[np.int32],
) -> None:
    """Set the rates and bottlenecks of the live flows.

    A link's share is its room over the weights of the live flows on it. Every link whose share is the least that any flow on it
    meets is a bottleneck, whatever goes on elsewhere: freezing others can only raise shares. So all of them are frozen in one
    round, and rounds count the depth of the dependence between links, not the number of bottlenecks.

    Parameters
    ----------
    live : int64 array
        Flows to set; overwritten.
    touched : int32 array
        Every link of a live flow, once; overwritten.
    sets : LinkSets
    work : float64 array, (E, 4)
        Columns ``ROOM`` (bytes/s, given), ``PRESSURE`` (sum of the weights of live flows, given), ``SHARE``, ``LEAST``; one row
        of memory a link, because reading it from memory is what costs.
    rates : float64 array, F
        Written for live flows; infinite where no link limits.
    bottleneck : int32 array, F
        Written for live flows: the last of its full links, -1 where there is none.
    """
    flows, links = len(live), len(touched)
    while flows > 0:
        links = _take_shares(touched[:links], work)
        _find_least(live[:flows], sets, work, rates)
        flows = _freeze(live[:flows], sets, work, rates, bottleneck)


@compile_step
def _take_shares(touched: NDArray[np.int32], work: NDArray[np.float64]) -> int:
    """Set each link's share, and move links that live flows still use to the front; return how many there are."""
    kept = 0
    for i in range(len(touched)):
        row = work[touched[i]]
        if row[PRESSURE] > 0.0:
            row[SHARE] = max(row[ROOM], 0.0) / row[PRESSURE]
            touched[kept] = touched[i]
            kept += 1
        else:
            row[SHARE] = np.inf
        row[LEAST] = np.inf
        row[PRESSURE] = 0.0
    return kept


@compile_step
def _find_least(
    live: NDArray[np.int64], sets: LinkSets, work: NDArray[np.float64], rates: NDArray[np.float64]
) -> None:
    """Set each flow's rate to the least share on its links, and ``LEAST`` of each link to the least rate of its flows."""
    link = sets.link
    for flow in live:
        least = np.inf
        for e in range(sets.first[flow], sets.first[flow + 1]):
            least = min(least, work[link[e], SHARE])
        rates[flow] = least
        for e in range(sets.first[flow], sets.first[flow + 1]):
            work[link[e], LEAST] = min(work[link[e], LEAST], least)


@compile_step
def _freeze(
    live: NDArray[np.int64],
    sets: LinkSets,
    work: NDArray[np.float64],
    rates: NDArray[np.float64],
    bottleneck: NDArray[np.int32],
) -> int:
    """Freeze the flows on bottlenecks, and move the others to the front; return how many there are."""
    first, link, weight = sets.first, sets.link, sets.weight
    kept = 0
    for i in range(len(live)):
        flow = live[i]
        rate = rates[flow]
        full = -1
        for e in range(first[flow], first[flow + 1]):
            share = work[link[e], SHARE]
            if share <= rate * (1 + _TIE) and work[link[e], LEAST] >= share * (1 - _TIE):
                full = link[e]
        if rate == np.inf:
            bottleneck[flow] = -1
        elif full < 0:
            live[kept] = flow
            kept += 1
            for e in range(first[flow], first[flow + 1]):
                work[link[e], PRESSURE] += weight[e]
        else:
            bottleneck[flow] = full
            for e in range(first[flow], first[flow + 1]):
                work[link[e], ROOM] -= weight[e] * rate
    return kept


@compile_kernel
def fill_from_empty(
    live: NDArray[np.int64],
    sets: LinkSets,
    capacity: NDArray[np.float64],
    rates: NDArray[np.float64],
    bottleneck: NDArray[np.int32],
) -> None:
    """Set the rates and bottlenecks of the live flows on links that carry nothing else; see :func:`fill_flows`.

    Links are renumbered in the order in which flows name them: what one flow reads then lies close together, which is worth
    more than the renumbering costs.
    """
    first, link = sets.first, np.empty(len(sets.link), np.int32)
    number = np.full(len(capacity), -1, np.int32)
    touched = np.empty(min(len(capacity), len(sets.link)), np.int32)
    links = 0
    for i in range(len(live)):
        for e in range(first[live[i]], first[live[i] + 1]):
            if number[sets.link[e]] < 0:
                number[sets.link[e]] = links
                touched[links] = sets.link[e]
                links += 1
            link[e] = number[sets.link[e]]
    work = np.zeros((links, 4))
    for own in range(links):
        work[own, ROOM] = capacity[touched[own]]
    for i in range(len(live)):
        for e in range(first[live[i]], first[live[i] + 1]):
            work[link[e], PRESSURE] += sets.weight[e]
    numbers = np.arange(links).astype(np.int32)
    fill_flows(live.copy(), numbers, LinkSets(first, link, sets.weight), work, rates, bottleneck)
    for i in range(len(live)):
        if bottleneck[live[i]] >= 0:
            bottleneck[live[i]] = touched[bottleneck[live[i]]]
