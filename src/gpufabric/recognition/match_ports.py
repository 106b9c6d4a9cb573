"""Matched devices → which designed port each found port is.

Numbers and designed names decide. What ports are called otherwise (``mlx5_5``, ``swp9``, ``Ethernet32``) is learned: each link
whose far end is known votes for the port that the design has there, summed over all devices of one role and part. A miscabled
link is outvoted by those of the other devices.
"""

from __future__ import annotations

from collections import defaultdict

import numpy as np
from numpy.typing import NDArray

from gpufabric.recognition.designed_places import DesignedPlaces
from gpufabric.recognition.found_slots import FoundSlots, natural_order
from gpufabric.records.cluster import Role

Int = NDArray[np.int64]
_Name = tuple[int, int, str]
_SWITCH_ROLES = (Role.LEAF, Role.SPINE, Role.CORE)
_CHAIN = 8
_SAME_DEVICE, _SAME_ROLE = 2.0, 1.0
_SPARE = 1 << 20  # above the number of any port


def match_ports(places: DesignedPlaces, slots: FoundSlots, device: Int) -> Int:
    """Return the designed port of each found port, -1 where none is known; slots that were learned are filled in.

    Parameters
    ----------
    places, slots
    device : int64 array, F
        Designed device of each found one, or -1.
    """
    if not len(places.peer):
        return np.full(len(slots.slot), -1, np.int64)
    on = device[slots.device]
    on_switch = (on >= 0) & places.is_switch[on]
    slots.slot[~on_switch] = -1
    slots.guessed[:] = False
    unknown = np.flatnonzero((on >= 0) & (slots.slot < 0))
    for port in unknown.tolist():
        known = places.port_by_name.get((int(on[port]), slots.port_names[port].lower()), -1)
        if known >= 0:
            slots.slot[port] = places.slot[known]
    _set_apart(slots, on_switch, unknown)
    _learn(places, slots, on)
    found = places.find(on, slots.slot)
    # Two found ports can't be one designed port: the first keeps it.
    _, first = np.unique(found, return_index=True)
    keep = np.zeros(len(found), np.bool_)
    keep[first] = True
    return np.where(keep, found, -1)


def _set_apart(slots: FoundSlots, on_switch: NDArray[np.bool_], unknown: Int) -> None:
    """Give ports of switches that bear the design's names slots of no designed port: what the plan does not name is spare."""
    unknown = unknown[on_switch[unknown]]
    known = slots.slot[unknown] >= 0
    device = slots.device[unknown]
    count = len(slots.kind)
    by_name = np.bincount(device[known], minlength=count) > np.bincount(device[~known], minlength=count)
    spare = unknown[~known & by_name[device]]
    slots.slot[spare] = _SPARE + spare


def place_leftovers(
    places: DesignedPlaces, slots: FoundSlots, device: Int, port: Int, in_scope: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """Give adapters without names that are at no place of an adapter to designed ports that nothing stands at, in place.

    Any of them may be any of those, so each is as sure as there are few. Adapters with a link come first.

    Returns
    -------
    float64 array, F
        How sure each device is that was placed here; 0 for all others.
    """
    sure = np.zeros(len(device), np.float64)
    linked = np.zeros(len(port), np.bool_)
    linked[slots.near] = True
    loose = np.flatnonzero(slots.shared[slots.device] & (port < 0))
    loose = loose[np.argsort(~linked[loose], kind="stable")].tolist()
    free = (places.peer >= 0) & ~places.is_switch[places.device] & in_scope[places.link]
    free[port[port >= 0]] = False
    if not loose:
        return sure
    found_at = {int(port[row]): row for row in np.flatnonzero(port >= 0).tolist()}
    chosen = {
        found: _end_of_chain(places, slots, port, free, found, found_at) for found in loose if linked[found]
    }
    taken: set[int] = set()
    for found in loose:
        designed = chosen.get(found, -1)
        if designed < 0 or designed in taken:
            designed = -1
            chosen[found] = -1
        taken.add(designed)
    rest = iter(np.flatnonzero(free & ~np.isin(np.arange(len(free)), list(taken))).tolist())
    for found in loose:
        designed = chosen.get(found, -1)
        designed = next(rest, -1) if designed < 0 else designed
        if designed >= 0:
            port[found] = designed
            device[slots.device[found]] = places.device[designed]
            sure[slots.device[found]] = 1 / len(loose)
    return sure


def _end_of_chain(
    places: DesignedPlaces,
    slots: FoundSlots,
    port: Int,
    free: NDArray[np.bool_],
    found: int,
    found_at: dict[int, int],
) -> int:
    """Return the free designed port that closes the circle of cables which begins at a loose adapter; -1 where none does."""
    for _ in range(_CHAIN):
        far = slots.far_of.get(found, -1)
        upper = int(port[far]) if far >= 0 else -1
        lower = int(places.peer[upper]) if upper >= 0 else -1
        if lower < 0:
            return -1
        if free[lower]:
            return lower
        found = found_at.get(lower, -1)
    return -1


def _learn(places: DesignedPlaces, slots: FoundSlots, on: Int) -> None:
    """Learn the names of one role after the other: parallel links must get one order, told by the role that was learned first."""
    ports_to: dict[tuple[int, int], list[int]] = defaultdict(list)
    for port in np.flatnonzero(places.peer >= 0).tolist():
        ports_to[int(places.device[port]), int(places.device[places.peer[port]])].append(port)
    roles = places.design.devices.role
    unknown = (on[slots.near] >= 0) & (slots.slot[slots.near] < 0)
    present = np.unique(roles[on[slots.near[unknown]]]).tolist()
    for role in sorted(present, key=lambda role: (role not in _SWITCH_ROLES, role)):
        rows = np.flatnonzero(unknown & (roles[on[slots.near]] == role))
        _learn_role(places, slots, on, rows, ports_to)


def _learn_role(
    places: DesignedPlaces, slots: FoundSlots, on: Int, rows: Int, ports_to: dict[tuple[int, int], list[int]]
) -> None:
    roles, parts = places.design.devices.role, places.design.devices.part
    designed = places.find(on, slots.slot)
    votes: dict[_Name, dict[int, float]] = defaultdict(lambda: defaultdict(float))
    users: dict[_Name, set[int]] = defaultdict(set)
    open_ports: list[tuple[int, _Name]] = []
    for near, far in zip(slots.near[rows].tolist(), slots.far[rows].tolist(), strict=True):
        own = int(on[near])
        name = int(roles[own]), int(parts[own]), slots.port_names[near].lower()
        open_ports.append((near, name))
        users[name].add(own)
        other = int(places.peer[designed[far]]) if designed[far] >= 0 else -1
        if other >= 0:
            if roles[places.device[other]] == roles[own]:
                weight = _SAME_DEVICE if places.device[other] == own else _SAME_ROLE
                votes[name][int(places.slot[other])] += weight
            continue
        choices = ports_to.get((own, int(on[far])), []) if on[far] >= 0 else []
        for port in choices:
            votes[name][int(places.slot[port])] += 1 / len(choices)
    chosen = _choose(votes, users)
    for port, name in open_ports:
        slots.slot[port] = chosen.get(name, -1)


def _choose(votes: dict[_Name, dict[int, float]], users: dict[_Name, set[int]]) -> dict[_Name, int]:
    """Return the slot of each name: the one of most votes that no other name of one of its devices has.

    Of equally many votes those count first that keep the order of names and slots.
    """
    rank: dict[_Name, int] = {}
    count: dict[tuple[int, int], int] = defaultdict(int)
    for name in sorted(votes, key=lambda name: (name[:2], natural_order(name[2]))):
        rank[name] = count[name[:2]]
        count[name[:2]] += 1
    slots = sorted({(name[0], name[1], slot) for name, own in votes.items() for slot in own})
    first = {place[:2]: at for at, place in reversed(list(enumerate(slots)))}
    slot_rank = {place: at - first[place[:2]] for at, place in enumerate(slots)}
    ballots = [
        (-number, abs(slot_rank[name[0], name[1], slot] - rank[name]), rank[name], slot, name)
        for name, own in votes.items()
        for slot, number in own.items()
    ]
    chosen: dict[_Name, int] = {}
    holders: dict[tuple[int, int, int], set[int]] = defaultdict(set)
    for _, _, _, slot, name in sorted(ballots):
        place = (name[0], name[1], slot)
        if name not in chosen and not holders[place] & users[name]:
            chosen[name] = slot
            holders[place] |= users[name]
    return chosen
