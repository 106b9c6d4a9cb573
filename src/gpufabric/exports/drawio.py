"""Cluster → a draw.io diagram with the tiers above each other."""

from __future__ import annotations

from collections.abc import Iterator
from xml.sax.saxutils import quoteattr

from gpufabric.errors import printable
from gpufabric.exports.drawn_groups import DETAIL, DrawnGroups, drawn_groups
from gpufabric.exports.text_pieces import text_pieces
from gpufabric.records.export_target import ExportedFile, ExportSource, ExportTarget

_MOST_LINES = 2000
_WIDTH, _HEIGHT, _GAP, _STEP = 150, 40, 30, 220
_LONGEST = 200
_FILLS = {0: "#d5e8d4", 1: "#dae8fc", 2: "#ffe6cc", 3: "#f8cecc"}
_OTHER_FILL = "#f5f5f5"
_LINE = "endArrow=none;html=0;fontSize=9;strokeColor=#999999;"


def write(source: ExportSource) -> tuple[ExportedFile, ...]:
    """Return ``fabric.drawio``; equal devices are folded into one box where there are too many links to show.

    Raises
    ------
    InputError
        If the chosen fabrics have no links.
    """
    drawn = drawn_groups(source, _MOST_LINES)
    return (ExportedFile("fabric.drawio", text_pieces(_lines(source.cluster.name, drawn))),)


def _lines(name: str, drawn: DrawnGroups) -> Iterator[str]:
    yield '<?xml version="1.0" encoding="UTF-8"?>'
    yield '<mxfile host="gpufabric">'
    yield f'  <diagram id="fabric" name={_attribute(name)}>'
    yield '    <mxGraphModel grid="1" gridSize="10" page="0" math="0" shadow="0">'
    yield "      <root>"
    yield '        <mxCell id="0"/>'
    yield '        <mxCell id="1" parent="0"/>'
    for row, (label, (x, y)) in enumerate(zip(drawn.labels, _places(drawn.tiers), strict=True)):
        fill = _FILLS.get(drawn.tiers[row], _OTHER_FILL)
        style = f"rounded=0;whiteSpace=wrap;html=0;fillColor={fill};strokeColor=#666666;"
        yield f'        <mxCell id="d{row}" value={_attribute(label)} style="{style}" vertex="1" parent="1">'
        yield f'          <mxGeometry x="{x}" y="{y}" width="{_WIDTH}" height="{_HEIGHT}" as="geometry"/>'
        yield "        </mxCell>"
    for row, (low, high, text) in enumerate(drawn.lines):
        yield (
            f'        <mxCell id="l{row}" value={_attribute(text)} style="{_LINE}" edge="1" parent="1" '
            f'source="d{low}" target="d{high}">'
        )
        yield '          <mxGeometry relative="1" as="geometry"/>'
        yield "        </mxCell>"
    yield "      </root>"
    yield "    </mxGraphModel>"
    yield "  </diagram>"
    yield "</mxfile>"


def _places(tiers: tuple[int, ...]) -> list[tuple[int, int]]:
    """Return the upper left corner of each box: rows of tiers, the highest on top, each centred."""
    rows: dict[int, int] = {}
    column = []
    for tier in tiers:
        column.append(rows.get(tier, 0))
        rows[tier] = column[-1] + 1
    widest, top = max(rows.values()), max(tiers)
    pitch = _WIDTH + _GAP
    return [
        (at * pitch + (widest - rows[tier]) * pitch // 2, (top - tier) * _STEP)
        for tier, at in zip(tiers, column, strict=True)
    ]


def _attribute(text: str) -> str:
    return quoteattr(printable(text, _LONGEST))


TARGET = ExportTarget(
    name="drawio",
    title="draw.io (diagrams.net)",
    files="fabric.drawio",
    kept="devices or groups of equal ones by tier, and between them how many links of which rate",
    lost="ports, cables, racks and GPUs; in groups, which device is linked with which",
    network="any",
    source="mxGraph model of draw.io, https://www.drawio.com/doc/faq/diagram-source-edit, read 2026-12-01",
    write=write,
    options=(DETAIL,),
)
