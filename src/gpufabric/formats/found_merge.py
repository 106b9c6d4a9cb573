"""Several files about one fabric → one found fabric: LLDP comes as one file a device, InfiniBand as one file a plane.

Devices are one when their GUIDs are, or their names without domain. A port that only the far end tells of is named by what that
heard; it becomes the port that the device itself calls so, or describes so, when a file of that device is there.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from gpufabric.errors import InputError
from gpufabric.formats.found_rows import FoundRows
from gpufabric.formats.lldp_rows import device_key
from gpufabric.records.found_fabric import FoundFabric

_SHORT_FORM = re.compile(r"(?:Eth|Et)[ -]?(\d.*)")


def merge_found(fabrics: Sequence[FoundFabric]) -> FoundFabric:
    """Return one fabric of what several files tell.

    Parameters
    ----------
    fabrics
        At least one.

    Returns
    -------
    FoundFabric
        With the findings of all; ends that contradict each other across files become findings.

    Raises
    ------
    InputError
        If there is no fabric.
    """
    if not fabrics:
        raise InputError("found fabrics: there is nothing to join; name at least one file")
    if len(fabrics) == 1:
        return fabrics[0]
    merge = _Merge(fabrics)
    for number, fabric in enumerate(fabrics):
        merge.add_ports(number, fabric)
    for number, fabric in enumerate(fabrics):
        merge.add_links(number, fabric)
    return merge.rows.finish()


class _Merge:
    """Rows of all files; own ports of all files come first, so that far ends find them."""

    def __init__(self, fabrics: Sequence[FoundFabric]) -> None:
        self.rows = FoundRows(fabrics[0].cluster.fabrics[0].network)
        self._files: dict[str, int] = {}
        self._device: list[list[int]] = []
        self._port: list[dict[int, int]] = []
        self._own: dict[tuple[int, str], int] = {}
        self._by_guid: dict[int, object] = {}
        for fabric in fabrics:
            formats = fabric.formats * len(fabric.files)
            for file, form in zip(fabric.files, formats, strict=False):
                self._files.setdefault(file, len(self.rows.files))
                self.rows.start_file(file, form)
            self.rows.lines_read += fabric.lines_read
            self.rows.lines_not_understood += fabric.lines_not_understood
            self.rows.findings += [f for f in fabric.findings if f.rule != "found-no-links"]
            for what, count in fabric.left_out:
                self.rows.left_out[what] = self.rows.left_out.get(what, 0) + count

    def add_ports(self, number: int, fabric: FoundFabric) -> None:
        """Add all devices of one file, and the ports that they tell of themselves."""
        devices, ports = fabric.cluster.devices, fabric.cluster.ports
        network = fabric.cluster.fabrics[0].network
        if network not in self.rows.networks:
            self.rows.networks.append(network)
        names, where = devices.names or (), devices.where or ()
        rows = []
        for row, name in enumerate(names):
            guid = int(fabric.device_guid[row])
            key = self._by_guid.setdefault(guid, device_key(name)) if guid else device_key(name)
            kind, model = int(devices.kind[row]), fabric.device_model[row]
            rows.append(self.rows.add_device(key, name, kind, self._use(where[row]), guid, model))
            self.rows.set_rack(rows[-1], fabric.device_rack[row] if fabric.device_rack else "")
        self._device.append(rows)
        self._port.append({})
        for port in range(len(ports)):
            if fabric.port_own[port]:
                row = self._add_port(number, fabric, port)
                self._own[rows[ports.device[port]], folded_port(self._name(fabric, port))] = row
                self.rows.set_port(row, float(ports.bytes_per_s[port]), int(fabric.port_state[port]))

    def add_links(self, number: int, fabric: FoundFabric) -> None:
        """Add the links of one file; its far ends by now have their own ports."""
        links = fabric.cluster.links
        where = links.where or ()
        for link in range(len(links)):
            near, far = (self._find(number, fabric, int(end[link])) for end in (links.port_a, links.port_b))
            line, rate = self._use(where[link]), float(links.bytes_per_s[link])
            self.rows.set_cable(near, fabric.link_part[link] if fabric.link_part else "")
            speed = fabric.link_speed[link] if fabric.link_speed else None
            if speed is not None:
                self.rows.set_speed(near, speed)
            told = [bool(fabric.port_own[end[link]]) for end in (links.port_a, links.port_b)]
            if told[0] or fabric.link_ends[link] == 2:
                self.rows.add_end(near, far, line, rate)
            if told[1] or fabric.link_ends[link] == 2:
                self.rows.add_end(far, near, line, rate)

    def _use(self, where: str) -> int:
        file, _, line = where.rpartition(":")
        self.rows.use_file(self._files.get(file, 0))
        return int(line)

    def _name(self, fabric: FoundFabric, port: int) -> str:
        return (fabric.cluster.ports.names or ())[port]

    def _add_port(self, number: int, fabric: FoundFabric, port: int) -> int:
        device = self._device[number][fabric.cluster.ports.device[port]]
        name = self._name(fabric, port)
        known = self._own.get((device, folded_port(name)))
        row = (
            known
            if known is not None
            else self.rows.add_port(
                device,
                name,
                int(fabric.port_number[port]),
                int(fabric.port_guid[port]),
                fabric.port_note[port],
            )
        )
        self._port[number][port] = row
        return row

    def _find(self, number: int, fabric: FoundFabric, port: int) -> int:
        """Return the row of a port, by what its own device calls it where that is known."""
        known = self._port[number].get(port)
        if known is not None:
            return known
        device = self._device[number][fabric.cluster.ports.device[port]]
        note = fabric.port_note[port]
        own = self._own.get((device, folded_port(note))) if note else None
        if (device, folded_port(self._name(fabric, port))) not in self._own and own is not None:
            self._port[number][port] = own
            return own
        return self._add_port(number, fabric, port)


def folded_port(name: str) -> str:
    """Return what spellings of one port have in common: ``Eth1/1`` and ``Et1/1`` are ``Ethernet1/1``; ``eth0`` stays."""
    short = _SHORT_FORM.fullmatch(name)
    return f"Ethernet{short[1]}" if short else name
