"""The wiring of a design while mistakes are made in it."""

from __future__ import annotations

import random

import numpy as np
from numpy.typing import NDArray

from gpufabric.jobs.extra_ports import ExtraPort, add_device, add_ports, with_links, with_own_names
from gpufabric.records.cluster import Cluster, DeviceKind, Role
from gpufabric.records.part_set import PartSet
from gpufabric.records.parts import SwitchPart
from gpufabric.records.port_numbers import port_numbers

Int = NDArray[np.int64]
_STRANGERS = ("lab-visitor", "test-box", "spare-unit", "old-node")
_DRAWS = 32
OTHER_CABLE = "other-cable"
"""What is called a cable of a part that the design does not have."""


class BuiltWiring:
    """Links whose ends may be exchanged, lost and slowed down.

    Attributes
    ----------
    port_a, port_b : int64 arrays, L
        Ports of the links of the design as they are built.
    cable : list of str, L
        Parts of their cables; empty where unknown.
    rate : float64 array, L
    kept : bool array, L
    touched : set of int
        Links that a mistake was made at.
    names : list of str
        Of devices.
    dark : list of int
        Ports whose link is down.
    called : dict of int to str
        What devices call themselves that have the name of another one; ``alike_named`` are both.
    """

    def __init__(self, design: Cluster, parts: PartSet, rows: Int) -> None:
        self._design, self._parts, self._rows = with_own_names(design, parts), parts, rows
        links = design.links
        self.port_a, self.port_b = links.port_a.astype(np.int64), links.port_b.astype(np.int64)
        self.rate, self.kept = links.bytes_per_s.copy(), np.ones(len(links), np.bool_)
        part = np.append(design.assemblies.part, -1)[links.assembly].tolist()
        self.cable = [design.parts[one] if one >= 0 else "" for one in part]
        self.touched: set[int] = set()
        self.dark: list[int] = []
        self.called: dict[int, str] = {}
        self.alike_named: set[int] = set()
        self.names = list(self._design.devices.names or ())
        self._port_names = list(self._design.ports.names or ())
        self._device: list[int] = design.ports.device.tolist()
        self._extra: list[ExtraPort] = []
        self._strangers: list[tuple[int, str]] = []
        self._stranger_links: list[tuple[int, int, float]] = []
        self._numbers = port_numbers(design)
        self._filled: set[int] = set()
        self._mine = np.zeros(len(links), np.bool_)
        self._mine[rows] = True
        self._used = {
            (int(device), int(number))
            for device, number in zip(design.ports.device, self._numbers, strict=True)
        }
        peer = np.full(len(design.ports), -1, np.int64)
        peer[links.port_a], peer[links.port_b] = links.port_b, links.port_a
        self._peer = peer
        self._of_device: dict[int, list[int]] = {}
        for row in rows.tolist():
            for end in (self.port_a[row], self.port_b[row]):
                self._of_device.setdefault(self._device[end], []).append(row)

    def free_link(self, chance: random.Random) -> int | None:
        """Return a link in which no mistake was made yet."""
        for _ in range(_DRAWS):
            link = int(self._rows[chance.randrange(len(self._rows))])
            if link not in self.touched and self._is_switch(self.device_b(link)):
                return link
        return None

    def free_device(self, chance: random.Random, role: int) -> int | None:
        """Return a device of a role at none of whose links a mistake was made."""
        choices = [device for device in self._of_device if self._design.devices.role[device] == role]
        for _ in range(_DRAWS if choices else 0):
            device = chance.choice(choices)
            if device not in self.alike_named and not self.touched.intersection(self._of_device[device]):
                return device
        return None

    def links_of(self, device: int) -> Int:
        """Return the links of a device."""
        return np.array(self._of_device[device], np.int64)

    def alike(self, one: int, other: int) -> bool:
        """Say whether swapping two links shows: they have one rate and like ends, and are not between the same two devices."""
        roles = self._design.devices.role
        a, c = (self._device[self.port_a[link]] for link in (one, other))
        b, d = (self.device_b(link) for link in (one, other))
        same = roles[a] == roles[c] and roles[b] == roles[d] and self.rate[one] == self.rate[other]
        return bool(same) and (a, b) != (c, d)

    def device_b(self, link: int) -> int:
        """Return the device at the upper end of a link."""
        return self._device[int(self.port_b[link])]

    def role(self, device: int) -> int:
        """Return the role of a device."""
        return int(self._design.devices.role[device])

    def label(self, port: int) -> str:
        """Return ``device:port``."""
        return f"{self.names[self._device[port]]}:{self._port_names[port]}"

    def ends(self, link: int) -> str:
        """Return between which ports a link is."""
        return f"between {self.label(int(self.port_a[link]))} and {self.label(int(self.port_b[link]))}"

    def other_cable(self, link: int, chance: random.Random) -> str | None:
        """Return another part than that of a link's cable, one that the design has if it can be; None where it is unknown."""
        others = sorted({*self.cable, ""} - {self.cable[link], ""}) or [OTHER_CABLE]
        return chance.choice(others) if self.cable[link] else None

    def free_port(self, switch: int, chance: random.Random, rate: float) -> int | None:
        """Return a port of a switch that the design does not use; a row after all others."""
        part = self._parts.switches.get(self._design.parts[self._design.devices.part[switch]])
        if part is None:
            return None
        lanes = max(int(self._design.ports.lanes_in_cage[self._design.ports.device == switch].max()), 1)
        free = [n for n in range(1, _cages(part) * lanes + 1) if (switch, n) not in self._used]
        if not free:
            return None
        number = chance.choice(free)
        self._used.add((switch, number))
        cage, lane = (number - 1) // lanes + 1, (number - 1) % lanes + 1
        return self._add_port(
            ExtraPort(switch, cage, lane, lanes, rate, f"{cage}/{lane}" if lanes > 1 else f"{cage}")
        )

    def vacated_port(self, role: int, chance: random.Random) -> int | None:
        """Return a port of a switch of a role from which a mistake took the cable away."""
        lost = [int(self.port_b[link]) for link in np.flatnonzero(~self.kept & self._mine).tolist()]
        taken = self._filled.union(self.dark)
        free = [
            port
            for port in lost
            if port not in taken and self._design.devices.role[self._device[port]] == role
        ]
        if not free:
            return None
        port = chance.choice(free)
        self._filled.add(port)
        return port

    def add_stranger(self, port: int, rate: float, chance: random.Random) -> str:
        """Link a device that is in no plan with a port, and return its name."""
        name = f"{chance.choice(_STRANGERS)}-{len(self._strangers) + 1}"
        servers = np.flatnonzero(self._design.devices.role == Role.SERVER)
        device = len(self.names)
        self.names.append(name)
        self._strangers.append((int(servers[0]), name))
        own = self._add_port(ExtraPort(device, 1, 1, 1, rate, "port1"))
        self._stranger_links.append((own, port, rate))
        return name

    def exchange(self, one: int, other: int) -> bool:
        """Give each of two devices the cables of the other, port by port; say whether they have the same ports and differ."""
        slots = [self._slots(device) for device in (one, other)]
        shared = np.intersect1d(self._of_device[one], self._of_device[other])
        if slots[0].keys() != slots[1].keys() or len(shared) or len(slots[0]) < 2:
            return False
        to = {slots[0][key]: slots[1][key] for key in slots[0]}
        to |= {new: old for old, new in to.items()}
        if not any(self._peer_device(a) != self._peer_device(b) for a, b in to.items()):
            return False
        rows = [*self._of_device[one], *self._of_device[other]]
        for ends in (self.port_a, self.port_b):
            ends[rows] = [to.get(port, port) for port in ends[rows].tolist()]
        return True

    def cluster(self) -> Cluster:
        """Return the cluster as built: links of the design that are left in their order, then those of strangers."""
        built = self._design
        for like, name in self._strangers:
            built = add_device(built, like, name)
        built = add_ports(built, self._extra)
        more = np.array([ends[:2] for ends in self._stranger_links], np.int64).reshape(-1, 2)
        rates = np.array([ends[2] for ends in self._stranger_links], np.float64)
        none = np.full(len(more), -1, np.int64)
        return with_links(
            built,
            (np.append(self.port_a[self.kept], more[:, 0]), np.append(self.port_b[self.kept], more[:, 1])),
            np.append(self.rate[self.kept], rates),
            np.append(self._design.links.assembly[self.kept].astype(np.int64), none),
        )

    def cables(self) -> list[str]:
        """Return the part of each cable of :meth:`cluster`; empty where it is unknown."""
        kept = [self.cable[link] for link in np.flatnonzero(self.kept).tolist()]
        return [*kept, *[""] * len(self._stranger_links)]

    def _add_port(self, port: ExtraPort) -> int:
        self._extra.append(port)
        self._device.append(port.device)
        self._port_names.append(port.name)
        return len(self._device) - 1

    def _is_switch(self, device: int) -> bool:
        return bool(self._design.devices.kind[device] == DeviceKind.SWITCH)

    def _peer_device(self, port: int) -> int:
        return self._device[int(self._peer[port])]

    def _slots(self, device: int) -> dict[tuple[int, int], int]:
        ports = self._design.ports
        found = {}
        for link in self._of_device[device]:
            for port in (int(self.port_a[link]), int(self.port_b[link])):
                if self._device[port] == device:
                    found[int(ports.cage[port]), int(ports.lane[port])] = port
        return found


def _cages(part: SwitchPart) -> int:
    return sum(group.count for group in part.cages if group.purpose == "fabric")
