"""Flows with the time of their next event → the earliest one, in a binary heap that knows each flow's place (compiled)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gpufabric.kernels.compile_kernel import compile_step


class FlowHeap(NamedTuple):
    """A heap over F flows; equal times come in the order of the flows.

    ``flow`` int64 F: the heap; ``place`` int64 F: where each flow is, -1 when it is not in it; ``time_s`` float64 F; ``size``
    int64 1: how many are in it.
    """

    flow: NDArray[np.int64]
    place: NDArray[np.int64]
    time_s: NDArray[np.float64]
    size: NDArray[np.int64]


def empty_heap(flows: int) -> FlowHeap:
    """Return an empty heap for so many flows."""
    return FlowHeap(
        np.empty(flows, np.int64), np.full(flows, -1, np.int64), np.zeros(flows), np.zeros(1, np.int64)
    )


@compile_step
def set_time(heap: FlowHeap, flow: int, time_s: float) -> None:
    """Put a flow into the heap, or move it where it belongs."""
    at = heap.place[flow]
    if at < 0:
        at = heap.size[0]
        heap.size[0] += 1
    heap.time_s[flow] = time_s
    while at > 0:
        above = heap.flow[(at - 1) // 2]
        if heap.time_s[above] < time_s or (heap.time_s[above] == time_s and above < flow):
            break
        heap.flow[at] = above
        heap.place[above] = at
        at = (at - 1) // 2
    heap.flow[at] = flow
    _sink(heap, at, at)


@compile_step
def set_times(heap: FlowHeap, flows: NDArray[np.int64]) -> None:
    """Put flows whose times stand in ``time_s`` into the heap, and all where they belong: quicker than each if many change."""
    place, size = heap.place, heap.size[0]
    for flow in flows:
        if place[flow] < 0:
            heap.flow[size] = flow
            place[flow] = size
            size += 1
    heap.size[0] = size
    _sink(heap, size - 1, 0)


@compile_step
def take_first(heap: FlowHeap) -> int:
    """Remove the earliest flow and return it; the heap must not be empty."""
    taken = heap.flow[0]
    heap.place[taken] = -1
    heap.size[0] -= 1
    if heap.size[0] > 0:
        heap.flow[0] = heap.flow[heap.size[0]]
        _sink(heap, 0, 0)
    return int(taken)


@compile_step
def _sink(heap: FlowHeap, last: int, first: int) -> None:
    """Move the flows at places *last* down to *first*, one after the other, to where their times belong."""
    in_heap, place, times_s, size = heap.flow, heap.place, heap.time_s, heap.size[0]
    for start in range(last, first - 1, -1):
        at, flow = start, in_heap[start]
        time_s = times_s[flow]
        while 2 * at + 1 < size:
            child = 2 * at + 1
            low = in_heap[child]
            if child + 1 < size:
                other = in_heap[child + 1]
                if times_s[other] < times_s[low] or (times_s[other] == times_s[low] and other < low):
                    child, low = child + 1, other
            if time_s < times_s[low] or (time_s == times_s[low] and flow < low):
                break
            in_heap[at] = low
            place[low] = at
            at = child
        in_heap[at] = flow
        place[flow] = at
