"""``rocm-smi --showtopo``, ``amd-smi topology`` and its ``--json`` → :class:`AmdTopology`.

A table that is not symmetric, or whose diagonal is not 0, was altered or mixed from two servers: it is refused.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

from gpufabric.errors import printable
from gpufabric.formats.clean_text import CleanText, read_clean
from gpufabric.formats.read_notes import ReadNotes, notes_on
from gpufabric.records.gpu_links import AmdTopology
from gpufabric.units import counted

MAX_GPUS = 256
_MAX_TABLES = 32
_TITLE = re.compile(r"^\s*(?:=+ (.{1,60}?) =+|([A-Z][A-Z -]{1,40} TABLE):?)\s*$")
_NAME = re.compile(r"GPU\d{1,3}|[0-9a-fA-F]{4}:[0-9a-fA-F]{2}:[0-9a-fA-F]{2}\.[0-7]")
_NUMA = re.compile(r"^\s*GPU\[(\d{1,3})\]\s*: \(Topology\) Numa (Node|Affinity): (-?\d{1,4})")
_QUIET = re.compile(
    r"^\s*(?:=+[^=]*=*|Legend:|<BW from>.*|[\w/, -]{1,40} = .{1,80}|.*(?:amd|rocm)-smi\b.*|WARNING:.*)?\s*$"
)
#: Words of a title → the field that its table fills.
_FIELDS = (("weight", "weights"), ("hops", "hops"), ("link type", "link_types"))
_JSON_KEYS = {
    "weights": ("weight",),
    "hops": ("num_hops", "hops"),
    "link_types": ("link_type", "type"),
}
_T = TypeVar("_T")


@dataclass
class _Tables:
    gpus: list[str] = field(default_factory=list)
    rows: dict[str, dict[str, list[str]]] = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)
    numa: dict[int, int] = field(default_factory=dict)


def read(source: str | Path | BinaryIO, name: str = "") -> AmdTopology:
    """Read the output of one of the two tools.

    Raises
    ------
    InputError
        When the file can't be opened. What is in it never raises.
    """
    return read_part(read_clean(source, name))


def read_part(text: CleanText) -> AmdTopology:
    """Read such an output of a text; see :func:`read`."""
    notes = notes_on(text, "an output of rocm-smi or amd-smi")
    tables = _Tables()
    first = next((line.text.strip() for line in text.lines if line.text.strip()), "")
    if first.startswith(("[", "{")):
        _read_json(text, tables, notes)
    else:
        _read_tables(text, tables, notes)
    if not tables.rows:
        notes.cut(text.lines_read, "no table of GPUs was found")
    return _finish(text, tables, notes)


def _read_tables(text: CleanText, tables: _Tables, notes: ReadNotes) -> None:
    title = ""
    columns: list[str] = []
    for line in text.lines:
        words = line.text.split()
        found = _TITLE.match(line.text)
        if found is not None:
            title = printable(found[1] or found[2], 60).strip().lower()
            columns = []
        elif (numa := _NUMA.match(line.text)) is not None:
            if numa[2] == "Node" and len(tables.numa) < MAX_GPUS:
                tables.numa[int(numa[1])] = int(numa[3])
        elif title and words and all(_NAME.fullmatch(word) for word in words):
            columns = words[:MAX_GPUS]
            _columns(columns, line.number, tables, notes)
        elif columns and words and _NAME.fullmatch(words[0]) and len(words) - 1 == len(columns):
            _row(title, words, line.number, tables, notes)
        elif _QUIET.match(line.text) is None:
            notes.missed(line.number, len(line.text))


def _columns(columns: list[str], number: int, tables: _Tables, notes: ReadNotes) -> None:
    if len(set(columns)) < len(columns):
        notes.add("input-contradiction", "error", number, "a GPU stands twice in the header of a table")
    if not tables.gpus:
        tables.gpus = list(dict.fromkeys(columns))


def _row(title: str, words: list[str], number: int, tables: _Tables, notes: ReadNotes) -> None:
    if title not in tables.rows and len(tables.rows) >= _MAX_TABLES:
        return
    rows = tables.rows.setdefault(title, {})
    tables.lines.setdefault(title, number)
    if words[0] in rows:
        notes.add("input-contradiction", "error", number, f"row {words[0]} stands twice in one table")
        return
    rows[words[0]] = words[1:]


def _read_json(text: CleanText, tables: _Tables, notes: ReadNotes) -> None:
    try:
        document = json.loads("\n".join(line.text for line in text.lines))
    except (ValueError, RecursionError):
        notes.cut(text.lines_read, "the JSON breaks off or is not well formed")
        return
    entries = document if isinstance(document, list) else [document]
    entries = [entry for entry in entries if isinstance(entry, dict)][:MAX_GPUS]
    tables.gpus = [printable(str(e.get("bdf", f"GPU{e.get('gpu', i)}")), 40) for i, e in enumerate(entries)]
    number = text.lines[0].number
    for field_name, keys in _JSON_KEYS.items():
        rows = {name: _json_row(entry, keys) for name, entry in zip(tables.gpus, entries, strict=True)}
        if all(len(row) == len(tables.gpus) for row in rows.values()):
            title = {"weights": "weight", "hops": "hops", "link_types": "link type"}[field_name]
            tables.rows[title], tables.lines[title] = rows, number


def _json_row(entry: dict[str, Any], keys: tuple[str, ...]) -> list[str]:
    """Return one GPU's cells: a list of links, or an object from gpu_0, gpu_1, … to the value."""
    links = entry.get("links")
    if isinstance(links, list):
        chosen = [link for link in links if isinstance(link, dict)][:MAX_GPUS]
        values = [next((link[key] for key in keys if key in link), None) for link in chosen]
    else:
        found: dict[str, Any] = next((entry[key] for key in keys if isinstance(entry.get(key), dict)), {})
        values = list(found.values())[:MAX_GPUS]
    return [printable(str(value), 20) for value in values if value is not None]


def _finish(text: CleanText, tables: _Tables, notes: ReadNotes) -> AmdTopology:
    weights: tuple[tuple[int, ...], ...] = ()
    hops: tuple[tuple[int, ...], ...] = ()
    types: tuple[tuple[str, ...], ...] = ()
    other: dict[str, tuple[tuple[str, ...], ...]] = {}
    for title in tables.rows:
        field_name = next((name for words, name in _FIELDS if words in title), "")
        if field_name == "weights":
            weights = _square(title, tables, notes, _whole)
        elif field_name == "hops":
            hops = _square(title, tables, notes, _whole)
        elif field_name == "link_types":
            types = _square(title, tables, notes, _kind)
        else:
            other[title] = tuple(tuple(printable(c, 20) for c in row) for row in tables.rows[title].values())
    numa = tuple(tables.numa.get(i, -1) for i in range(len(tables.gpus))) if tables.numa else ()
    return AmdTopology(
        gpus=tuple(tables.gpus),
        weights=weights,
        hops=hops,
        link_types=types,
        numa_nodes=numa,
        other_tables=other,
        file=notes.name,
        findings=notes.finish(),
        lines_read=len(text.lines),
        lines_not_understood=notes.missed_lines,
    )


def _whole(word: str) -> int | None:
    return int(word) if re.fullmatch(r"\d{1,6}", word) else None


def _kind(word: str) -> str | None:
    if word in {"0", "SELF", "N/A"}:
        return "SELF" if word != "N/A" else ""
    return word.upper() if re.fullmatch(r"[A-Za-z_]{2,12}", word) else None


def _square(
    title: str, tables: _Tables, notes: ReadNotes, value: Callable[[str], _T | None]
) -> tuple[tuple[_T, ...], ...]:
    """Return a table's cells; nothing, with a finding, when it is not square, not symmetric or wrong on its diagonal."""
    rows, line = tables.rows[title], tables.lines[title]
    if list(rows) != tables.gpus:
        notes.cut(
            line, f"table {title} has {counted(len(rows), 'row')} for {counted(len(tables.gpus), 'GPU')}"
        )
        return ()
    cells = [[value(word) for word in row] for row in rows.values()]
    known = [[cell for cell in row if cell is not None] for row in cells]
    size = len(tables.gpus)
    if any(len(row) != size for row in known):
        notes.add(
            "input-contradiction",
            "error",
            line,
            f"table {title} has cells that are no such value; it is not used",
        )
        return ()
    uneven = [(i, j) for i in range(size) for j in range(i) if known[i][j] != known[j][i]]
    if uneven:
        i, j = uneven[0]
        pair = f"{tables.gpus[i]}–{tables.gpus[j]} is {known[i][j]} one way and {known[j][i]} the other"
        notes.add(
            "input-contradiction", "error", line, f"table {title} is not symmetric: {pair}; it is not used"
        )
        return ()
    if any(known[i][i] not in {0, "SELF", ""} for i in range(size)):
        notes.add(
            "input-contradiction", "error", line, f"the diagonal of table {title} is not 0; it is not used"
        )
        return ()
    return tuple(tuple(row) for row in known)
