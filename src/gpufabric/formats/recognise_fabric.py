"""A file about a fabric of unknown format → its format, by content → :class:`FoundFabric`."""

from __future__ import annotations

import itertools
import re
import shutil
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import BinaryIO, cast

from gpufabric.formats.cable_columns import guessed_columns, has_ports, has_titles
from gpufabric.formats.cable_list import read_cable_list
from gpufabric.formats.fabric_readers import FABRIC_READERS
from gpufabric.formats.log_lines import LogFile
from gpufabric.formats.xlsx_rows import is_xlsx
from gpufabric.records.found_fabric import FoundFabric

_HEAD_LINES = 400
_MAX_LINE = 1024
_KEPT_IN_MEMORY = 1 << 24
#: Lines that only one format has, in the order in which they decide; each may stand behind the tags of launchers.
_OPENS: dict[str, re.Pattern[str]] = {
    "": re.compile(
        r'^Errors for (?:0x[0-9a-f]{1,16} )?"', re.MULTILINE
    ),  # ibqueryerrors shows lines of iblinkinfo
    "ibnetdiscover": re.compile(r'\b(?:Switch|Ca|Hca|Rt)\s{1,8}\d{1,3}\s{1,8}"?[SHR]-[0-9a-fA-F]{4,16}\b'),
    "ibnetdiscover -p": re.compile(r"\b(?:CA|SW|RT)\s{1,8}\d{1,6}\s{1,8}\d{1,3}\s{1,8}0x[0-9a-fA-F]{4,16}\s"),
    "iblinkinfo": re.compile(r"\d\[[\s\d]{0,4}\]\s{0,4}==\("),
    "ibdiagnet db_csv": re.compile(r"^START_(?:NODES|LINKS|PORTS)\s*$", re.MULTILINE),
    "ibdiagnet lst": re.compile(
        r"^\s{0,8}\{\s{0,4}(?:CA|SW|RT)\b[^\n]{0,400}\bNodeGUID:[^\n]{0,800}\}\s{0,4}PHY=", re.MULTILINE
    ),
    "lldp json": re.compile(r'"lldp"\s{0,8}:\s{0,8}[\[{]'),
    "lldp table": re.compile(
        r"\bLocalPort\s+RemoteDevice\s+RemotePortID\b|\bDevice ID\s+Local Intf\s+Hold-?time\b"
        r"|\bPort\s+Neighbor Device ID\s+Neighbor Port ID",
        re.IGNORECASE,
    ),
    "lldp details": re.compile(
        r"\bInterface:\s{1,8}[^\s,]{1,64}, via: (?:LLDP|CDP)|\bLocal Port id:\s|\bdetected \d{1,4} LLDP neighbors",
        re.IGNORECASE,
    ),
    "dot": re.compile(r"^\s{0,8}(?:strict\s+)?graph\b[^\n]{0,200}\{", re.MULTILINE),
    "containerlab or air": re.compile(
        r'^\s{0,8}topology:\s*$|^\s{0,16}"content"\s{0,4}:\s{0,4}\{', re.MULTILINE
    ),
}


def recognise_fabric(source: str | Path | BinaryIO, columns: Mapping[str, str] | None = None) -> str:
    """Return the key of ``FABRIC_READERS`` that a file is of; an empty text for none.

    A file with all the titles of *columns* in one row is a cable list.

    Raises
    ------
    InputError
        When the file can't be opened or read.
    """
    if is_xlsx(source):
        return "cable list"
    lines = [line.text[:_MAX_LINE] for line in itertools.islice(LogFile(source).lines(), _HEAD_LINES)]
    text = "\n".join(lines)
    for name, opens in _OPENS.items():
        if opens.search(text):
            return name
    rows = [re.split(r"[,;\t|]", line.replace('"', ""))[:200] for line in lines[:40]]
    pairs = itertools.chain(((row, []) for row in rows), zip(rows[1:], rows, strict=False))
    told = columns and any(has_titles(row, columns.values()) for row in rows)
    return "cable list" if told or any(has_ports(guessed_columns(row, above)) for row, above in pairs) else ""


def read_fabric(
    source: str | Path | BinaryIO, name: str = "", columns: Mapping[str, str] | None = None
) -> FoundFabric | None:
    """Read a file about a fabric in whatever format it is; None when it is of none that is known.

    Parameters
    ----------
    source
        Path of a plain or gzip file, ``-`` for standard input, or an open binary stream that can be rewound.
    name
        What findings call the file; default: the path.
    columns
        Titles of the columns of cable lists by field, as :func:`gpufabric.formats.cable_list.read_cable_list` takes them.

    Raises
    ------
    InputError
        When the file can't be opened or read, or a cable list has no such column.
    """
    if isinstance(source, str | Path) and str(source) == "-":
        with tempfile.SpooledTemporaryFile(max_size=_KEPT_IN_MEMORY) as kept:
            shutil.copyfileobj(sys.stdin.buffer, kept)
            kept.seek(0)
            return read_fabric(cast(BinaryIO, kept), name or "standard input", columns)
    found = recognise_fabric(source, columns)
    if not isinstance(source, str | Path):
        source.seek(0)
    if found == "cable list" and columns:
        return read_cable_list(source, name, columns)
    return FABRIC_READERS[found](source, name) if found else None
