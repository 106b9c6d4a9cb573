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

Int = NDArray[np.int64]
_SAME_DEVICE, _SAME_ROLE = 2.0, 1.0


def match_ports(places: DesignedPlaces, slots: FoundSlots, device: Int) -> Int:
    """Return the designed port of each found port, -1 where none is known; slots that were learned are filled in.

    Parameters
    ----------
    places, slots
    device : int64 array, F
        Designed device of each found one, or -1.
    """
    on = device[slots.device]
    on_switch = (on >= 0) & places.is_switch[on]
    slots.slot[~on_switch] = -1
    unknown = np.flatnonzero((on >= 0) & (slots.slot < 0))
    for port in unknown.tolist():
        known = places.port_by_name.get((int(on[port]), slots.port_names[port].lower()), -1)
        if known >= 0:
            slots.slot[port] = places.slot[known]
    _learn(places, slots, on)
    found = places.find(on, slots.slot)
    # Two found ports can't be one designed port: the first keeps it.
    _, first = np.unique(found, return_index=True)
    keep = np.zeros(len(found), np.bool_)
    keep[first] = True
    return np.where(keep, found, -1)


def _learn(places: DesignedPlaces, slots: FoundSlots, on: Int) -> None:
    roles, parts = places.design.devices.role, places.design.devices.part
    designed = places.find(on, slots.slot)
    ports_to: dict[tuple[int, int], list[int]] = defaultdict(list)
    for port in np.flatnonzero(places.peer >= 0).tolist():
        ports_to[int(places.device[port]), int(places.device[places.peer[port]])].append(port)
    votes: dict[tuple[int, int, str], dict[int, float]] = defaultdict(lambda: defaultdict(float))
    users: dict[tuple[int, int, str], set[int]] = defaultdict(set)
    open_ports: list[tuple[int, tuple[int, int, str]]] = []
    for near, far in zip(slots.near.tolist(), slots.far.tolist(), strict=True):
        own = int(on[near])
        if own < 0 or slots.slot[near] >= 0:
            continue
        key = int(roles[own]), int(parts[own]), slots.port_names[near].lower()
        open_ports.append((near, key))
        users[key].add(own)
        other = int(places.peer[designed[far]]) if designed[far] >= 0 else -1
        if other >= 0:
            if roles[places.device[other]] == roles[own]:
                votes[key][int(places.slot[other])] += (
                    _SAME_DEVICE if places.device[other] == own else _SAME_ROLE
                )
            continue
        choices = ports_to.get((own, int(on[far])), []) if on[far] >= 0 else []
        for port in choices:
            votes[key][int(places.slot[port])] += 1 / len(choices)
    chosen = _choose(votes, users)
    for port, key in open_ports:
        slots.slot[port] = chosen.get(key, -1)


def _choose(
    votes: dict[tuple[int, int, str], dict[int, float]], users: dict[tuple[int, int, str], set[int]]
) -> dict[tuple[int, int, str], int]:
    """Return the slot of each name: the one of most votes that no other name of one of its devices has."""
    rank: dict[tuple[int, int, str], int] = {}
    count: dict[tuple[int, int], int] = defaultdict(int)
    for key in sorted(votes, key=lambda key: (key[:2], natural_order(key[2]))):
        rank[key] = count[key[:2]]
        count[key[:2]] += 1
    ballots = [
        (-number, abs(slot - rank[key]), rank[key], slot, key)
        for key, own in votes.items()
        for slot, number in own.items()
    ]
    chosen: dict[tuple[int, int, str], int] = {}
    holders: dict[tuple[int, int, int], set[int]] = defaultdict(set)
    for _, _, _, slot, key in sorted(ballots):
        place = (key[0], key[1], slot)
        if key not in chosen and not holders[place] & users[key]:
            chosen[key] = slot
            holders[place] |= users[key]
    return chosen
