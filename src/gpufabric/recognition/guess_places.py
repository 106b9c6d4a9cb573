"""Devices without a name of the design → guesses of what they are and which ports they have, to begin matching with.

Files of the subnet manager say what is a switch and number its ports; cable lists and LLDP have words only. What a device is,
is told by the words on its ports where they are those of the design, else by how its number of links and those of its neighbours
compare with the design. What a port is, is told by the same words, else by the order of all words that devices of a role use.
"""

from __future__ import annotations

from collections import defaultdict

import numpy as np
from numpy.typing import NDArray

from gpufabric.recognition.designed_places import DesignedPlaces
from gpufabric.recognition.found_slots import FoundSlots, natural_order
from gpufabric.records.cluster import UNKNOWN, DeviceKind

Int = NDArray[np.int64]
_SURE_WORDS = 0.6
_MANY = -1


def guess_places(places: DesignedPlaces, slots: FoundSlots) -> Int:
    """Fill in the kinds of devices and the slots of ports that the files do not tell.

    Parameters
    ----------
    places
    slots
        Of the found fabric; its ``kind`` and ``slot`` are filled in.

    Returns
    -------
    int64 array
        Ports whose slot was guessed here.
    """
    if not (len(slots.near) and (places.peer >= 0).any()):
        return np.empty(0, np.int64)
    words = {is_switch: _slots_by_word(places, is_switch) for is_switch in (True, False)}
    role = _roles(places, slots, words)
    kinds = places.design.devices.kind
    kind_of_role = {int(r): int(kinds[np.argmax(places.design.devices.role == r)]) for r in np.unique(role)}
    guessed = np.array([kind_of_role[int(r)] for r in role], slots.kind.dtype)
    slots.kind = np.where(slots.kind == UNKNOWN, guessed, slots.kind)
    return _fill_slots(places, slots, role, words)


def _slots_by_word(places: DesignedPlaces, is_switch: bool) -> dict[str, int]:
    """Return the slot of each name of a port of switches, or of other devices, where all that have the name agree."""
    found: dict[str, int] = {}
    for port in np.flatnonzero((places.peer >= 0) & (places.is_switch[places.device] == is_switch)).tolist():
        name, slot = places.port_labels[port].lower(), int(places.slot[port])
        if found.setdefault(name, slot) != slot:
            found[name] = _MANY
    return found


def _roles(places: DesignedPlaces, slots: FoundSlots, words: dict[bool, dict[str, int]]) -> Int:
    """Return the role of the design that each found device is most like."""
    switch = _told_switch(slots, words)
    profiles = _profiles(places.device[places.peer >= 0], _far_devices(places), len(places.is_switch))
    linked = np.flatnonzero(profiles[:, 0] > 0)
    keys = np.column_stack([profiles[linked], places.design.devices.role[linked]]).round(3)
    kinds = np.unique(keys, axis=0)
    roles = kinds[:, -1].astype(np.int64)
    role_is_switch = np.array(
        [bool(places.is_switch[np.argmax(places.design.devices.role == role)]) for role in roles], np.bool_
    )
    own = _profiles(slots.device[slots.near], slots.device[slots.far], len(slots.kind))
    unique, code = np.unique(np.column_stack([own, switch]), axis=0, return_inverse=True)
    best = np.empty(len(unique), np.int64)
    for row, profile in enumerate(unique):
        distance = np.abs(kinds[:, :-1] - profile[:-1]).sum(axis=1)
        # Where words or the file say what it is, only roles of this kind are compared.
        told = profile[-1]
        against = (
            (told != UNKNOWN) & (role_is_switch != bool(told == 1)) & (np.unique(role_is_switch).size > 1)
        )
        best[row] = roles[int(np.argmin(distance + np.where(against, 1e6, 0.0)))]
    return best[code.ravel()]


def _far_devices(places: DesignedPlaces) -> Int:
    return places.device[places.peer[places.peer >= 0]]


def _profiles(near: Int, far: Int, count: int) -> NDArray[np.float64]:
    """Return of each device the logarithms of its links and of the mean, least and largest number of links of its neighbours."""
    degree = np.bincount(near, minlength=count).astype(np.float64)
    logs = np.log2(np.maximum(degree, 1))
    mean = np.bincount(near, logs[far], count) / np.maximum(degree, 1)
    spread = np.bincount(near, (logs[far] - mean[near]) ** 2, count) / np.maximum(degree, 1)
    return np.column_stack([np.where(degree > 0, logs, -1.0), mean, np.sqrt(np.maximum(spread, 0))])


def _told_switch(slots: FoundSlots, words: dict[bool, dict[str, int]]) -> Int:
    """Return 1 for what is a switch by its file or the words on its ports, 0 for what is none, -1 unknown."""
    told = np.where(
        slots.kind == UNKNOWN, UNKNOWN, (slots.kind == DeviceKind.SWITCH).astype(np.int64)
    ).astype(np.int64)
    count = len(told)
    linked = np.unique(slots.near)
    names = [slots.port_names[port].lower() for port in linked.tolist()]
    votes = []
    for mine, other in ((True, False), (False, True)):
        hits = np.array([name in words[mine] and name not in words[other] for name in names], np.float64)
        votes.append(np.bincount(slots.device[linked], hits, count))
    total = np.bincount(slots.device[linked], minlength=count)
    for value, own in ((1, votes[0]), (0, votes[1])):
        told[(told == UNKNOWN) & (total > 0) & (own >= _SURE_WORDS * total)] = value
    return told


def _fill_slots(
    places: DesignedPlaces, slots: FoundSlots, role: Int, words: dict[bool, dict[str, int]]
) -> Int:
    linked = np.unique(slots.near)
    open_ports: Int = linked[slots.slot[linked] < 0]
    is_switch = slots.kind[slots.device] == DeviceKind.SWITCH
    for port in open_ports.tolist():
        slots.slot[port] = max(words[bool(is_switch[port])].get(slots.port_names[port].lower(), -1), -1)
    left: dict[int, list[int]] = defaultdict(list)
    filled: dict[int, int] = defaultdict(int)
    for port in open_ports.tolist():
        one = int(role[slots.device[port]])
        left[one].append(port)
        filled[one] += int(slots.slot[port] >= 0)
    for one, ports in left.items():
        if filled[one] < _SURE_WORDS * len(ports):
            _by_order(places, slots, one, ports)
    return open_ports


def _by_order(places: DesignedPlaces, slots: FoundSlots, role: int, ports: list[int]) -> None:
    """Give ports of one role the slots of the design in the order of all their names."""
    mine = (places.peer >= 0) & (places.design.devices.role[places.device] == role)
    wanted = np.unique(places.slot[mine]).tolist()
    names = sorted({slots.port_names[port].lower() for port in ports}, key=natural_order)
    if len(names) > len(wanted):
        return
    place = dict(zip(names, wanted, strict=False))
    for port in ports:
        slots.slot[port] = place[slots.port_names[port].lower()]
        slots.guessed[port] = True
