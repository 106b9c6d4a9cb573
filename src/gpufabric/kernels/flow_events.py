"""Flows with sizes, start times and predecessors on shared links → when each begins, is sent and arrives (compiled)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gpufabric.kernels.compile_kernel import compile_kernel, compile_step
from gpufabric.kernels.flow_heap import FlowHeap, empty_heap, set_time, set_times, take_first
from gpufabric.kernels.link_members import join_link, leave_link
from gpufabric.kernels.rate_changes import SharedLinks, idle_links, reconsider, share_anew
from gpufabric.kernels.shared_links import LinkSets

# Events closer than this part of the time are one event: flows that are alike end together whatever rounding says.
_TOGETHER = 1e-9
# When one in so many of the times in the heap has changed, ordering all of them anew is quicker than moving each.
_MANY = 4
_BLOCKED, _WAITING, _RUNNING, _ON_ITS_WAY, _ARRIVED = 0, 1, 2, 3, 4


class FlowPlan(NamedTuple):
    """When flows may start. F flows.

    ``start_s`` and ``latency_s`` float64 F; flow *f* is waited for by ``after[first_after[f] : first_after[f + 1]]`` (int64), and
    waits for ``waits[f]`` others itself (int64, counted down).
    """

    start_s: NDArray[np.float64]
    latency_s: NDArray[np.float64]
    first_after: NDArray[np.int64]
    after: NDArray[np.int64]
    waits: NDArray[np.int64]


class FlowEvents(NamedTuple):
    """What happened to each flow. Times in seconds, infinite for what never happens; F rows each.

    ``begin_s``, ``sent_s`` (its last byte leaves) and ``arrived_s`` (latency later) float64; ``bytes_per_s`` float64 and
    ``bottleneck`` int32 when it began; ``phase`` int8 where it has got to: 0 is still waiting for others.
    """

    begin_s: NDArray[np.float64]
    sent_s: NDArray[np.float64]
    arrived_s: NDArray[np.float64]
    bytes_per_s: NDArray[np.float64]
    bottleneck: NDArray[np.int32]
    phase: NDArray[np.int8]


def play_flows(
    sets: LinkSets, capacity: NDArray[np.float64], flow_bytes: NDArray[np.float64], plan: FlowPlan
) -> FlowEvents:
    """Return what happens to each flow when running flows share the links max-min fairly at every moment.

    Parameters
    ----------
    sets : LinkSets
    capacity : float64 array, E
        Bytes/s of each link.
    flow_bytes : float64 array, F
    plan : FlowPlan
        ``waits`` is used up.
    """
    flows = len(flow_bytes)
    events = FlowEvents(
        np.full(flows, np.inf),
        np.full(flows, np.inf),
        np.full(flows, np.inf),
        np.full(flows, np.inf),
        np.full(flows, -1, np.int32),
        np.zeros(flows, np.int8),
    )
    _play(idle_links(sets, capacity, flow_bytes), plan, empty_heap(flows), events)
    return events


@compile_kernel
def _play(shared: SharedLinks, plan: FlowPlan, heap: FlowHeap, events: FlowEvents) -> None:
    flows = len(plan.waits)
    changed, gone = np.empty(flows, np.int64), np.empty(flows, np.int64)
    for flow in range(flows):
        if plan.waits[flow] == 0:
            events.phase[flow] = _WAITING
            set_time(heap, flow, plan.start_s[flow])
    while heap.size[0] > 0:
        now_s = heap.time_s[heap.flow[0]]
        if now_s == np.inf:
            break
        count, ended = 0, 0
        while heap.size[0] > 0 and heap.time_s[heap.flow[0]] <= now_s * (1 + _TOGETHER):
            flow = take_first(heap)
            if events.phase[flow] == _WAITING:
                events.begin_s[flow] = now_s
                if shared.left[flow] > 0.0:
                    events.phase[flow] = _RUNNING
                    _join(shared, flow)
                    count = reconsider(shared.changing, changed, count, flow)
                else:
                    _send(plan, heap, events, flow, now_s)
            elif events.phase[flow] == _RUNNING:
                _leave(shared, flow)
                gone[ended] = flow
                ended += 1
                _send(plan, heap, events, flow, now_s)
            else:
                _arrive(plan, heap, events, flow, now_s)
        count = _freed(shared, changed, count, gone[:ended])
        if count > 0:
            count = share_anew(shared, changed, count, now_s)
        _expect_ends(shared, changed[:count], heap, events, now_s)


@compile_step
def _expect_ends(
    shared: SharedLinks, changed: NDArray[np.int64], heap: FlowHeap, events: FlowEvents, now_s: float
) -> None:
    """Put down when the flows whose rates have changed will end, and the rates of those that have just begun."""
    many = len(changed) * _MANY > heap.size[0]
    for flow in changed:
        rate = shared.rate[flow]
        if events.begin_s[flow] == now_s:
            events.bytes_per_s[flow] = rate
            events.bottleneck[flow] = shared.bottleneck[flow]
        end_s = now_s + shared.left[flow] / rate if rate > 0.0 else np.inf
        if many:
            heap.time_s[flow] = end_s
        else:
            set_time(heap, flow, end_s)
    if many:
        set_times(heap, changed)


@compile_step
def _join(shared: SharedLinks, flow: int) -> None:
    join_link(shared.running, 0, flow)
    for e in range(shared.sets.first[flow], shared.sets.first[flow + 1]):
        join_link(shared.members, shared.sets.link[e], e)


@compile_step
def _leave(shared: SharedLinks, flow: int) -> None:
    leave_link(shared.running, 0, flow)
    for e in range(shared.sets.first[flow], shared.sets.first[flow + 1]):
        leave_link(shared.members, shared.sets.link[e], e)
    if shared.bottleneck[flow] >= 0:
        shared.held[shared.bottleneck[flow]] -= 1


@compile_step
def _freed(shared: SharedLinks, changed: NDArray[np.int64], count: int, gone: NDArray[np.int64]) -> int:
    """Add the flows that were held back by a link of a flow that has gone; return the new count.

    Where flows of equal size start together there are none: the fastest go first, and nobody waits for faster ones.
    """
    sets, members = shared.sets, shared.members
    for i in range(len(gone)):
        for e in range(sets.first[gone[i]], sets.first[gone[i] + 1]):
            link = sets.link[e]
            if shared.held[link] == 0:
                continue
            for m in range(members.first[link], members.first[link] + members.joined[link]):
                flow = members.owner[members.entry[m]]
                if shared.bottleneck[flow] == link:
                    count = reconsider(shared.changing, changed, count, flow)
    return count


@compile_step
def _send(plan: FlowPlan, heap: FlowHeap, events: FlowEvents, flow: int, now_s: float) -> None:
    """Note that the last byte of a flow has left; it arrives one latency later."""
    events.sent_s[flow] = now_s
    if plan.latency_s[flow] > 0.0:
        events.phase[flow] = _ON_ITS_WAY
        set_time(heap, flow, now_s + plan.latency_s[flow])
    else:
        _arrive(plan, heap, events, flow, now_s)


@compile_step
def _arrive(plan: FlowPlan, heap: FlowHeap, events: FlowEvents, flow: int, now_s: float) -> None:
    events.phase[flow] = _ARRIVED
    events.arrived_s[flow] = now_s
    for a in range(plan.first_after[flow], plan.first_after[flow + 1]):
        follower = plan.after[a]
        plan.waits[follower] -= 1
        if plan.waits[follower] == 0:
            events.phase[follower] = _WAITING
            set_time(heap, follower, max(plan.start_s[follower], now_s))
