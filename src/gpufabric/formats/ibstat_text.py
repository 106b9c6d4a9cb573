"""``ibstat`` → :class:`RdmaPorts`."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from gpufabric.errors import InputError, printable
from gpufabric.formats.clean_text import CleanText, read_clean
from gpufabric.formats.read_notes import notes_on
from gpufabric.records.rdma_ports import RdmaPort, RdmaPorts
from gpufabric.units import parse_rate

MAX_PORTS = 4096
_CA = re.compile(r"^\s*CA '([\w.:-]{1,64})'\s*$")
_PORT = re.compile(r"^\s*Port (\d{1,3}):\s*$")
_OF_ADAPTER = {
    "ca type",
    "number of ports",
    "firmware version",
    "hardware version",
    "node guid",
    "system image guid",
}
_OF_PORT = {
    "state",
    "physical state",
    "rate",
    "base lid",
    "lmc",
    "sm lid",
    "capability mask",
    "port guid",
    "link layer",
}
_PAIR = re.compile(r"^\s*([A-Za-z][A-Za-z ]{1,24}):\s*(.{0,80}?)\s*$")


@dataclass
class _Port:
    adapter: dict[str, str]
    number: int
    line: int
    facts: dict[str, str] = field(default_factory=dict)


def read(source: str | Path | BinaryIO, name: str = "") -> RdmaPorts:
    """Read the output of ``ibstat``.

    Raises
    ------
    InputError
        When the file can't be opened. What is in it never raises.
    """
    return read_part(read_clean(source, name))


def read_part(text: CleanText) -> RdmaPorts:
    """Read such an output of a text; see :func:`read`."""
    notes = notes_on(text, "an ibstat output")
    adapter: dict[str, str] | None = None
    ports: list[_Port] = []
    facts: dict[str, str] = {}
    for line in text.lines:
        ca, port, pair = _CA.match(line.text), _PORT.match(line.text), _PAIR.match(line.text)
        if ca is not None:
            adapter = facts = {"name": ca[1]}
        elif port is not None and adapter is not None and len(ports) < MAX_PORTS:
            ports.append(_Port(adapter, int(port[1]), line.number))
            facts = ports[-1].facts
        elif pair is not None and pair[1].lower() in _OF_ADAPTER | _OF_PORT and adapter is not None:
            facts[pair[1].lower()] = printable(pair[2], 80)
        elif line.text.strip() and "ibstat" not in line.text:
            notes.missed(line.number, len(line.text))
    closed = tuple(_closed(port) for port in ports)
    if not closed:
        notes.cut(text.lines_read, "no port of an adapter was found")
    for one in closed:
        if not one.state:
            notes.cut(one.line, f"port {one.port} of {one.device} has no state")
        elif not one.active:
            fix = (
                "start or find the subnet manager"
                if one.state == "Initializing"
                else "look at the cable and its other end"
            )
            said = f"port {one.port} of {one.device} is {one.state}, physically {one.physical_state or 'unknown'}"
            notes.add("rdma-port-down", "warning", one.line, said, fix=fix)
    return RdmaPorts(
        ports=closed,
        file=notes.name,
        findings=notes.finish(),
        lines_read=len(text.lines),
        lines_not_understood=notes.missed_lines,
    )


def _closed(port: _Port) -> RdmaPort:
    lid = port.facts.get("base lid", "")
    return RdmaPort(
        device=port.adapter["name"],
        port=port.number,
        device_type=port.adapter.get("ca type", ""),
        firmware=port.adapter.get("firmware version", ""),
        state=port.facts.get("state", ""),
        physical_state=port.facts.get("physical state", ""),
        bytes_per_s=_rate(port.facts.get("rate", "")),
        lid=int(lid) if re.fullmatch(r"\d{1,6}", lid) else 0,
        port_guid=port.facts.get("port guid", ""),
        link_layer=port.facts.get("link layer", ""),
        line=port.line,
    )


def _rate(text: str) -> float:
    found = re.match(r"\d{1,6}(?:\.\d{1,3})?", text)
    try:
        return parse_rate(f"{found[0]} Gb/s") if found is not None else 0.0
    except InputError:
        return 0.0
