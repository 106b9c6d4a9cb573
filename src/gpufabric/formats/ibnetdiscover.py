"""The netlist that ``ibnetdiscover`` prints → :class:`FoundFabric`.

A record a node: lines with its IDs, ``Switch <ports> "S-<guid>" # "<name>" …`` or ``Ca …``, then one line a linked port, which
names the far end. Each link stands at both its ends. The forms are those of infiniband-diags
(https://github.com/linux-rdma/rdma-core, infiniband-diags/ibnetdiscover.c and its manual page).
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import BinaryIO

from gpufabric.formats.infiniband_nodes import InfinibandNodes
from gpufabric.formats.log_lines import LogFile, LogLine, strip_prefix
from gpufabric.records.found_fabric import FoundFabric
from gpufabric.records.subnet import MAX_NODE_PORTS

_MAX_LINE = 1024
_NODE = re.compile(r'(Switch|Ca|Hca|Rt|Router)\s+(\d{1,3})\s+"?([SHR])-([0-9a-fA-F]{1,16})"?\s*(?:#\s*(.*))?')
_PORT = re.compile(
    r'\[(\d{1,3})\](?:\[ext \d{1,3}\])?\s*(?:\(([0-9a-fA-F]{1,16})\))?\s*"?([SHR])-([0-9a-fA-F]{1,16})"?'
    r"\[(\d{1,3})\](?:\[ext \d{1,3}\])?\s*(?:\([0-9a-fA-F]{1,16}\))?\s*(?:#\s*(.*))?"
)
_HEADER = re.compile(
    r"(?:vendid|devid|sysimgguid|switchguid|caguid|rtguid|chassisguid)\s*=\s*0x[0-9a-fA-F]{1,16}\s*(?:\(.*\))?|Chassis\s+\d+.*"
)
_BEGIN = re.compile(
    r'\[\d{1,3}\](?:\[ext \d{1,3}\])?[\t ]{0,8}[("]|(?:Switch|Ca|Hca|Rt)\s\d|\b[a-z]{2,10}id=0x|#'
)
_QUOTED = re.compile(r'"(.*)"')
_TAIL = re.compile(r"\s*\b(?:enhanced port 0|base port 0|lid \d+)\b.*|\s+\d+x[A-Z]{3}(?:10)?\s*$")
_SPEED = re.compile(r"(\d{1,2}x[A-Z]{3}(?:10)?)\b[^\"]*$")


def read_ibnetdiscover(source: str | Path | BinaryIO, name: str = "") -> FoundFabric:
    """Read the netlist of ``ibnetdiscover``.

    Parameters
    ----------
    source
        Path of a plain or gzip file, ``-`` for standard input, or an open binary stream.
    name
        What findings call the file; default: the path.

    Returns
    -------
    FoundFabric
        Switches by their GUID, and one server for all adapters that name the same host. Rates are bytes/s each direction.

    Raises
    ------
    InputError
        When the file can't be opened or read. What is in it never raises.
    """
    log = LogFile(source)
    reader = _Reader(name or log.name)
    for line in log.lines():
        reader.take(line)
        if reader.nodes.full:
            break
    return reader.finish(log)


class _Reader:
    """Takes lines one after the other and keeps the node whose record they belong to."""

    def __init__(self, name: str) -> None:
        self.nodes = InfinibandNodes()
        self.nodes.rows.start_file(name, "ibnetdiscover")
        self.node: int | None = None
        self.ports = 0

    def take(self, line: LogLine) -> None:
        """Take one line."""
        text = line.text.strip()
        if not text:
            self.node = None
        elif not (self._known(text, line) or self._known(_after_tags(text), line)):
            self.nodes.rows.miss(line.number, "a line is not part of a netlist of ibnetdiscover")

    def finish(self, log: LogFile) -> FoundFabric:
        """Return what was read."""
        self.nodes.rows.end_file(log.lines_read, log.stopped)
        return self.nodes.finish()

    def _known(self, text: str, line: LogLine) -> bool:
        if len(text) > _MAX_LINE:
            return False
        if text[:1] == "[":
            return self._port(text, line.number)
        if text[:1] == "#" or not text:
            return True
        found = _NODE.match(text)
        if found is None:
            return _HEADER.fullmatch(text) is not None
        self.ports = int(found[2])
        self.node = self.nodes.add_node(
            int(found[4], 16), found[3] == "S", _name(found[5] or ""), line.number, own=True
        )
        return True

    def _port(self, text: str, number: int) -> bool:
        found = _PORT.match(text)
        if found is None or self.node is None:
            return False
        near, far = int(found[1]), int(found[5])
        if not (1 <= near <= max(self.ports, 1) <= MAX_NODE_PORTS + 1 and 1 <= far <= MAX_NODE_PORTS):
            return False
        comment = found[6] or ""
        speed = _SPEED.search(comment)
        other = self.nodes.add_node(int(found[4], 16), found[3] == "S", _name(comment), number)
        port = self.nodes.add_port(self.node, near)
        rate = self.nodes.set_speed(port, speed[1]) if speed else float("nan")
        self.nodes.add_end(port, self.nodes.add_port(other, far), number, rate)
        return True


def _after_tags(text: str) -> str:
    """Return the part of a line from where a netlist's line begins; the tags of launchers may look like port numbers."""
    begin = _BEGIN.search(text[:_MAX_LINE])
    return text[begin.start() :] if begin else strip_prefix(text).strip()


def _name(comment: str) -> str:
    quoted = _QUOTED.search(comment)
    if quoted is not None:
        return quoted[1].strip()
    return _TAIL.sub("", comment).strip().strip('"').strip()
