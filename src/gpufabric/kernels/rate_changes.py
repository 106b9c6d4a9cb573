"""Flows that start or stop → new max-min rates, worked out only as far as the change reaches (compiled)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gpufabric.kernels.compile_kernel import compile_step
from gpufabric.kernels.link_members import LinkMembers, no_members
from gpufabric.kernels.max_min_by_link import fill_by_link
from gpufabric.kernels.max_min_fill import PRESSURE, ROOM, fill_flows
from gpufabric.kernels.shared_links import LinkSets

# Rates that agree to this part count as equal; filling itself agrees to a tenth of it.
_EQUAL = 1e-8
# One part in so many of all entries; measured on all-to-alls of mixed sizes. A permutation over three tiers stays far below it.
_EVERYWHERE = 8


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
def reconsider(changing: NDArray[np.bool_], changed: NDArray[np.int64], count: int, flow: int) -> int:
    """Add a running flow to the first *count* of *changed*, unless it is there; return the new count.

    It takes two arrays and not all of :class:`SharedLinks`, because handing that over takes longer than the lines below.
    """
    if not changing[flow]:
        changing[flow] = True
        changed[count] = flow
        count += 1
    return count


@compile_step
def _add_all(shared: SharedLinks, changed: NDArray[np.int64], count: int) -> int:
    """Add all running flows; return the new count."""
    changing, running = shared.changing, shared.running.entry
    for i in range(shared.running.joined[0]):
        if not changing[running[i]]:
            changing[running[i]] = True
            changed[count] = running[i]
            count += 1
    return count


@compile_step
def _settle(shared: SharedLinks, added: NDArray[np.int64], now_s: float) -> None:
    """Take what the added flows have sent so far off what is left, because their rates are about to change."""
    rate, left, since_s, bottleneck = shared.rate, shared.left, shared.since_s, shared.bottleneck
    for flow in added:
        if rate[flow] == np.inf:
            left[flow] = 0.0
        else:
            left[flow] = max(left[flow] - rate[flow] * (now_s - since_s[flow]), 0.0)
        since_s[flow] = now_s
        if bottleneck[flow] >= 0:
            shared.held[bottleneck[flow]] -= 1
            bottleneck[flow] = -1


@compile_step
def share_anew(shared: SharedLinks, changed: NDArray[np.int64], count: int, now_s: float) -> int:
    """Work out the rates of the changed flows, and of all others that must then change too; return how many there are now.

    The changed flows are filled into the room that the others leave. The result is max-min fair exactly if every flow still has a
    full link on which none is faster (Bertsekas and Gallager, section 6.5.2); flows that have lost theirs, and flows that are
    faster than a changed one on its full link, join in, until there are none. Once that means to look at an eighth of what
    all running flows load, all of them are filled: where everything meets everything nothing else is ever enough.

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
    # So many entries, of about as many as all running flows have, that the change is taken to reach everywhere.
    many = total * len(shared.sets.link) / (_EVERYWHERE * len(shared.rate))
    tried, settled = 0, 0
    while True:
        links, entries = _find_links(shared, changed, count)
        tried += entries
        if count < total and tried > many:
            count = _add_all(shared, changed, count)
            links, _ = _find_links(shared, changed, count)
        _settle(shared, changed[settled:count], now_s)
        settled = count
        _find_room(shared, changed, count, links)
        _fill(shared, changed, count, links)
        if count == total:
            break
        grown = _add_unfair(shared, changed, count, links)
        if grown == count:
            break
        count = grown
    for i in range(count):
        shared.changing[changed[i]] = False
        if shared.bottleneck[changed[i]] >= 0:
            shared.held[shared.bottleneck[changed[i]]] += 1
    return count


@compile_step
def _fill(shared: SharedLinks, changed: NDArray[np.int64], count: int, links: int) -> None:
    """Set the rates of the changed flows: link by link where few links carry them, all local bottlenecks at once otherwise."""
    sets, work, rate, bottleneck = shared.sets, shared.work, shared.rate, shared.bottleneck
    for i in range(links):
        shared.spare[i] = shared.touched[i]
    if links < count:
        fill_by_link(changed[:count], shared.spare[:links], sets, shared.members, work, rate, bottleneck)
    else:
        for i in range(count):
            shared.live[i] = changed[i]
        fill_flows(shared.live[:count], shared.spare[:links], sets, work, rate, bottleneck)


@compile_step
def _find_links(shared: SharedLinks, changed: NDArray[np.int64], count: int) -> tuple[int, int]:
    """List the links of the changed flows; return how many there are, and how many entries of running flows load them."""
    sets, work = shared.sets, shared.work
    links, entries = 0, 0
    for i in range(count):
        for e in range(sets.first[changed[i]], sets.first[changed[i] + 1]):
            if work[sets.link[e], PRESSURE] == 0.0:
                work[sets.link[e], PRESSURE] = 1.0
                shared.touched[links] = sets.link[e]
                links += 1
                entries += shared.members.joined[sets.link[e]]
    for i in range(links):
        work[shared.touched[i], PRESSURE] = 0.0
    return links, entries


@compile_step
def _find_room(shared: SharedLinks, changed: NDArray[np.int64], count: int, links: int) -> None:
    """Set the room that other flows leave on the links of the changed ones, and the sum of the weights of these."""
    sets, work, members = shared.sets, shared.work, shared.members
    for i in range(links):
        work[shared.touched[i], ROOM] = shared.capacity[shared.touched[i]]
    for i in range(count):
        for e in range(sets.first[changed[i]], sets.first[changed[i] + 1]):
            work[sets.link[e], PRESSURE] += sets.weight[e]
    if count == shared.running.joined[0]:
        return
    for i in range(links):
        link = shared.touched[i]
        if shared.capacity[link] == np.inf:
            continue
        for m in range(members.first[link], members.first[link] + members.joined[link]):
            entry = members.entry[m]
            if not shared.changing[members.owner[entry]]:
                work[link, ROOM] -= sets.weight[entry] * shared.rate[members.owner[entry]]


@compile_step
def _add_unfair(shared: SharedLinks, changed: NDArray[np.int64], count: int, links: int) -> int:
    """Add the flows that the new rates are unfair to or that are unfair to them; return the new count."""
    members, weight = shared.members, shared.sets.weight
    rate, bottleneck, changing = shared.rate, shared.bottleneck, shared.changing
    for i in range(links):
        link = shared.touched[i]
        if shared.capacity[link] == np.inf:
            continue
        begin, end = members.first[link], members.first[link] + members.joined[link]
        load, most, held_back = 0.0, 0.0, np.inf
        for m in range(begin, end):
            flow = members.owner[members.entry[m]]
            load += weight[members.entry[m]] * rate[flow]
            most = max(most, rate[flow])
            if changing[flow] and bottleneck[flow] == link:
                held_back = min(held_back, rate[flow])
        full = load >= shared.capacity[link] * (1 - _EQUAL)
        for m in range(begin, end):
            flow = members.owner[members.entry[m]]
            lost = bottleneck[flow] == link and not (full and rate[flow] >= most * (1 - _EQUAL))
            if lost or rate[flow] > held_back * (1 + _EQUAL):
                count = reconsider(changing, changed, count, flow)
    return count
