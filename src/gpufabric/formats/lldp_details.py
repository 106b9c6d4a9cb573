"""Long forms of LLDP neighbours, one field a line → :class:`FoundFabric`.

``lldpctl`` and SONiC ``show lldp neighbors``, NX-OS and EOS ``show lldp neighbors detail``: the fields are the same, only their
spelling and the line that begins a neighbour differ (manual page lldpcli(8) of lldpd, https://lldpd.github.io/usage.html; Cisco
Nexus 9000 and Arista EOS user guides).
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import BinaryIO

from gpufabric.formats.clean_text import CleanLine, by_node, read_clean
from gpufabric.formats.lldp_rows import LldpRows, Neighbour
from gpufabric.records.found_fabric import FoundFabric

_MAX_LINE = 1024
_FIELD = re.compile(r"\s*(?:-\s+)?([A-Za-z][A-Za-z0-9/ _.()-]{0,60}?)\s*:(?:\s+(.*))?")
_LLDPCTL = re.compile(r"\s*Interface:\s*([^\s,]+)\s*,\s*via:.*", re.IGNORECASE)
_EOS_INTERFACE = re.compile(r"\s*Interface\s+(\S+)\s+detected\s+(\d+)\s+LLDP neighbors:?.*", re.IGNORECASE)
_EOS_NEIGHBOUR = re.compile(r"\s*Neighbor\s+\S+.*\bage\b.*", re.IGNORECASE)
_QUIET = re.compile(
    r"\s*(?:-{3,}|={3,}|LLDP neighbors:?|Capability codes:.*|\([A-Z]\)\s.*|Total entries displayed:.*)",
    re.IGNORECASE,
)
_TYPE = re.compile(r"(?:mac|ifname|local|ifalias|ip|interface name)\s+(.*)", re.IGNORECASE)
_FIELDS = {
    "localportid": "local",
    "sysname": "system",
    "systemname": "system",
    "chassisid": "chassis",
    "portid": "port",
    "portdescr": "port_note",
    "portdescription": "port_note",
    "sysdescr": "model",
    "systemdescription": "model",
}


def read_lldp_details(source: str | Path | BinaryIO, name: str = "", device: str = "") -> FoundFabric:
    """Read long forms of LLDP neighbours.

    Parameters
    ----------
    source
        Path of a plain or gzip file, ``-`` for standard input, or an open binary stream.
    name
        What findings call the file; default: the path.
    device
        Whose neighbours these are; default: the prompt before the command, labels in front of the lines, else the file's name.

    Returns
    -------
    FoundFabric
        The local devices and their neighbours; rates are unknown.

    Raises
    ------
    InputError
        When the file can't be opened or read. What is in it never raises.
    """
    text = read_clean(source, name)
    rows = LldpRows(text, "lldp details", device)
    for node, lines in by_node(text.lines).items():
        block = _Block(rows, node)
        for line in lines:
            block.take(line)
        block.flush()
    return rows.finish()


class _Block:
    """Takes the lines of one node and collects the fields of one neighbour after the other."""

    def __init__(self, rows: LldpRows, node: str) -> None:
        self._rows, self._device = rows, node
        self._local = ""
        self._now: Neighbour | None = None

    def take(self, line: CleanLine) -> None:
        """Take one line."""
        text = line.text[:_MAX_LINE]
        if not text.strip() or _QUIET.fullmatch(text):
            return
        prompt = self._rows.prompt(text)
        if prompt is not None:
            self.flush()
            self._device, self._local = prompt, ""
        elif (begin := _LLDPCTL.fullmatch(text)) is not None:
            self._begin(line.number, begin[1])
        elif (interface := _EOS_INTERFACE.fullmatch(text)) is not None:
            self.flush()
            self._local = interface[1]
        elif _EOS_NEIGHBOUR.fullmatch(text):
            self._begin(line.number, self._local)
        elif not self._field(text, line.number) and self._now is None:
            self._rows.miss(line.number)

    def flush(self) -> None:
        """End the neighbour whose fields were collected."""
        if self._now is not None:
            self._rows.add(self._now, self._device)
            self._now = None

    def _begin(self, line: int, local: str) -> None:
        self.flush()
        self._now = Neighbour(line, local)
        self._local = local

    def _field(self, text: str, number: int) -> bool:
        found = _FIELD.match(text)
        if found is None:
            return False
        key = _FIELDS.get(re.sub(r"[^a-z]", "", found[1].lower()))
        if key is None:
            return False
        if key == "chassis" and (self._now is None or self._now.chassis):
            # NX-OS has no line of its own before a neighbour: its first field is the chassis.
            self._begin(number, "" if self._now is not None or not self._local else self._local)
        if self._now is None:
            return False
        value = (found[2] or "").strip()
        typed = _TYPE.fullmatch(value) if key in ("chassis", "port") else None
        if not getattr(self._now, key):
            setattr(self._now, key, typed[1] if typed else value)
        return True
