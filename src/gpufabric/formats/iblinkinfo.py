"""What ``iblinkinfo`` prints → :class:`FoundFabric`.

A heading a node (``Switch: 0x<guid> <name>:`` or ``CA: <name>:``), then a line a port with width, signalling rate of a lane,
state and the far end, which is known by LID only; with ``-l`` each line has the GUIDs and names of both ends. Manual page
iblinkinfo(8) of infiniband-diags (https://github.com/linux-rdma/rdma-core).
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import BinaryIO, NamedTuple

from gpufabric.errors import printable
from gpufabric.formats.infiniband_nodes import NO_GUID, InfinibandNodes
from gpufabric.formats.log_lines import LogFile, LogLine, strip_prefix
from gpufabric.records.found_fabric import FoundFabric, PortState
from gpufabric.records.subnet import MAX_NODE_PORTS

_MAX_LINE = 1024
_HEADING = re.compile(r"(Switch|CA|Router):\s*(?:0x([0-9a-fA-F]{1,16})\s+)?(.*?)\s*:?")
_PORT = re.compile(
    r'(?:0x([0-9a-fA-F]{1,16})\s+)?(?:"(.*?)"\s+)?(\d{1,6})\s+(\d{1,3})\[[\s\d]*\]\s*==\(\s*(.*?)\s*\)==>\s*'
    r'(?:0x([0-9a-fA-F]{1,16})\s+)?(?:(\d{1,6})\s+(\d{1,3}))?\s*\[[\s\d]*\]\s*"(.*)"\s*(?:\((.*)\))?'
)
_STATE = re.compile(
    r"(?:(\d{1,2}X\s+\S{1,12}(?:\s+Gbps)?(?:\s+\(FDR10\))?)\s+)?([A-Za-z]+)\s*/\s*([A-Za-z ]+)", re.IGNORECASE
)


class _Far(NamedTuple):
    """The far end of a port, to be found when all LIDs are known."""

    port: int
    guid: int
    lid: int
    number: int
    name: str
    line: int
    bytes_per_s: float
    remark: str


def read_iblinkinfo(source: str | Path | BinaryIO, name: str = "") -> FoundFabric:
    """Read the output of ``iblinkinfo``, with or without ``-l`` and ``--switches-only``.

    Parameters
    ----------
    source
        Path of a plain or gzip file, ``-`` for standard input, or an open binary stream.
    name
        What findings call the file; default: the path.

    Returns
    -------
    FoundFabric
        Ports that are down are dark. A link that runs slower or narrower than both ends could is a finding.

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
    reader.nodes.rows.end_file(log.lines_read, log.stopped)
    return reader.finish()


class _Reader:
    """Takes lines one after the other; far ends wait until all LIDs are known."""

    def __init__(self, name: str) -> None:
        self.nodes = InfinibandNodes()
        self.nodes.rows.start_file(name, "iblinkinfo")
        self.heading: re.Match[str] | None = None
        self.node_of_lid: dict[int, int] = {}
        self.far: list[_Far] = []

    def take(self, line: LogLine) -> None:
        """Take one line."""
        text = line.text.strip()
        if text and not (self._known(text, line) or self._known(strip_prefix(text).strip(), line)):
            self.nodes.rows.miss(line.number, "a line is not part of an output of iblinkinfo")

    def finish(self) -> FoundFabric:
        """Find the far ends and return the fabric."""
        told: set[tuple[int, int]] = set()
        for far in self.far:
            key = far.guid or NO_GUID + far.lid
            node = self.node_of_lid.get(far.lid) if not far.guid else None
            if node is None:
                node = self.nodes.add_node(key, None, far.name, far.line)
            end = self.nodes.add_port(node, far.number)
            self.nodes.add_end(far.port, end, far.line, far.bytes_per_s)
            if far.remark and (end, far.port) not in told:
                told.add((far.port, end))
                self.nodes.rows.note(
                    "found-below-ability",
                    "warning",
                    far.line,
                    f"a link runs slower than it could: {printable(' '.join(far.remark.split()))}",
                    "reseat or replace the cable, then look at the error counters of both ends",
                )
        return self.nodes.finish()

    def _known(self, text: str, line: LogLine) -> bool:
        if len(text) > _MAX_LINE:
            return False
        if not text or text[:1] == "#":
            return True
        port = _PORT.fullmatch(text) if "==(" in text else None
        if port is not None:
            return self._port(port, line.number)
        heading = _HEADING.fullmatch(text)
        if heading is None:
            return False
        self.heading = heading
        if heading[2]:
            self.nodes.add_node(
                int(heading[2], 16), heading[1] == "Switch", heading[3], line.number, own=True
            )
        return True

    def _port(self, found: re.Match[str], line: int) -> bool:
        guid, name, lid, number, inside, far_guid, far_lid, far_number, far_name, remark = found.groups()
        state = _STATE.fullmatch(inside)
        numbers = int(number), int(far_number or 0)
        if state is None or max(numbers) > MAX_NODE_PORTS:
            return False
        node = self._node(int(guid, 16) if guid else 0, name, line)
        if node is None:
            return False
        self.node_of_lid.setdefault(int(lid), node)
        port = self.nodes.add_port(node, numbers[0])
        if far_lid is None:
            self.nodes.set_port(port, float("nan"), PortState.DARK)
            return True
        up = state[2].lower() == "active"
        self.nodes.set_port(port, float("nan"), PortState.UP if up else PortState.DARK)
        rate = self.nodes.set_speed(port, state[1]) if state[1] else float("nan")
        slow = f"{inside} ({remark.strip()})" if remark and "could be" in remark.lower() else ""
        self.far.append(
            _Far(port, int(far_guid or "0", 16), int(far_lid), numbers[1], far_name.strip(), line, rate, slow)
        )
        return True

    def _node(self, guid: int, name: str | None, line: int) -> int | None:
        """Return the node that a port line is of: by its own GUID, else by the heading above."""
        if self.heading is None:
            if not guid:
                return None
            return self.nodes.add_node(guid, None, (name or "").strip(), line)
        if self.heading[2]:
            return self.nodes.add_node(int(self.heading[2], 16), self.heading[1] == "Switch", "", line)
        if not guid:
            return None
        return self.nodes.add_node(guid, False, self.heading[3], line)
