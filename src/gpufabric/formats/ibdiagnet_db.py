"""``ibdiagnet2.db_csv`` → :class:`FoundFabric`.

Sections between ``START_<NAME>`` and ``END_<NAME>``, each with a line of column names. NODES, PORTS and LINKS are read, all
others passed over. Columns as the public parsers of the file have them; speeds are coded as in ibdm of ibutils2
(https://github.com/Mellanox, ``IBLinkSpeed``), widths as in PortInfo of the InfiniBand specification.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

from gpufabric.formats.infiniband_nodes import InfinibandNodes
from gpufabric.formats.log_lines import LogFile
from gpufabric.records.found_fabric import FoundFabric, PortState
from gpufabric.records.subnet import MAX_NODE_PORTS

_MAX_LINE = 1 << 14
_MARK = re.compile(r"(START|END)_([A-Z0-9_]{1,64})")
_SPEEDS = {
    1: "SDR",
    2: "DDR",
    4: "QDR",
    1 << 8: "FDR",
    2 << 8: "EDR",
    4 << 8: "HDR",
    8 << 8: "NDR",
    1 << 16: "FDR10",
    1 << 24: "XDR",
}
_WIDTHS = {1: 1, 2: 4, 4: 8, 8: 12, 16: 2}
_SWITCH_TYPE = 2
_DOWN, _ACTIVE = 1, 4


def read_ibdiagnet_db(source: str | Path | BinaryIO, name: str = "") -> FoundFabric:
    """Read the database that ibdiagnet leaves in its output folder.

    Parameters
    ----------
    source
        Path of a plain or gzip file, ``-`` for standard input, or an open binary stream.
    name
        What findings call the file; default: the path.

    Returns
    -------
    FoundFabric
        Rates are those of PORTS: bytes/s each direction.

    Raises
    ------
    InputError
        When the file can't be opened or read. What is in it never raises.
    """
    log = LogFile(source)
    reader = _Reader(name or log.name)
    for line in log.lines():
        if line.text.strip():
            reader.take(line.text.strip(), line.number)
        if reader.nodes.full:
            break
    reader.nodes.rows.end_file(log.lines_read, log.stopped)
    return reader.nodes.finish()


class _Reader:
    """Takes lines one after the other and keeps the section and the columns that they belong to."""

    def __init__(self, name: str) -> None:
        self.nodes = InfinibandNodes()
        self.nodes.rows.start_file(name, "ibdiagnet db_csv")
        self.section = ""
        self.columns: list[str] = []
        self.rates: dict[int, float] = {}
        self.takers: dict[str, Callable[[dict[str, str], int], None]] = {
            "NODES": self._node,
            "PORTS": self._port,
            "LINKS": self._link,
        }

    def take(self, text: str, number: int) -> None:
        """Take one line that is not blank."""
        mark = _MARK.fullmatch(text)
        if mark is not None:
            self.section = mark[2] if mark[1] == "START" else ""
            self.columns = []
            return
        taker = self.takers.get(self.section)
        if taker is None:
            if not self.section and text[:1] not in "#-":
                self.nodes.rows.miss(number, "a line is outside the sections of an ibdiagnet database")
            return
        try:
            cells = next(csv.reader([text[:_MAX_LINE]], strict=True))
        except (csv.Error, StopIteration):
            cells = []
        if not self.columns:
            self.columns = [cell.strip().lower() for cell in cells]
            return
        try:
            taker(dict(zip(self.columns, (cell.strip() for cell in cells), strict=True)), number)
        except (KeyError, ValueError):
            self.nodes.rows.miss(number, f"a row of section {self.section} is cut or damaged")

    def _node(self, row: dict[str, str], number: int) -> None:
        is_switch = int(row["nodetype"]) == _SWITCH_TYPE
        self.nodes.add_node(_guid(row["nodeguid"]), is_switch, row["nodedesc"], number, own=True)

    def _port(self, row: dict[str, str], number: int) -> None:
        # A row without these cells tells nothing that is read here.
        width, speed, state = (
            _coded(row.get(key, "")) for key in ("linkwidthactv", "linkspeedactv", "portstate")
        )
        number_of_port = _port_number(row["portnum"], least=0)
        if number_of_port == 0:
            return
        node = self.nodes.add_node(_guid(row["nodeguid"]), None, "", number)
        port = self.nodes.add_port(node, number_of_port)
        known = width in _WIDTHS and speed in _SPEEDS and state != _DOWN
        rate = self.nodes.set_speed(port, f"{_WIDTHS[width]}x{_SPEEDS[speed]}") if known else float("nan")
        states = {_DOWN: PortState.DARK, _ACTIVE: PortState.UP}
        self.nodes.set_port(port, rate, states.get(state, PortState.UNKNOWN))
        self.rates[port] = rate

    def _link(self, row: dict[str, str], number: int) -> None:
        ends = [
            self.nodes.add_port(
                self.nodes.add_node(_guid(row[guid]), None, "", number), _port_number(row[port])
            )
            for guid, port in (("nodeguid1", "portnum1"), ("nodeguid2", "portnum2"))
        ]
        near, far = ends
        self.nodes.add_end(near, far, number, self.rates.get(near, float("nan")))
        self.nodes.add_end(far, near, number, self.rates.get(far, float("nan")))


def _guid(text: str) -> int:
    value = int(text, 16)
    if not 0 < value < 1 << 64:
        raise ValueError
    return value


def _port_number(text: str, least: int = 1) -> int:
    value = int(text)
    if not least <= value <= MAX_NODE_PORTS:
        raise ValueError
    return value


def _coded(text: str) -> int:
    return int(text, 0) if re.fullmatch(r"0x[0-9a-fA-F]{1,8}|[1-9]\d{0,9}", text) else -1
