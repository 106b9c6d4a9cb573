"""What the readers of fabric files collect, device by device and end by end → :class:`FoundFabric`."""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterable, Sequence
from itertools import starmap

import numpy as np
from numpy.typing import NDArray

from gpufabric.errors import printable
from gpufabric.formats.paired_ends import PairedEnds, pair_ends
from gpufabric.records.cluster import (
    UNKNOWN,
    Assemblies,
    Cluster,
    Devices,
    Fabric,
    Gpus,
    Links,
    Modules,
    Ports,
)
from gpufabric.records.findings import Finding, Severity
from gpufabric.records.found_fabric import FoundFabric, PortState
from gpufabric.units import counted

MAX_ENDS = 1 << 21
"""Ends of links, and ports, that one fabric may have: over three times those of 200,000 GPUs in three tiers."""
FINDINGS_SHOWN = 20
_NAME_LIMIT = 128
_NOTE_LIMIT = 200


class FoundRows:
    """Devices, ports and link ends in the order in which they are first named. Names are made safe for a terminal."""

    def __init__(self, network: str) -> None:
        self.networks = [network]
        self.files: list[str] = []
        self.formats: list[str] = []
        self.findings: list[Finding] = []
        self.lines_read = self.lines_not_understood = 0
        self.left_out: dict[str, int] = {}
        self._file = 0
        self._suppressed: dict[tuple[str, Severity], int] = {}
        self._devices: dict[object, int] = {}
        self._name: list[str] = []
        self._model: list[str] = []
        self._kind, self._device_file, self._device_line = array("b"), array("i"), array("q")
        self._guid, self._port_guid = array("Q"), array("Q")
        self._ports: dict[tuple[int, str], int] = {}
        self._port_network, self._own = array("h"), array("b")
        self._port_name: list[str] = []
        self._note: dict[int, str] = {}
        self._cable: dict[int, str] = {}
        self._rack: dict[int, str] = {}
        self._speed: dict[int, tuple[int, str]] = {}
        self._port_device, self._number, self._state = array("i"), array("i"), array("b")
        self._rate = array("d")
        self._end, self._far, self._end_file, self._end_line = array("i"), array("i"), array("i"), array("q")
        self._end_rate = array("d")

    def start_file(self, name: str, format_name: str) -> None:
        """Say which file the rows from now on come from."""
        self.files.append(printable(name, _NOTE_LIMIT))
        self.formats.append(format_name)
        self._file = len(self.files) - 1

    def use_file(self, file: int) -> None:
        """Say that the rows from now on come from one of the files that were started."""
        self._file = file

    @property
    def full(self) -> bool:
        """Whether no more rows are taken."""
        return max(len(self._end), len(self._port_name), len(self._name)) >= MAX_ENDS

    @property
    def end_count(self) -> int:
        """How many link ends were told of so far."""
        return len(self._end)

    def where(self, line: int) -> str:
        """Return ``file:line`` of a line of the present file."""
        return f"{self.files[-1]}:{line}"

    def add_device(self, key: object, name: str, kind: int, line: int, guid: int = 0, model: str = "") -> int:
        """Return the row of the device that is known by *key*; what was unknown of it so far is filled in."""
        row = self._devices.setdefault(key, len(self._name))
        if row == len(self._name):
            self._name.append(printable(name, _NAME_LIMIT))
            self._model.append(printable(model, _NOTE_LIMIT))
            self._kind.append(kind)
            self._guid.append(guid)
            self._device_file.append(self._file)
            self._device_line.append(line)
            return row
        if self._kind[row] == UNKNOWN:
            self._kind[row] = kind
        self._model[row] = self._model[row] or printable(model, _NOTE_LIMIT)
        self._guid[row] = self._guid[row] or guid
        return row

    def add_port(self, device: int, name: str, number: int = UNKNOWN, guid: int = 0, note: str = "") -> int:
        """Return the row of a port of a device, by its name there."""
        row = self._ports.setdefault((device, name), len(self._port_name))
        if row == len(self._port_name):
            self._port_name.append(printable(name, _NAME_LIMIT))
            self._port_device.append(device)
            self._number.append(number)
            self._port_guid.append(guid)
            self._port_network.append(len(self.networks) - 1)
            self._own.append(False)
            self._state.append(PortState.UNKNOWN)
            self._rate.append(np.nan)
        if note and row not in self._note:
            self._note[row] = printable(note, _NOTE_LIMIT)
        return row

    def set_port(self, port: int, rate: float = np.nan, state: int = PortState.UNKNOWN) -> None:
        """Note what the port itself says of its rate (bytes/s) and state."""
        self._own[port] = True
        if not math.isnan(rate):
            self._rate[port] = rate
        if state != PortState.UNKNOWN:
            self._state[port] = state

    def add_end(self, port: int, far: int, line: int, rate: float = np.nan) -> None:
        """Note that *port* is told to be linked with the port *far*."""
        self._own[port] = True
        self._end.append(port)
        self._far.append(far)
        self._end_file.append(self._file)
        self._end_line.append(line)
        self._end_rate.append(rate)

    def set_cable(self, port: int, part: str) -> None:
        """Note of what part the cable at a port is, where that is told."""
        if part.strip():
            self._cable[port] = printable(part.strip(), _NAME_LIMIT)

    def set_speed(self, port: int, speed: tuple[int, str]) -> None:
        """Note width and generation of the link at a port, where they are told."""
        self._speed[port] = speed

    def set_rack(self, device: int, rack: str) -> None:
        """Note in which rack a device is, where that is told; the first that tells it counts."""
        if rack.strip():
            self._rack.setdefault(device, printable(rack.strip(), _NAME_LIMIT))

    def note(self, rule: str, severity: Severity, line: int, message: str, fix: str = "") -> None:
        """Add a finding at a line of the present file; of one kind only the first 20 are kept, the rest is counted."""
        self.note_at(rule, severity, self.where(line), message, fix)

    def note_at(self, rule: str, severity: Severity, where: str, message: str, fix: str = "") -> None:
        """Add a finding anywhere."""
        seen = self._suppressed.get((rule, severity), -FINDINGS_SHOWN)
        self._suppressed[rule, severity] = seen + 1
        if seen < 0:
            self.findings.append(Finding(rule, severity, where, message, fix=fix))

    def miss(self, line: int, message: str) -> None:
        """Count a line that was not understood."""
        self.lines_not_understood += 1
        self.note("found-lines", "info", line, message)

    def end_file(self, lines: int, stopped: str = "") -> None:
        """Count the lines of the present file; *stopped* says why it was not read to its end."""
        self.lines_read += lines
        if stopped or self.full:
            reason = stopped or f"more than {MAX_ENDS:,} ports or link ends"
            self.note(
                "found-file-cut", "warning", lines, f"the file ends early: {reason}", "give the whole file"
            )

    def finish(self) -> FoundFabric:
        """Pair the ends of links and return the fabric; ends that contradict each other become findings."""
        paired = pair_ends(*(np.array(c) for c in (self._end, self._far, self._end_rate, self._end_line)))
        self._tell_of_ends(paired)
        if not len(paired.first):
            self.note(
                "found-no-links",
                "error",
                max(self.lines_read, 1),
                f"no link was found ({counted(len(self._name), 'device')} named)",
                "give the whole output, taken where the fabric is up",
            )
        for (rule, severity), more in self._suppressed.items():
            if more > 0:
                text = f"{counted(more, 'more finding')} of this kind"
                self.findings.append(Finding(rule, severity, self.files[-1], text))
        self._suppressed.clear()
        state = np.array(self._state, np.int8)
        linked = np.concatenate([paired.port_a, paired.port_b])
        state[linked] = np.where(state[linked] == PortState.UNKNOWN, PortState.UP, state[linked])
        return FoundFabric(
            cluster=self._cluster(paired),
            formats=tuple(dict.fromkeys(self.formats)),
            files=tuple(self.files),
            device_guid=np.array(self._guid, np.uint64),
            device_model=tuple(self._model),
            port_guid=np.array(self._port_guid, np.uint64),
            port_number=np.array(self._number, np.int32),
            port_state=state,
            port_own=np.array(self._own, np.bool_),
            port_note=tuple(self._note.get(row, "") for row in range(len(self._port_name))),
            link_ends=paired.ends,
            link_part=self._cables(paired),
            link_speed=self._speeds(paired),
            device_rack=tuple(self._rack.get(row, "") for row in range(len(self._name)))
            if self._rack
            else (),
            findings=tuple(self.findings),
            lines_read=self.lines_read,
            lines_not_understood=self.lines_not_understood,
            left_out=tuple(self.left_out.items()),
        )

    def port_label(self, port: int) -> str:
        """Return ``device:port``."""
        return f"{self._name[self._port_device[port]]}:{self._port_name[port]}"

    def _cables(self, paired: PairedEnds) -> tuple[str, ...]:
        if not self._cable:
            return ()
        ends = zip(paired.port_a.tolist(), paired.port_b.tolist(), strict=True)
        return tuple(self._cable.get(a, "") or self._cable.get(b, "") for a, b in ends)

    def _speeds(self, paired: PairedEnds) -> tuple[tuple[int, str] | None, ...]:
        if not self._speed:
            return ()
        ends = zip(paired.port_a.tolist(), paired.port_b.tolist(), strict=True)
        return tuple(self._speed.get(a) or self._speed.get(b) for a, b in ends)

    def _tell_of_ends(self, paired: PairedEnds) -> None:
        for row, kept in paired.contradicted:
            port, far = self._end[row], self._far[row]
            a, b = (self._end[kept], self._far[kept])
            text = f"{self.port_label(port)} is told to be linked with {self.port_label(far)}, but "
            self.note_at(
                "found-ends-disagree",
                "error",
                self._place(row),
                f"{text}{self.port_label(a)} with {self.port_label(b)} ({self._place(kept)})",
                "trace the cable, or discover the fabric anew: it changed while it was read",
            )

    def _place(self, row: int) -> str:
        return f"{self.files[self._end_file[row]]}:{self._end_line[row]}"

    def _places(self, files: Iterable[int], lines: Iterable[int]) -> tuple[str, ...]:
        names = self.files
        return tuple(starmap("{}:{}".format, zip((names[f] for f in files), lines, strict=True)))

    def _cluster(self, paired: PairedEnds) -> Cluster:
        devices, links = len(self._name), len(paired.first)
        kind = np.array(self._kind, np.int8)
        device = np.array(self._port_device, np.int32)
        rate = np.array(self._rate, np.float64)
        for end in (paired.port_b, paired.port_a):
            rate[end] = np.where(np.isnan(rate[end]), paired.bytes_per_s, rate[end])
        lower = kind[device[paired.port_a]] > kind[device[paired.port_b]]  # servers (0) below switches (1)
        first = paired.first.tolist()
        return Cluster(
            name=self.files[0] if self.files else "",
            parts=(),
            fabrics=tuple(
                Fabric("found", "unknown", network, UNKNOWN, UNKNOWN, "unknown") for network in self.networks
            ),
            devices=Devices(
                kind=kind,
                role=_unknown(devices, np.int8),
                part=_unknown(devices, np.int32),
                fabric=np.zeros(devices, np.int16),
                unit=_unknown(devices, np.int32),
                pod=_unknown(devices, np.int32),
                rack=_unknown(devices, np.int32),
                plane=_unknown(devices, np.int16),
                rail=_unknown(devices, np.int16),
                index=_unknown(devices, np.int32),
                names=tuple(self._name),
                where=self._places(self._device_file, self._device_line),
            ),
            ports=_found_ports(device, rate, np.array(self._port_network, np.int16), tuple(self._port_name)),
            links=Links(
                port_a=np.where(lower, paired.port_b, paired.port_a).astype(np.int32),
                port_b=np.where(lower, paired.port_a, paired.port_b).astype(np.int32),
                bytes_per_s=paired.bytes_per_s,
                assembly=np.arange(links, dtype=np.int32),
                where=self._places([self._end_file[r] for r in first], [self._end_line[r] for r in first]),
            ),
            assemblies=Assemblies(_unknown(links, np.int32), np.full(links, np.nan)),
            modules=Modules(*_empty(np.int32, np.int16, np.int32)),
            gpus=Gpus(*_empty(np.int32, np.int16, np.int32)),
        )


def _unknown(rows: int, dtype: type) -> NDArray[np.signedinteger]:
    return np.full(rows, UNKNOWN, dtype)


def _empty(*dtypes: type) -> Sequence[NDArray[np.signedinteger]]:
    return [np.empty(0, dtype) for dtype in dtypes]


def _found_ports(
    device: NDArray[np.int32], rate: NDArray[np.float64], network: NDArray[np.int16], names: tuple[str, ...]
) -> Ports:
    rows = len(device)
    return Ports(
        device=device,
        cage=_unknown(rows, np.int16),
        lane=_unknown(rows, np.int16),
        lanes_in_cage=_unknown(rows, np.int16),
        nic=_unknown(rows, np.int16),
        bytes_per_s=rate,
        fabric=network,
        plane=_unknown(rows, np.int16),
        rail=_unknown(rows, np.int16),
        bond=_unknown(rows, np.int16),
        reserved=np.zeros(rows, np.bool_),
        names=names,
    )
