"""``nvidia-smi topo -m`` → :class:`ServerTopology`.

The matrix is read as a stream of words, not as a grid: what people paste has tabs turned to blanks, rows wrapped or joined, the
tab in front of the header lost. A device's name begins a row, the words of path classes fill it, what follows is its affinities.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from gpufabric.formats.clean_text import CleanText, read_clean
from gpufabric.formats.read_notes import ReadNotes, notes_on
from gpufabric.records.server_topology import DeviceKind, ServerTopology, TopologyDevice
from gpufabric.units import counted

MAX_DEVICES = 1024
_CELL = re.compile(r"X|NV\d{1,3}|PIX|PXB|PHB|PSB|NODE|SYS|SOC|C2C")
_GPU = re.compile(r"GPU\d{1,4}")
_NIC = re.compile(
    r"NIC\d{1,4}|(?:mlx[45]|bnxt_re|ionic|irdma|rdmap|efa|hfi1|qedr|hns|erdma|roce|ib|rocep|ibp)[\w.-]{0,40}"
)
_AFFINITY = re.compile(r"(?:\d{1,5}(?:-\d{1,5})?)(?:,\d{1,5}(?:-\d{1,5})?){0,400}|N/A")
_HEADINGS = {"CPU": "cpu_affinity", "NUMA": "numa_affinity", "ID": "gpu_numa_id"}
_LEGEND = re.compile(r"(?:NIC )?Legend\b")
_LEGEND_NIC = re.compile(r"\b(NIC\d{1,4})\s*:\s*([\w.:-]{1,64})")
_LEGEND_CLASS = re.compile(r"^\s*(?:X|SYS|SOC|NODE|PHB|PXB|PSB|PIX|C2C|NV#)\s+=|^\s*$|\bLegend\s*:")
#: Words of the legend's lines, for lines that were wrapped.
_LEGEND_TEXT = (
    "connection traversing pcie as well the smp interconnect between numa nodes e.g qpi/upi host bridges within a node bridge"
    " typically cpu multiple without at most single bonded set of nvlinks legend nic self = #"
)
_LEGEND_WORDS = frozenset(_LEGEND_TEXT.split())
_HIDDEN = re.compile(r"(\d{1,6}) NICs found in the topology, only displaying (\d{1,6})")
_PROMPT = re.compile(r"nvidia-smi\s+topo\b")


@dataclass
class _Row:
    name: str
    line: int
    cells: list[str] = field(default_factory=list)
    rest: list[str] = field(default_factory=list)


@dataclass
class _Matrix:
    columns: list[str] = field(default_factory=list)
    rows: dict[str, _Row] = field(default_factory=dict)
    headings: list[str] = field(default_factory=list)
    legend: dict[str, str] = field(default_factory=dict)
    hidden: int = 0
    last_line: int = 0


def read(source: str | Path | BinaryIO, name: str = "") -> ServerTopology:
    """Read the output of ``nvidia-smi topo -m`` (or ``-mp``).

    Raises
    ------
    InputError
        When the file can't be opened. What is in it never raises.
    """
    return read_part(read_clean(source, name))


def read_part(text: CleanText) -> ServerTopology:
    """Read one such output of a text; see :func:`read`."""
    notes = notes_on(text, "an nvidia-smi topo output")
    matrix = _Matrix()
    _read_words(text, matrix, notes)
    devices, cells, cut = _finish(matrix, notes)
    return ServerTopology(
        devices=devices,
        cells=cells,
        cut=cut,
        nics_hidden=matrix.hidden,
        file=notes.name,
        findings=notes.finish(),
        lines_read=len(text.lines),
        lines_not_understood=notes.missed_lines,
    )


def _kind(name: str) -> DeviceKind:
    if _GPU.fullmatch(name):
        return "gpu"
    return "nic" if _NIC.fullmatch(name) else "unknown"


def _read_words(text: CleanText, matrix: _Matrix, notes: ReadNotes) -> None:
    row: _Row | None = None
    in_header = False
    in_legend = False
    for line in text.lines:
        matrix.last_line = line.number
        hidden = _HIDDEN.search(line.text)
        if hidden is not None:
            matrix.hidden = max(int(hidden[1]) - int(hidden[2]), 0)
            continue
        if _LEGEND.search(line.text) or in_legend:
            in_legend = True
            row = None
            _read_legend(line.text, line.number, matrix, notes)
            continue
        understood = not line.text.strip() or _PROMPT.search(line.text) is not None
        for word in () if understood else line.text.split():
            known, row, in_header = _take(word, line.number, row, in_header, matrix)
            understood = understood or known
        if not understood:
            notes.missed(line.number, len(line.text))


def _take(
    word: str, number: int, row: _Row | None, in_header: bool, matrix: _Matrix
) -> tuple[bool, _Row | None, bool]:
    """Take one word of the matrix; return whether it was understood, and the state after it."""
    if _kind(word) != "unknown":
        return _take_name(word, number, in_header, matrix)
    if row is None and word in {*_HEADINGS, "Affinity", "GPU"}:
        heading = _HEADINGS.get("ID" if word == "GPU" else word)
        if heading is not None and heading not in matrix.headings:
            matrix.headings.append(heading)
        return True, None, True
    is_cell = _CELL.fullmatch(word) is not None
    if row is None and in_header and len(matrix.columns) == 1 and is_cell:
        # The header is lost: what looked like it was the name of the first row.
        name = matrix.columns.pop()
        row = matrix.rows[name] = _Row(name, number)
    if row is None:
        return False, None, in_header
    known = False
    if is_cell and not row.rest and len(row.cells) < MAX_DEVICES:
        row.cells.append("SYS" if word == "SOC" else word)
        known = True
    elif _AFFINITY.fullmatch(word) and len(row.rest) < 3:
        row.rest.append(word)
        known = True
    return known, row, False


def _take_name(word: str, number: int, in_header: bool, matrix: _Matrix) -> tuple[bool, _Row | None, bool]:
    header_open = in_header or not (matrix.columns or matrix.rows)
    if header_open and word not in matrix.columns and not matrix.headings:
        if len(matrix.columns) < MAX_DEVICES:
            matrix.columns.append(word)
        return True, None, True
    if word in matrix.rows or len(matrix.rows) >= MAX_DEVICES:
        return False, None, False
    row = matrix.rows[word] = _Row(word, number)
    return True, row, False


def _read_legend(text: str, number: int, matrix: _Matrix, notes: ReadNotes) -> None:
    found = _LEGEND_NIC.findall(text)
    for name, real in found[:MAX_DEVICES]:
        matrix.legend.setdefault(name, real)
    words = (word.strip("(),.:").lower() for word in text.split())
    if not found and not _LEGEND_CLASS.search(text) and any(word not in _LEGEND_WORDS for word in words):
        notes.missed(number, len(text))


def _finish(
    matrix: _Matrix, notes: ReadNotes
) -> tuple[tuple[TopologyDevice, ...], tuple[tuple[str, ...], ...], bool]:
    names = _names(matrix, notes)
    if not matrix.rows:
        notes.cut(matrix.last_line, "no row of the matrix was found")
        return (), (), True
    cells = []
    cut = False
    missing = [name for name in names if name not in matrix.rows]
    for name in names:
        row = matrix.rows.get(name)
        own = (row.cells if row else [])[: len(names)]
        if row is not None and len(row.cells) != len(names):
            cut = True
            have = f"{counted(len(row.cells), 'cell')} for {counted(len(names), 'column')}"
            notes.cut(row.line, f"row {name} has {have}")
        cells.append(tuple(own + [""] * (len(names) - len(own))))
    if missing:
        cut = True
        shown = ", ".join(missing[:8]) + (" …" if len(missing) > 8 else "")
        notes.cut(matrix.last_line, f"the matrix is cut: {counted(len(missing), 'row')} missing ({shown})")
    _check_halves(names, cells, matrix, notes)
    if matrix.hidden:
        notes.add(
            "input-cut",
            "info",
            1,
            f"{counted(matrix.hidden, 'NIC')} left out of the matrix by the tool itself",
        )
    return tuple(_device(name, matrix) for name in names), tuple(cells), cut


def _names(matrix: _Matrix, notes: ReadNotes) -> list[str]:
    names = list(matrix.columns)
    if names:
        strange = [name for name in matrix.rows if name not in names]
        for name in strange:
            notes.add(
                "input-contradiction",
                "warning",
                matrix.rows[name].line,
                f"row {name} has no column of its name",
            )
        return names
    names = list(matrix.rows)
    if names:
        notes.cut(
            next(iter(matrix.rows.values())).line,
            "the header line is missing; the columns are taken to be in the order of the rows",
        )
    widest = min(max((len(row.cells) for row in matrix.rows.values()), default=0), MAX_DEVICES)
    # Rows that are not there still have columns: they are devices without a name.
    return names + [f"column{i + 1}" for i in range(len(names), widest)]


def _check_halves(names: list[str], cells: list[tuple[str, ...]], matrix: _Matrix, notes: ReadNotes) -> None:
    wrong = [
        (i, j)
        for i in range(len(names))
        for j in range(i)
        if cells[i][j] and cells[j][i] and cells[i][j] != cells[j][i]
    ]
    wrong += [(i, i) for i in range(len(names)) if cells[i][i] not in {"X", ""}]
    if wrong:
        i, j = wrong[0]
        row = matrix.rows[names[i]]
        what = f"{names[i]}–{names[j]} is {cells[i][j]} in one half and {cells[j][i]} in the other"
        if i == j:
            what = f"{names[i]} is {cells[i][i]} to itself"
        more = f", and {counted(len(wrong) - 1, 'more pair')}" if len(wrong) > 1 else ""
        notes.add(
            "input-contradiction",
            "warning",
            row.line,
            f"the two halves of the matrix disagree: {what}{more}",
            fix="give the output as the program wrote it",
        )


def _device(name: str, matrix: _Matrix) -> TopologyDevice:
    row = matrix.rows.get(name)
    values = dict(zip(_affinities(matrix), row.rest, strict=False)) if row is not None else {}
    own = values.get("gpu_numa_id", "")
    return TopologyDevice(
        name=name,
        kind=_kind(name),
        real_name=matrix.legend.get(name, name),
        cpu_affinity=_known(values.get("cpu_affinity", "")),
        numa_affinity=_known(values.get("numa_affinity", "")),
        gpu_numa_id=int(own) if own.isdigit() else -1,
        line=row.line if row is not None else 0,
    )


def _affinities(matrix: _Matrix) -> Iterator[str]:
    """Yield the headings that the words behind the cells stand under; older drivers have fewer."""
    yield from matrix.headings or ("cpu_affinity", "numa_affinity", "gpu_numa_id")


def _known(word: str) -> str:
    return "" if word == "N/A" else word
