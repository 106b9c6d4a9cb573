"""``nvidia-smi topo -p2p r`` (or w, n, a, p) → :class:`PeerAccess`."""

from __future__ import annotations

import re
from pathlib import Path
from typing import BinaryIO

from gpufabric.formats.clean_text import CleanText, read_clean
from gpufabric.formats.read_notes import notes_on
from gpufabric.records.peer_access import PEER_CELLS, PeerAccess

MAX_GPUS = 256
_CELL = rf"(?:X|{'|'.join(PEER_CELLS)})"
_ROW = re.compile(rf"^\s*(GPU\d{{1,3}})((?:\s+{_CELL})+)\s*$")
_HEADER = re.compile(r"^\s*(?:GPU\d{1,3}\s*)+$")
_QUIET = re.compile(
    rf"^\s*(?:Legend:.*|X\s*=.*|(?:{'|'.join(PEER_CELLS)})\s*=.*|.*nvidia-smi topo -p2p.*)?\s*$"
)
_SHOWN = 8


def is_peer_matrix(text: CleanText) -> bool:
    """Say whether a matrix of GPUs has the cells of ``-p2p``: besides X none is one of ``topo -m``."""
    rows = [found for line in text.lines if (found := _ROW.match(line.text)) is not None]
    return any(set(row[2].split()) - {"X"} for row in rows)


def read(source: str | Path | BinaryIO, name: str = "") -> PeerAccess:
    """Read the output of ``nvidia-smi topo -p2p``.

    Raises
    ------
    InputError
        When the file can't be opened. What is in it never raises.
    """
    return read_part(read_clean(source, name))


def read_part(text: CleanText) -> PeerAccess:
    """Read such an output of a text; see :func:`read`."""
    notes = notes_on(text, "an nvidia-smi topo -p2p output")
    rows: dict[str, tuple[str, ...]] = {}
    first = 0
    for line in text.lines:
        row = _ROW.match(line.text)
        if row is not None and row[1] not in rows and len(rows) < MAX_GPUS:
            rows[row[1]] = tuple(row[2].split()[:MAX_GPUS])
            first = first or line.number
        elif row is not None or not (_QUIET.match(line.text) or _HEADER.match(line.text)):
            notes.missed(line.number, len(line.text))
    count = len(rows)
    if any(len(cells) != count for cells in rows.values()) or not rows:
        notes.cut(max(text.lines_read, 1), "the matrix is cut: it is not square")
    cells = tuple((*row, *("",) * count)[:count] for row in rows.values())
    names = tuple(rows)
    refused = [
        f"{names[a]} and {names[b]} ({PEER_CELLS[cells[a][b]]})"
        for a in range(count)
        for b in range(a + 1, count)
        if cells[a][b] not in {"", "X", "OK"}
    ]
    if refused:
        more = f" and {len(refused) - _SHOWN} more pairs" if len(refused) > _SHOWN else ""
        notes.add(
            "gpu-peer-access",
            "warning",
            first,
            f"GPUs may not reach each other: {', '.join(refused[:_SHOWN])}{more}",
            fix="look at the IOMMU, ACS, the container and NCCL_P2P_DISABLE; GPUs made for desks have no peer access",
        )
    return PeerAccess(
        gpus=names,
        cells=cells,
        file=notes.name,
        findings=notes.finish(),
        lines_read=len(text.lines),
        lines_not_understood=notes.missed_lines,
    )
