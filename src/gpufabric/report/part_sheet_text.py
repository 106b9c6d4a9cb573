"""The sheet of one part → a page of text: figures with numbered sources, and the inside of a server."""

from __future__ import annotations

from gpufabric.records.part_sheet import Figure, PartSheet

_WIDEST_VALUE = 60


def part_sheet_text(sheet: PartSheet) -> str:
    """Return *sheet* as text: what it is, its figures, the picture of its inside, its sources."""
    sources = _numbered_sources(sheet)
    blocks = [_heading(sheet), _figure_lines(sheet, sources)]
    if sheet.picture:
        blocks.append(["Inside:", *sheet.picture])
    if sources:
        blocks.append(["Sources:", *(f"[{number}] {source}" for source, number in sources.items())])
    return "\n\n".join("\n".join(block) for block in blocks)


def _heading(sheet: PartSheet) -> list[str]:
    status = "" if sheet.status == "shipping" else f", {sheet.status}"
    lines = [f"{sheet.id}: {sheet.vendor} {sheet.model} ({sheet.kind}{status})"]
    other = [name for name in (sheet.part_number, *sheet.aliases) if name]
    if other:
        lines.append(f"also known as {', '.join(other)}")
    return [*lines, sheet.description] if sheet.description else lines


def _figure_lines(sheet: PartSheet, sources: dict[str, int]) -> list[str]:
    name_width = max((len(figure.field) for figure in sheet.figures), default=0)
    value_width = min(max((len(figure.text) for figure in sheet.figures), default=0), _WIDEST_VALUE)
    return [
        f"{figure.field:<{name_width}}  {figure.text:<{value_width}}  {_marks(figure, sources)}".rstrip()
        for figure in sheet.figures
    ]


def _marks(figure: Figure, sources: dict[str, int]) -> str:
    marks = [f"[{sources[_source(figure)]}]"] if figure.source else []
    if figure.secondary:
        marks.append("secondary source")
    if figure.assumed:
        marks.append(f"assumed: {figure.assumed}")
    return " ".join(marks)


def _numbered_sources(sheet: PartSheet) -> dict[str, int]:
    texts = dict.fromkeys(_source(figure) for figure in sheet.figures if figure.source)
    return {text: number for number, text in enumerate(texts, start=1)}


def _source(figure: Figure) -> str:
    note = f"; {figure.note}" if figure.note else ""
    return f"{figure.source}, {figure.url}, read {figure.read}{note}"
