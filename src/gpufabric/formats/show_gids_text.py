"""``show_gids`` → :class:`PortGids`."""

from __future__ import annotations

import re
from pathlib import Path
from typing import BinaryIO

from gpufabric.errors import printable
from gpufabric.formats.clean_text import CleanText, read_clean
from gpufabric.formats.read_notes import notes_on
from gpufabric.records.rdma_ports import PortGid, PortGids

MAX_GIDS = 100_000
_ROW = re.compile(
    r"^\s*([\w.-]{1,64})\s+(\d{1,3})\s+(\d{1,5})\s+([0-9a-fA-F]{1,4}(?::[0-9a-fA-F]{0,4}){2,7})"
    r"(?:\s+(\d{1,3}(?:\.\d{1,3}){3}))?(?:\s+(?:RoCE\s+)?[vV](\d))?(?:\s+([\w.@:-]{1,64}))?\s*$"
)
_SAID = re.compile(r"^\s*n_gids_found=(\d{1,6})\s*$")
_QUIET = re.compile(r"^\s*(?:DEV\s+PORT\s+INDEX.*|-{3,}[\s-]*|.*\bshow_gids\b.*)?\s*$")


def read(source: str | Path | BinaryIO, name: str = "") -> PortGids:
    """Read the output of ``show_gids``.

    Raises
    ------
    InputError
        When the file can't be opened. What is in it never raises.
    """
    return read_part(read_clean(source, name))


def read_part(text: CleanText) -> PortGids:
    """Read such an output of a text; see :func:`read`."""
    notes = notes_on(text, "a show_gids output")
    gids: list[PortGid] = []
    said = -1
    for line in text.lines:
        row, total = _ROW.match(line.text), _SAID.match(line.text)
        if row is not None and len(gids) < MAX_GIDS:
            version = int(row[6]) if row[6] else -1
            gid, ipv4, interface = row[4].lower(), row[5] or "", printable(row[7] or "", 64)
            gids.append(PortGid(row[1], int(row[2]), int(row[3]), gid, ipv4, version, interface, line.number))
        elif total is not None:
            said = int(total[1])
        elif _QUIET.match(line.text) is None:
            notes.missed(line.number, len(line.text))
    if said >= 0 and said != len(gids):
        notes.cut(text.lines_read, f"the output says {said} GIDs and has {len(gids)}")
    elif said < 0:
        notes.cut(text.lines_read, "the last line of show_gids is missing")
    return PortGids(
        gids=tuple(gids),
        count_said=said,
        file=notes.name,
        findings=notes.finish(),
        lines_read=len(text.lines),
        lines_not_understood=notes.missed_lines,
    )
