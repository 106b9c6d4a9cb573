"""Ports in use and parts → how many ports of each switch are taken, held in reserve and still free."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gpufabric.records.cluster import MANAGEMENT_CAGE, UNKNOWN, Cluster, DeviceKind
from gpufabric.records.part_lookup import PartLookup
from gpufabric.records.parts import CageGroup, SwitchPart

_SAME_RATE = 1e-6


@dataclass(frozen=True, slots=True)
class PortRoom:
    """Ports of each device; D rows.

    Attributes
    ----------
    linked, reserved : int64
        Ports that end a link, and ports that are held free on purpose; the switch's own management port is neither.
    free : int64
        Ports of the rate of the device's lower links that its cages could still offer; -1 where the part is not known.
    """

    linked: NDArray[np.int64]
    reserved: NDArray[np.int64]
    free: NDArray[np.int64]


def port_room(cluster: Cluster, parts: PartLookup) -> PortRoom:
    """Return the room that the switches of a cluster have."""
    ports, devices = cluster.ports, len(cluster.devices)
    in_cage = ports.cage != MANAGEMENT_CAGE
    reserved = np.bincount(ports.device[in_cage & ports.reserved], minlength=devices)
    linked = np.bincount(ports.device[in_cage & ~ports.reserved], minlength=devices)
    free = np.full(devices, UNKNOWN, np.int64)
    is_switch = cluster.devices.kind == DeviceKind.SWITCH
    kind = np.stack([cluster.devices.fabric, cluster.devices.role, cluster.devices.part]).astype(np.int64)
    for number, part_id in enumerate(cluster.parts):
        switch = parts.get(part_id)
        if not isinstance(switch, SwitchPart):
            continue
        mine = is_switch & (cluster.devices.part == number)
        for tier in np.unique(kind[:, mine], axis=1).T:
            chosen = mine & (kind == tier[:, None]).all(axis=0)
            free[chosen] = _free_ports(cluster, switch, chosen)[chosen]
    return PortRoom(linked.astype(np.int64), reserved.astype(np.int64), free)


def fabric_cages(switch: SwitchPart) -> Iterator[tuple[int, CageGroup]]:
    """Yield the groups of cages that are not for management, each with the number of its first cage."""
    first = 1
    for group in switch.cages:
        if group.purpose == "fabric":
            yield first, group
        first += group.count


def _free_ports(cluster: Cluster, switch: SwitchPart, chosen: NDArray[np.bool_]) -> NDArray[np.int64]:
    ports, devices = cluster.ports, len(cluster.devices)
    free = np.full(devices, UNKNOWN, np.int64)
    rows = np.flatnonzero(chosen[ports.device] & (ports.cage != MANAGEMENT_CAGE))
    if not len(rows):
        return free
    rate = _lower_rate(cluster, rows)
    fitting = [
        (m.ports / (1 + m.disables_next_cage), first, group, m)
        for first, group in fabric_cages(switch)
        for m in group.modes
        if abs(m.port_bytes_per_s / rate - 1) < _SAME_RATE
    ]
    if not fitting:
        return free
    _, first, group, mode = max(fitting, key=lambda found: found[0])
    rows = rows[(ports.cage[rows] >= first) & (ports.cage[rows] < first + group.count)]
    at_rate = np.isclose(ports.bytes_per_s[rows], rate, rtol=_SAME_RATE)
    same, other = rows[at_rate], rows[~at_rate]
    cages = np.unique(ports.device[other].astype(np.int64) << 16 | ports.cage[other])
    taken = np.bincount(cages >> 16, minlength=devices)
    room = (group.count - taken) // (1 + mode.disables_next_cage) * mode.ports
    if switch.logical_port_limit is not None:
        neighbours, most = switch.logical_port_limit
        beside = np.bincount(ports.device[other], minlength=devices)
        room = np.minimum(room, group.count // neighbours * most - beside)
    free[:] = np.maximum(0, room - np.bincount(ports.device[same], minlength=devices))
    return free


def _lower_rate(cluster: Cluster, rows: NDArray[np.intp]) -> float:
    """Return the most frequent rate of these ports, of those that end a link to a lower tier where there are any."""
    ports = cluster.ports
    below = np.zeros(len(ports), bool)
    below[cluster.links.port_b] = True
    lower = rows[below[rows]]
    rates, counts = np.unique(ports.bytes_per_s[lower if len(lower) else rows], return_counts=True)
    return float(rates[counts.argmax()])
