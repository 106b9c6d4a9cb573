"""Lists of parts and sheets of one part → plain tables: column heads and rows of text."""

from __future__ import annotations

from typing import NamedTuple

from gpufabric.records.part_sheet import Figure, PartList, PartSheet, PartSummary


class TextTable(NamedTuple):
    """A table of text; each row has as many cells as there are columns."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def parts_table(found: PartList) -> TextTable:
    """Return one row a part."""
    rows = tuple((p.id, p.kind, p.vendor, p.model, p.what, _summary_marks(p)) for p in found.parts)
    return TextTable(("id", "kind", "vendor", "model", "what", "notes"), rows)


def sheet_table(sheet: PartSheet) -> TextTable:
    """Return one row a figure: value, source, and whether it is assumed or from a secondary source."""
    rows = tuple((f.field, f.text, _source_text(f), f.url, _figure_marks(f)) for f in sheet.figures)
    return TextTable(("field", "value", "source", "url", "marks"), rows)


def _summary_marks(part: PartSummary) -> str:
    marks = [] if part.status == "shipping" else [part.status]
    if part.own:
        marks.append("own, replaces the shipped part" if part.replaces else "own")
    return ", ".join(marks)


def _source_text(figure: Figure) -> str:
    details = [text for text in (f"read {figure.read}" if figure.read else "", figure.note) if text]
    return f"{figure.source} ({'; '.join(details)})" if details else figure.source


def _figure_marks(figure: Figure) -> str:
    marks = [f"assumed: {figure.assumed}"] if figure.assumed else []
    if figure.secondary:
        marks.append("secondary source")
    return "; ".join(marks)
