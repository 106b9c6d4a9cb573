"""Live flows and the room on their links → max-min rates, all local bottlenecks of a round at once (compiled)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gpufabric.kernels.compile_kernel import compile_kernel, compile_step
from gpufabric.kernels.shared_links import LinkSets, keep_shared

ROOM, PRESSURE, SHARE, LEAST = 0, 1, 2, 3
_TIE = 1e-9


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
        Written for live flows: the last of its full links, -1 where there is none (its own limit holds it back).
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
        least = sets.limit[flow]
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
        elif full < 0 and sets.limit[flow] > rate * (1 + _TIE):
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
    """Set the rates and bottlenecks of the live flows on links that carry nothing else; see :func:`fill_flows`."""
    near, alone, touched = keep_shared(live, sets, capacity)
    work = np.zeros((len(touched), 4))
    for own in range(len(touched)):
        work[own, ROOM] = capacity[touched[own]]
    for e in range(near.first[-1]):
        work[near.link[e], PRESSURE] += near.weight[e]
    rate, full = np.empty(len(live)), np.empty(len(live), np.int32)
    fill_flows(np.arange(len(live)), np.arange(len(touched)).astype(np.int32), near, work, rate, full)
    for i in range(len(live)):
        flow = live[i]
        rates[flow] = rate[i]
        held = touched[full[i]] if full[i] >= 0 else -1
        bottleneck[flow] = held
        if alone[i] >= 0 and near.limit[i] <= rate[i] * (1 + _TIE) and rate[i] < np.inf:
            for e in range(sets.first[flow], sets.first[flow + 1]):
                if sets.link[e] == alone[i] or sets.link[e] == held:
                    bottleneck[flow] = sets.link[e]
