"""``perfquery`` and ``ibqueryerrors`` of infiniband-diags → :class:`LinkCounters`.

Manual pages perfquery(8) and ibqueryerrors(8) (https://github.com/linux-rdma/rdma-core).
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import BinaryIO

from gpufabric.formats.clean_text import read_clean
from gpufabric.formats.counter_rows import CounterRows
from gpufabric.records.link_counters import LinkCounters

_MAX_LINE = 4096
_PERF_HEAD = re.compile(
    r"#?\s*Port (?:extended )?counters:\s*Lid\s+(\d{1,6})\s+port\s+(\d{1,3}).*", re.IGNORECASE
)
_PERF_VALUE = re.compile(r"\s*([A-Za-z][A-Za-z0-9]{1,60}):\.{2,}(\S{1,40})\s*(?:\(.*\))?\s*")
_ERRORS_HEAD = re.compile(r'\s*Errors for\s+(?:0x([0-9a-fA-F]{1,16})\s+)?"(.*)"\s*')
_ERRORS_PORT = re.compile(r"\s*GUID\s+0x([0-9a-fA-F]{1,16})\s+port\s+(ALL|\d{1,3}):\s*(.*)", re.IGNORECASE)
_ERRORS_VALUE = re.compile(r"\[([A-Za-z][\w ]{1,60}?)\s*==\s*(\d{1,20})[^\]]{0,40}\]")
_QUIET = re.compile(r"\s*(?:#.*|Link info:.*|-+|PortSelect:.*|CounterSelect2?:.*)")
_NAMED = re.compile(r"MF0;\s*(.*):[^:/]*(?:/\S*)?")


def read_perfquery(source: str | Path | BinaryIO, name: str = "") -> LinkCounters:
    """Read the output of ``perfquery``, also of several calls one after the other.

    Returns
    -------
    LinkCounters
        Devices as ``lid N``.

    Raises
    ------
    InputError
        When the file can't be opened or read. What is in it never raises.
    """
    text = read_clean(source, name)
    rows = CounterRows(text, "perfquery")
    values: dict[str, float] | None = None
    for line in text.lines:
        content = line.text[:_MAX_LINE]
        head = _PERF_HEAD.fullmatch(content)
        found = _PERF_VALUE.fullmatch(content)
        if head is not None:
            values = rows.port(f"lid {head[1]}", head[2], line.number)
        elif found is not None and values is not None:
            if not (rows.put(values, found[1], found[2]) or found[2].startswith("0x")):
                rows.miss(line.number)
        elif content.strip() and not _QUIET.fullmatch(content):
            rows.miss(line.number)
        if rows.full:
            break
    return rows.finish()


def read_ibqueryerrors(source: str | Path | BinaryIO, name: str = "") -> LinkCounters:
    """Read the output of ``ibqueryerrors``; sums over all ports of a switch are left out.

    Returns
    -------
    LinkCounters
        Devices by name.

    Raises
    ------
    InputError
        When the file can't be opened or read. What is in it never raises.
    """
    text = read_clean(source, name)
    rows = CounterRows(text, "ibqueryerrors")
    device = ""
    for line in text.lines:
        content = line.text[:_MAX_LINE]
        head = _ERRORS_HEAD.fullmatch(content)
        port = _ERRORS_PORT.fullmatch(content)
        if head is not None:
            named = _NAMED.fullmatch(head[2].strip()[:128])
            device = named[1] if named else head[2].strip()
        elif port is not None:
            if port[2].upper() != "ALL":
                values = rows.port(device or f"0x{port[1]}", port[2], line.number)
                for counter, number in _ERRORS_VALUE.findall(port[3]):
                    rows.put(values, counter, number)
        elif content.strip() and not _QUIET.fullmatch(content):
            rows.miss(line.number)
        if rows.full:
            break
    return rows.finish()
