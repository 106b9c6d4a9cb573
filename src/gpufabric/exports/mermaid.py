"""Cluster → a Mermaid flowchart, as Markdown pages show it."""

from __future__ import annotations

from collections.abc import Iterator

from gpufabric.errors import printable
from gpufabric.exports.drawn_groups import DETAIL, DrawnGroups, drawn_groups
from gpufabric.exports.text_pieces import text_pieces
from gpufabric.records.export_target import ExportedFile, ExportSource, ExportTarget

_LONGEST = 200
_MOST_LINES = 400
"""Mermaid stops at 500 edges and 50,000 characters unless it is told otherwise (maxEdges, maxTextSize)."""
# Mermaid's escapes for what ends a quoted label or would be taken as markup.
_ESCAPED = str.maketrans({'"': "#quot;", "#": "#35;", "<": "#lt;", ">": "#gt;", "`": "#96;"})


def write(source: ExportSource) -> tuple[ExportedFile, ...]:
    """Return ``fabric.mmd``; equal devices are folded into one box where there are too many links to show.

    Raises
    ------
    InputError
        If the chosen fabrics have no links.
    """
    return (ExportedFile("fabric.mmd", text_pieces(_lines(drawn_groups(source, _MOST_LINES)))),)


def _lines(drawn: DrawnGroups) -> Iterator[str]:
    yield "flowchart BT"
    for row, label in enumerate(drawn.labels):
        yield f'  d{row}["{printable(label, _LONGEST).translate(_ESCAPED)}"]'
    for low, high, text in drawn.lines:
        yield f'  d{low} ---|"{text.translate(_ESCAPED)}"| d{high}'


TARGET = ExportTarget(
    name="mermaid",
    title="Mermaid flowchart",
    files="fabric.mmd",
    kept="devices or groups of equal ones, and between them how many links of which rate",
    lost="ports, cables, racks and GPUs; in groups, which device is linked with which",
    network="any",
    source="Mermaid, flowcharts, https://mermaid.js.org/syntax/flowchart.html, read 2026-12-01",
    write=write,
    options=(DETAIL,),
)
