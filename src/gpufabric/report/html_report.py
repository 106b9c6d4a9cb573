"""Design → one self-contained HTML page: summary, drawings, bill of materials, cabling plan, findings, assumptions, sources.

The page loads nothing, works without scripts (one small script adds search, sorting and paging to tables), follows the reader's
light or dark scheme, and can be printed. The same design gives the same bytes.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from markupsafe import Markup

from gpufabric import __version__
from gpufabric.report.design_text import Section, bill_section, design_sections
from gpufabric.report.html_page import html_page, inline_svg
from gpufabric.report.report_sources import Reference
from gpufabric.report.report_summary import fabric_lines, summary_cards, total_sentence
from gpufabric.units import format_length

MOST_CABLE_ROWS = 3_000
_CABLE_COLUMNS = (
    ("assembly", "cable"),
    ("fabric", "fabric"),
    ("kind", "link"),
    ("a_device", "from"),
    ("a_rack", "rack"),
    ("a_u", "U"),
    ("a_port", "port"),
    ("b_device", "to"),
    ("b_rack", "rack"),
    ("b_u", "U"),
    ("b_port", "port"),
    ("rate_gbps", "Gb/s"),
    ("cable_part", "cable part"),
    ("length_m", "length"),
)
_AMOUNT = re.compile(r"(?:at least )?[\d,]+(?:\.\d+)?(?: [^\d].*)?")
_LOSSES = "What one loss costs"
_FINDING_COLUMNS = ("severity", "where", "what is wrong", "what to do", "rule")


@dataclass(frozen=True, slots=True)
class Table:
    """A table of the page; ``numeric`` columns stand to the right, ``left_out`` rows are in a file only."""

    title: str
    columns: tuple[str, ...]
    rows: Sequence[Sequence[str]]
    numeric: tuple[bool, ...]
    total_rows: int

    @property
    def left_out(self) -> int:
        """Rows that the page does not show."""
        return self.total_rows - len(self.rows)


@dataclass(frozen=True, slots=True)
class Pictures:
    """Drawings as SVG documents: one a fabric, by the name of the fabric, then the floor plan and the rack elevations."""

    fabrics: tuple[tuple[str, str], ...]
    floor_plan: str
    racks: str


def html_report(
    document: Mapping[str, Any],
    pictures: Pictures,
    cabling: pa.Table,
    references: Sequence[Reference],
    files: Mapping[str, str],
) -> str:
    """Return the page.

    Parameters
    ----------
    document
        What the design job calls its document (docs/reference/commands.md); ``n_minus_1`` is shown when it is there.
    pictures
    cabling
        What :func:`gpufabric.report.cabling_plan.cabling_table` returns; of a large one the first rows are shown.
    references
        Where the figures come from.
    files
        What lies beside the page: the name of a file and what it holds.
    """
    sections = design_sections(document)
    tables = {section.title: _table(section) for section in sections}
    fabrics = [
        {
            "name": fabric["name"],
            "about": fabric_lines(fabric),
            "picture": inline_svg(svg),
            "facts": tables.get(f"Fabric {fabric['name']}"),
            "tiers": tables.get(f"Tiers of {fabric['name']}"),
            "bill": _table(bill_section(fabric["bill_of_materials"])),
        }
        for fabric, (_, svg) in zip(document["fabrics"], pictures.fabrics, strict=True)
    ]
    return html_page(
        "report.html.j2",
        {
            "name": document["name"],
            "version": __version__,
            "cards": summary_cards(document),
            "fabrics": fabrics,
            "floor_plan": inline_svg(pictures.floor_plan) if pictures.floor_plan else Markup(),
            "racks": inline_svg(pictures.racks) if pictures.racks else Markup(),
            "rack_table": tables.get("Racks, each"),
            "bill": _table(bill_section(document["bill_of_materials"])),
            "totals": total_sentence(document),
            "cables": _cable_table(cabling),
            "n_minus_1": _n_minus_1(sections, document.get("n_minus_1", ())),
            "findings": _finding_table(document["findings"]),
            "worst": _worst(document["findings"]),
            "assumptions": _assumptions(document),
            "notes": document.get("notes", []),
            "references": references,
            "files": files,
        },
        "report.css",
        "report.js",
    )


def _assumptions(document: Mapping[str, Any]) -> list[str]:
    racks = document.get("racks") or {}
    return [*document.get("assumptions", []), *racks.get("assumptions", [])]


def _table(section: Section, total_rows: int | None = None) -> Table:
    columns = range(len(section.columns))
    numeric = tuple(_is_numeric([row[at] for row in section.rows]) for at in columns)
    total = len(section.rows) if total_rows is None else total_rows
    return Table(section.title, section.columns, section.rows, numeric, total)


def _is_numeric(cells: Sequence[str]) -> bool:
    """Whether a column holds numbers, with or without a unit, and otherwise only gaps."""
    known = [cell for cell in cells if cell not in {"", "unknown"}]
    return bool(known) and all(_AMOUNT.fullmatch(cell) for cell in known)


def _cable_table(cabling: pa.Table) -> Table:
    shown = cabling.slice(0, MOST_CABLE_ROWS)
    columns = [_cells(name, shown[name].to_pylist()) for name, _ in _CABLE_COLUMNS]
    rows = tuple(zip(*columns, strict=True))
    section = Section("Cabling plan", tuple(title for _, title in _CABLE_COLUMNS), rows)
    return _table(section, cabling.num_rows)


def _cells(name: str, values: list[Any]) -> list[str]:
    if name == "length_m":
        return ["" if value is None else format_length(value) for value in values]
    if name == "rate_gbps":
        return ["" if value is None else f"{value:g}" for value in values]
    if name == "kind":
        return ["" if value is None else value.replace("_", "–") for value in values]
    return ["" if value is None else str(value) for value in values]


def _finding_table(findings: Sequence[Mapping[str, Any]]) -> Table:
    order = ("error", "warning", "info")
    found = sorted(findings, key=lambda finding: order.index(finding["severity"]))
    rows = tuple(
        (f["severity"], f["where"], f["message"], f["fix"], f["rule"]) for f in found[:MOST_CABLE_ROWS]
    )
    return _table(Section("Findings", _FINDING_COLUMNS, rows), len(found))


def _worst(findings: Sequence[Mapping[str, Any]]) -> str:
    severities = {finding["severity"] for finding in findings}
    return next((severity for severity in ("error", "warning", "info") if severity in severities), "")


def _n_minus_1(sections: Sequence[Section], rows: Sequence[Mapping[str, Any]]) -> list[Table]:
    """Return the tables of what one loss costs: the sections of that title, or else the rows of the document as they are."""
    found = [_table(section) for section in sections if section.title.startswith(_LOSSES)]
    if found or not rows:
        return found
    flat = [_flat(row) for row in rows]
    columns = tuple(flat[0])
    cells = tuple(tuple(_cell(row.get(column)) for column in columns) for row in flat)
    return [_table(Section(_LOSSES, tuple(column.replace("_", " ") for column in columns), cells))]


def _flat(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return *row* with the values of a mapping in it as columns of their own."""
    flat: dict[str, Any] = {}
    for key, value in row.items():
        flat |= {f"{key} {k}": v for k, v in value.items()} if isinstance(value, Mapping) else {key: value}
    return flat


def _cell(value: Any) -> str:
    if value is None:
        return "unknown"
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    return f"{value:.4g}" if isinstance(value, float) else str(value)
