"""Flows that start or stop → new max-min rates, worked out only as far as the change reaches (compiled)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gpufabric.kernels.compile_kernel import compile_step
from gpufabric.kernels.link_members import LinkMembers, no_members
from gpufabric.kernels.max_min_fill import PRESSURE, ROOM, fill_flows
from gpufabric.kernels.shared_links import LinkSets

# Rates that agree to this part count as equal; filling itself agrees to a tenth of it.
_EQUAL = 1e-8


class SharedLinks(NamedTuple):
    """Running flows and what they get. F flows, E links.

    ``sets`` and ``capacity`` (float64 E, bytes/s) are the problem, ``members`` the running flows by link, and ``running`` all of
    them: a :class:`LinkMembers` of a single link whose entries are flows. ``rate`` float64 F and ``bottleneck`` int32 F hold for
    running flows; ``left`` float64 F is bytes at time ``since_s`` float64 F. ``held`` int64 E counts the flows that each link is
    the bottleneck of. ``changing`` bool F marks the flows whose rates are being worked out; ``work``, ``live``, ``touched`` and
    ``spare`` are memory for that.
    """

    sets: LinkSets
    capacity: NDArray[np.float64]
    members: LinkMembers
    running: LinkMembers
    rate: NDArray[np.float64]
    bottleneck: NDArray[np.int32]
    left: NDArray[np.float64]
    since_s: NDArray[np.float64]
    held: NDArray[np.int64]
    changing: NDArray[np.bool_]
    work: NDArray[np.float64]
    live: NDArray[np.int64]
    touched: NDArray[np.int32]
    spare: NDArray[np.int32]


def idle_links(sets: LinkSets, capacity: NDArray[np.float64], flow_bytes: NDArray[np.float64]) -> SharedLinks:
    """Return links on which no flow runs yet; ``flow_bytes`` float64 F is what each flow will send."""
    flows, links = len(sets.first) - 1, len(capacity)
    return SharedLinks(
        sets=sets,
        capacity=capacity,
        members=no_members(sets.first, sets.link, links),
        running=no_members(np.arange(flows + 1), np.zeros(flows, np.int32), 1),
        rate=np.zeros(flows),
        bottleneck=np.full(flows, -1, np.int32),
        left=flow_bytes.copy(),
        since_s=np.zeros(flows),
        held=np.zeros(links, np.int64),
        changing=np.zeros(flows, np.bool_),
        work=np.zeros((links, 4)),
        live=np.empty(flows, np.int64),
        touched=np.empty(links, np.int32),
        spare=np.empty(links, np.int32),
    )


@compile_step
def reconsider(shared: SharedLinks, changed: NDArray[np.int64], count: int, flow: int, now_s: float) -> int:
    """Add a running flow to the first *count* of *changed*, unless it is there; return the new count.

    What it has sent so far is taken off what is left, because its rate is about to change.
    """
    if shared.changing[flow]:
        return count
    shared.changing[flow] = True
    if shared.rate[flow] == np.inf:
        shared.left[flow] = 0.0
    else:
        sent = shared.rate[flow] * (now_s - shared.since_s[flow])
        shared.left[flow] = max(shared.left[flow] - sent, 0.0)
    shared.since_s[flow] = now_s
    if shared.bottleneck[flow] >= 0:
        shared.held[shared.bottleneck[flow]] -= 1
        shared.bottleneck[flow] = -1
    changed[count] = flow
    return count + 1


@compile_step
def share_anew(shared: SharedLinks, changed: NDArray[np.int64], count: int, now_s: float) -> int:
    """Work out the rates of the changed flows, and of all others that must then change too; return how many there are now.

    The changed flows are filled into the room that the others leave. The result is max-min fair exactly if every flow still has a
    full link on which none is faster (Bertsekas and Gallager, section 6.5.2); flows that have lost theirs, and flows that are
    faster than a changed one on its full link, join in, until there are none. Once that has been tried on as many flows as half
    of those that run, all of them are filled.

    Parameters
    ----------
    shared : SharedLinks
        ``rate``, ``bottleneck``, ``left``, ``since_s`` and ``held`` are brought up to date.
    changed : int64 array, F
        The first *count* are the flows that started and those whose bottleneck has lost a flow; others are added.
    count : int
    now_s : float
    """
    total = shared.running.joined[0]
    tried = 0
    while True:
        links = _find_room(shared, changed, count)
        for i in range(count):
            shared.live[i] = changed[i]
        for i in range(links):
            shared.spare[i] = shared.touched[i]
        fill_flows(
            shared.live[:count],
            shared.spare[:links],
            shared.sets,
            shared.work,
            shared.rate,
            shared.bottleneck,
        )
        if count == total:
            break
        grown = _add_unfair(shared, changed, count, links, now_s)
        if grown == count:
            break
        tried += count
        count = grown
        if 2 * (tried + count) > total:
            for i in range(total):
                count = reconsider(shared, changed, count, shared.running.entry[i], now_s)
    for i in range(count):
        shared.changing[changed[i]] = False
        if shared.bottleneck[changed[i]] >= 0:
            shared.held[shared.bottleneck[changed[i]]] += 1
    return count


@compile_step
def _find_room(shared: SharedLinks, changed: NDArray[np.int64], count: int) -> int:
    """List the links of the changed flows and the room that the others leave on them; return how many there are."""
    sets, work, members = shared.sets, shared.work, shared.members
    links = 0
    for i in range(count):
        for e in range(sets.first[changed[i]], sets.first[changed[i] + 1]):
            if work[sets.link[e], PRESSURE] == 0.0:
                work[sets.link[e], ROOM] = shared.capacity[sets.link[e]]
                shared.touched[links] = sets.link[e]
                links += 1
            work[sets.link[e], PRESSURE] += sets.weight[e]
    if count == shared.running.joined[0]:
        return links
    for i in range(links):
        link = shared.touched[i]
        if shared.capacity[link] == np.inf:
            continue
        for m in range(members.first[link], members.first[link] + members.joined[link]):
            entry = members.entry[m]
            if not shared.changing[members.owner[entry]]:
                work[link, ROOM] -= sets.weight[entry] * shared.rate[members.owner[entry]]
    return links


@compile_step
def _add_unfair(shared: SharedLinks, changed: NDArray[np.int64], count: int, links: int, now_s: float) -> int:
    """Add the flows that the new rates are unfair to or that are unfair to them; return the new count."""
    members = shared.members
    for i in range(links):
        link = shared.touched[i]
        if shared.capacity[link] == np.inf:
            continue
        begin, end = members.first[link], members.first[link] + members.joined[link]
        load, most, held_back = 0.0, 0.0, np.inf
        for m in range(begin, end):
            flow = members.owner[members.entry[m]]
            load += shared.sets.weight[members.entry[m]] * shared.rate[flow]
            most = max(most, shared.rate[flow])
            if shared.changing[flow] and shared.bottleneck[flow] == link:
                held_back = min(held_back, shared.rate[flow])
        full = load >= shared.capacity[link] * (1 - _EQUAL)
        for m in range(begin, end):
            flow = members.owner[members.entry[m]]
            lost = shared.bottleneck[flow] == link and not (full and shared.rate[flow] >= most * (1 - _EQUAL))
            if not shared.changing[flow] and (lost or shared.rate[flow] > held_back * (1 + _EQUAL)):
                count = reconsider(shared, changed, count, flow, now_s)
    return count
