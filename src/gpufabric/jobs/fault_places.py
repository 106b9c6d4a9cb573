"""The place of a fault as the user names it → links and ports of the cluster."""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

from gpufabric.errors import InputError, did_you_mean, printable
from gpufabric.records.cluster import Cluster, DeviceKind
from gpufabric.records.names import device_names, port_names
from gpufabric.records.part_lookup import PartLookup
from gpufabric.records.parts import ServerPart

_JOIN = re.compile(r"\s+[-–]\s+")
_NUMBER = re.compile(r"(?:(rail|plane)[ :])?\s*(\d{1,6})")
_PADDING = re.compile(r"(?<!\d)0+(?=\d)")
_SUGGESTIONS_FROM = 500
_SHOWN = 8


class FaultPlaces:
    """Looks up devices, ports and links of one cluster by name.

    Parameters
    ----------
    cluster
    parts
        Parts by id, for the labels of server ports and the names of NICs.
    """

    def __init__(self, cluster: Cluster, parts: PartLookup | None = None) -> None:
        self.cluster = cluster
        self._parts = parts
        names: list[str] = device_names(cluster).tolist()
        self._row_of = {name: row for row, name in reversed(list(enumerate(names)))}
        self.port_link = np.full(len(cluster.ports), -1, np.int64)
        for ends in (cluster.links.port_a, cluster.links.port_b):
            self.port_link[ends] = np.arange(len(cluster.links))

    def device(self, name: str, fault: str) -> int:
        """Return the row of a device.

        Raises
        ------
        InputError
            If the cluster has none of that name.
        """
        row = self._row_of.get(name.strip())
        if row is None:
            wanted = name.strip()
            # spine-1 is meant to be spine-01, though spine-16 is as close.
            near = [
                known for known in self._row_of if _PADDING.sub("", known) == _PADDING.sub("", wanted)
            ] or [known for known in self._row_of if known[:3] == wanted[:3] or wanted in known]
            raise InputError(
                f'{fault}: device "{printable(wanted)}" is not in the cluster; use a name of its cabling plan.'
                f"{did_you_mean(wanted[:80], near[:_SUGGESTIONS_FROM])}"
            )
        return row

    def links(self, where: str, fault: str) -> NDArray[np.int64]:
        """Return the links of ``device:port``, or all between A and B of ``A - B``.

        Raises
        ------
        InputError
            If there is none, or a device alone is named.
        """
        ends = _JOIN.split(where.strip())
        if len(ends) > 2:
            raise InputError(f"{fault}: names more than two ends; write device:port or A - B")
        if len(ends) == 1:
            device, port = self._end(ends[0], fault)
            if port < 0:
                raise InputError(
                    f"{fault}: is a whole device; a link is device:port or A - B; {self._ports_of(device)}"
                )
            return np.array([self._link(port, fault)], np.int64)
        (device_a, port_a), (device_b, port_b) = (self._end(end, fault) for end in ends)
        rows = np.intersect1d(self._links_at(device_a, port_a), self._links_at(device_b, port_b))
        if not len(rows):
            raise InputError(f"{fault}: no link joins the two; name the ends of a link of the cabling plan")
        return rows

    def nic_links(self, where: str, fault: str) -> NDArray[np.int64]:
        """Return the links of the NIC that ``server:port`` is a port of, or of ``server:NIC`` or ``server NIC``.

        Raises
        ------
        InputError
            If there is no such NIC, or it has no link.
        """
        device, nic = self._nic(where.strip(), fault)
        ports = self.cluster.ports
        rows = self.port_link[np.flatnonzero((ports.device == device) & (ports.nic == nic))]
        rows = np.unique(rows[rows >= 0])
        if not len(rows):
            raise InputError(f"{fault}: the NIC has no link; name one that does")
        return rows

    def of_number(self, where: str, word: str, fault: str) -> NDArray[np.int64]:
        """Return the links of a rail or plane, counted from 1: those at its switches and at its ports of servers with GPUs.

        Only the first fabric that has more than one rail or plane counts.

        Raises
        ------
        InputError
            If *where* is not ``rail:3`` or ``plane:1``, or there is none of that number.
        """
        found = _NUMBER.fullmatch(where.strip())
        if found is None or found.group(1) not in {None, word}:
            raise InputError(f"{fault}: is not the number of a {word}; write {word}:1 for the first")
        cluster = self.cluster
        ports, devices = cluster.ports, cluster.devices
        column = ports.rail if word == "rail" else ports.plane
        of_device = devices.rail if word == "rail" else devices.plane
        for fabric in range(len(cluster.fabrics)):
            mine = (ports.fabric == fabric) & (self.port_link >= 0)
            most = int(column[mine].max(initial=-1)) + 1
            if most > 1:
                break
        else:
            raise InputError(f"{fault}: no fabric of the cluster has several {word}s; name switches or links")
        number = int(found.group(2)) - 1
        if not 0 <= number < most:
            raise InputError(f"{fault}: there is no such {word}; allowed is {word}:1 to {word}:{most}")
        at_switch = (devices.kind[ports.device] == DeviceKind.SWITCH) & (of_device[ports.device] == number)
        at_server = (devices.kind[ports.device] == DeviceKind.SERVER) & (column == number)
        rows = self.port_link[mine & (at_switch | at_server)]
        return np.unique(rows)

    def swapped(self, where: str, fault: str) -> tuple[int, int, str]:
        """Return two ports of one server whose cables are exchanged, and their names.

        ``server:port`` alone is exchanged with the port of the next rail, in its plane if there is one.

        Raises
        ------
        InputError
            If the ports are not cabled ports of different rails of one server.
        """
        cluster, ports = self.cluster, self.cluster.ports
        ends = [self._end(end, fault) for end in _JOIN.split(where.strip())]
        if len(ends) > 2 or any(port < 0 for _, port in ends) or len({device for device, _ in ends}) > 1:
            raise InputError(
                f"{fault}: is not a port of a server, or two of one; write server:port or server:port - server:port"
            )
        device, one = ends[0]
        if cluster.devices.kind[device] != DeviceKind.SERVER or ports.rail[one] < 0:
            raise InputError(
                f"{fault}: is no port of a rail; name a NIC's port of a server; {self._ports_of(device)}"
            )
        self._link(one, fault)
        if len(ends) == 2:
            other = ends[1][1]
        else:
            alike = (ports.device == device) & (ports.fabric == ports.fabric[one]) & (self.port_link >= 0)
            others = np.flatnonzero(alike & (ports.rail >= 0) & (ports.rail != ports.rail[one]))
            if not len(others):
                raise InputError(f"{fault}: the server has no other rail that its cable could be on")
            steps = (ports.rail[others] - ports.rail[one]) % (int(ports.rail.max()) + 1)
            other = int(others[np.lexsort((steps, ports.plane[others] != ports.plane[one]))[0]])
        self._link(other, fault)
        if ports.rail[other] == ports.rail[one]:
            raise InputError(f"{fault}: both ports are on one rail; name ports of two rails")
        names = port_names(cluster, np.array([one, other]), self._parts)
        server = device_names(cluster, np.array([device]))[0]
        at = f"{printable(server)}:{printable(names[0])} and :{printable(names[1])}"
        return one, other, f"{at} (rails {int(ports.rail[one]) + 1} and {int(ports.rail[other]) + 1})"

    def _end(self, text: str, fault: str) -> tuple[int, int]:
        """Return device and port of ``device`` (port -1) or ``device:port``."""
        if text.strip() in self._row_of:
            return self._row_of[text.strip()], -1
        name, colon, port = text.strip().rpartition(":")
        if not colon:
            return self.device(text, fault), -1
        device = self.device(name, fault)
        rows = np.flatnonzero(self.cluster.ports.device == device)
        known = port_names(self.cluster, rows, self._parts).tolist()
        if port not in known:
            raise InputError(
                f'{fault}: {printable(name)} has no port "{printable(port)}"; {self._ports_of(device)}.'
                f"{did_you_mean(port[:80], known)}"
            )
        return device, int(rows[known.index(port)])

    def _ports_of(self, device: int) -> str:
        rows = np.flatnonzero((self.cluster.ports.device == device) & (self.port_link >= 0))
        names = [printable(name) for name in port_names(self.cluster, rows[:_SHOWN], self._parts)]
        more = f" and {len(rows) - _SHOWN} more" if len(rows) > _SHOWN else ""
        return f"its cabled ports are {', '.join(names)}{more}" if names else "it has no cabled port"

    def _link(self, port: int, fault: str) -> int:
        row = int(self.port_link[port])
        if row < 0:
            device = int(self.cluster.ports.device[port])
            raise InputError(f"{fault}: a port has no link; {self._ports_of(device)}")
        return row

    def _links_at(self, device: int, port: int) -> NDArray[np.int64]:
        if port >= 0:
            return self.port_link[[port]]
        rows = self.port_link[self.cluster.ports.device == device]
        return np.unique(rows[rows >= 0])

    def _nic(self, where: str, fault: str) -> tuple[int, int]:
        for mark in (":", " "):
            name, found, nic = where.partition(mark)
            names = self._nic_names(self._row_of[name]) if found and name in self._row_of else []
            if nic in names:
                return self._row_of[name], names.index(nic)
        device, port = self._end(where, fault)
        number = int(self.cluster.ports.nic[port]) if port >= 0 else -1
        if number < 0:
            some = ", ".join(self._nic_names(device)[:_SHOWN])
            known = f"its NICs begin with {some}" if some else "the server's NICs are not known"
            raise InputError(f"{fault}: is no NIC; write server:port or server:NIC; {known}")
        return device, number

    def _nic_names(self, device: int) -> list[str]:
        number = int(self.cluster.devices.part[device])
        part = self._parts.get(self.cluster.parts[number]) if self._parts and number >= 0 else None
        return [nic.name for nic in part.nics] if isinstance(part, ServerPart) else []
