"""Dumps of forwarding tables → :class:`ForwardingTables`.

Reads what OpenSM writes (``opensm-lfts.dump``) and what ``ibroute`` and ``dump_fts`` of infiniband-diags print: one block a
switch with one line a LID. The forms are those of OpenSM 3.3.23 and infiniband-diags 44.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import numpy as np

from gpufabric.errors import InputError, printable
from gpufabric.records.forwarding_tables import NO_PORT, ForwardingTables
from gpufabric.records.subnet import MAX_NODE_PORTS, MAX_UNICAST_LIDS

_MAX_LINE = 1024
_MAX_ENTRIES = 1 << 28
_MAX_LINES = 1 << 29
_NAME_LIMIT = 128
_HEADER = re.compile(
    rb"Unicast lids \[(?:0x)?0-(0x)?([0-9a-fA-F]{1,5})\] of switch (?:DR path slid \d+; dlid \d+; [\d,]+ )?"
    rb"(?:Lid (\d{1,5}) )?guid 0x([0-9a-fA-F]{1,16}) \((.*)\):"
)
_ENTRY = re.compile(rb"0x([0-9a-fA-F]{4}) (\d{3}) [#:] ?(.*)")
_INFO = re.compile(
    rb"\(?(Switch|Channel Adapter|Router|unknown node and type) ?(?:portguid 0x([0-9a-fA-F]{1,16}))?(?:: '(.*?)')?\)?"
)
_PORTS = {b"%03d %c" % (port, mark): port for port in range(MAX_NODE_PORTS + 1) for mark in b"#:"}
_OTHER = re.compile(rb"(?: *Lid +Out +Destination| +Port +Info|\d+ (?:valid )?lids dumped)\s*")


def read(path: Path) -> ForwardingTables:
    """Return the tables of a dump.

    Parameters
    ----------
    path
        File of one or many switches.

    Raises
    ------
    InputError
        If the file can't be read, a line is not understood, a switch stands twice, or there are more entries than fit a subnet.
    """
    shown = printable(str(path))
    try:
        with path.open("rb") as stream:
            found = _Dump(shown)
            found.read(stream)
    except OSError as error:
        raise InputError(
            f"{shown}: can't be read ({error.strerror}); name a file that OpenSM or dump_fts wrote"
        ) from error
    return found.tables()


class _Dump:
    """What has been read of one dump so far."""

    def __init__(self, name: str) -> None:
        self._file = name
        self._names: list[str] = []
        self._lids: list[int] = []
        self._rows: dict[int, int] = {}
        self._tables: list[bytearray] = []
        self._entries = 0
        self._known: dict[int, tuple[str, int, bool]] = {}
        self._seen: dict[bytes, int] = {}

    def read(self, stream: BinaryIO) -> None:
        table = bytearray()
        for number, line in self._lines(stream):
            # Nearly all of the millions of lines are entries of LIDs that another switch has named before.
            lid, port = self._seen.get(line[:7], len(table)), _PORTS.get(line[7:12], NO_PORT)
            if lid < len(table) and port != NO_PORT:
                table[lid] = port
                continue
            entry = _ENTRY.fullmatch(line)
            if entry is None:
                header = _HEADER.fullmatch(line)
                if header is not None:
                    table = self._begin(number, header)
                elif line and not _OTHER.fullmatch(line):
                    raise self._error(number, "is no line of a forwarding table", line)
                continue
            lid, port = int(entry[1], 16), int(entry[2])
            if lid >= len(table) or port > MAX_NODE_PORTS:
                raise self._error(number, "does not fit the switch above it", line)
            table[lid] = port
            if line[:7] not in self._seen:
                self._name(number, lid, entry[3])
                self._seen[line[:7]] = lid
        if not self._tables:
            raise self._error(1, "no forwarding table begins in this file", b"")

    def _lines(self, stream: BinaryIO) -> Iterator[tuple[int, bytes]]:
        for number in range(1, _MAX_LINES + 1):
            line = stream.readline(_MAX_LINE + 1)
            if not line:
                return
            if len(line) > _MAX_LINE:
                raise self._error(number, f"is longer than {_MAX_LINE} characters", b"")
            yield number, line.rstrip(b"\r\n")
        raise self._error(_MAX_LINES, "is one line too many", b"")

    def _begin(self, number: int, header: re.Match[bytes]) -> bytearray:
        top = int(header[2], 16 if header[1] else 10)
        guid = int(header[4], 16)
        self._entries += top + 1
        if top > MAX_UNICAST_LIDS or self._entries > _MAX_ENTRIES or guid >= 1 << 63:
            raise self._error(number, "has more LIDs than a subnet, or an impossible GUID", header[0])
        if guid in self._rows:
            raise self._error(number, f"is a second table of switch {guid:#018x}", b"")
        self._rows[guid] = len(self._tables)
        self._names.append(_text(header[5].strip(b"'")))
        self._lids.append(int(header[3] or 0))
        self._tables.append(bytearray([NO_PORT]) * (top + 1))
        return self._tables[-1]

    def _name(self, number: int, lid: int, said: bytes) -> None:
        info = _INFO.fullmatch(said.strip())
        if info is None:
            raise self._error(number, "does not say what has this LID", said)
        if info[3] is not None and info[2] is not None:
            self._known[lid] = (_text(info[3]), int(info[2], 16), info[1] == b"Switch")

    def tables(self) -> ForwardingTables:
        width = max(len(table) for table in self._tables)
        if width * len(self._tables) > _MAX_ENTRIES:
            raise self._error(1, "holds more entries than can be kept", b"")
        out = np.full((len(self._tables), width), NO_PORT, np.uint8)
        for row, table in enumerate(self._tables):
            out[row, : len(table)] = np.frombuffer(table, np.uint8)
        names, guids, switch = [""] * width, np.zeros(width, np.int64), np.zeros(width, np.bool_)
        for lid, (name, guid, is_switch) in self._known.items():
            names[lid], guids[lid], switch[lid] = name, min(guid, (1 << 63) - 1), is_switch
        return ForwardingTables(
            tuple(self._names),
            np.array(list(self._rows), np.int64),
            np.array(self._lids, np.int32),
            tuple(names),
            guids,
            switch,
            out,
        )

    def _error(self, number: int, what: str, found: bytes) -> InputError:
        shown = f' (found "{printable(found.decode("utf-8", "replace"))}")' if found else ""
        return InputError(
            f"{self._file}:{number}: {what}{shown}; allowed is what OpenSM writes to opensm-lfts.dump or dump_fts prints; "
            "dump the tables again"
        )


def _text(raw: bytes) -> str:
    return printable(raw.decode("utf-8", "replace"), _NAME_LIMIT)
