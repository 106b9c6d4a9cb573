"""Floor plan → an SVG drawing from above, to scale: rows, racks by purpose and power, aisles, trays, distances."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from gpufabric.records.cluster import Cluster
from gpufabric.records.floor_plan import FloorPlan, row_letters
from gpufabric.records.port_cages import cabled_lengths_m
from gpufabric.report.floor_rows import RESERVED, RoomMeasures, RowOfRacks, Run, room_measures, rows_of_racks
from gpufabric.report.rack_groups import RackGroup
from gpufabric.report.svg_document import HEADING_BOTTOM, MARGIN, svg_document
from gpufabric.report.svg_elements import Rect, SvgElements, number, text_width
from gpufabric.units import counted, format_length, format_power

PAGE_WIDTH = 1280.0
_GUTTER, _NARROW_GUTTER = 110.0, 66.0
_PANEL = 380.0
_MOST_PX_PER_M = 60.0
_RACK_TEXT_PX, _RUN_TEXT_PX = 33.0, 16.0
_LINE_TEXT_PX, _TRAY_PX, _FACTS_PX, _LOAD_PX = 12.0, 40.0, 60.0, 26.0
_RIGHT = 70.0
_STYLES = {"compute": "t0", "network": "t1", "management": "t2", "storage": "t3", "reserved": "pod"}
_TEXT = 11


@dataclass(frozen=True, slots=True)
class _Scale:
    """Where metres of the room lie on the page."""

    px_per_m: float
    gutter: float
    room: RoomMeasures

    def x(self, metres: float) -> float:
        return MARGIN + self.gutter + metres * self.px_per_m

    def y(self, metres: float) -> float:
        return HEADING_BOTTOM + 40 + metres * self.px_per_m

    def place(self, row: RowOfRacks, position: int, racks: int) -> Rect:
        """Return the place of some racks of a row, with a gap after them."""
        px = self.room.rack_width_m * self.px_per_m
        left = self.x(row.left_m) + position * px
        gap = 2 if px >= _RACK_TEXT_PX else 0.6
        return Rect(
            left, self.y(row.near_m), max(racks * px - gap, 1.0), self.room.rack_depth_m * self.px_per_m
        )


def draw_floor_plan(cluster: Cluster, plan: FloorPlan, groups: Sequence[RackGroup]) -> str:
    """Return the drawing as an SVG document.

    A small room shows every rack with its power. In a larger one neighbouring racks of one kind are one bar, and the names of
    rows stand at the edge only.

    Parameters
    ----------
    cluster
    plan
    groups
        What :func:`gpufabric.report.rack_groups.rack_groups` returns of the same cluster and plan.
    """
    room = room_measures(plan)
    rows = rows_of_racks(plan, groups)
    gutter = _NARROW_GUTTER if room.column_m else _GUTTER
    fitting = (PAGE_WIDTH - 2 * MARGIN - gutter - _RIGHT) / room.width_m
    scale = _Scale(min(_MOST_PX_PER_M, fitting), gutter, room)
    svg = SvgElements()
    trays = room.line_m * scale.px_per_m >= _TRAY_PX or room.line_m == 0
    if trays:
        _draw_trays(svg, rows, scale)
    for row in rows:
        _draw_row(svg, plan, groups, row, scale)
    _draw_names(svg, rows, scale)
    _draw_distances(svg, scale)
    beside = scale.x(room.width_m) + _RIGHT + 30
    bottom = scale.y(room.depth_m)
    right = beside + _PANEL <= PAGE_WIDTH
    place = (
        Rect(beside, HEADING_BOTTOM + 24, _PANEL, 0)
        if right
        else Rect(MARGIN, bottom + 50, PAGE_WIDTH - 2 * MARGIN, 0)
    )
    loads = room.rack_depth_m * scale.px_per_m >= _LOAD_PX
    free = len(plan.racks) - sum(row.racks for row in rows)
    purposes = [*_purposes(plan, groups), *([("reserved", free, 0.0)] if free else [])]
    end = _draw_panel(svg, _facts(cluster, plan, room), (purposes, trays, loads), place)
    racks = counted(len(plan.racks) - free, "rack")
    racks += f" and {counted(free, 'reserved place')}" if free else ""
    about = f"{racks} in {counted(len(rows), 'row')}, seen from above, to scale"
    size = (PAGE_WIDTH, max(end, bottom + 24) + 20)
    return svg_document("Floor plan", f"{cluster.name} – floor plan", about, size, svg)


def _draw_row(
    svg: SvgElements, plan: FloorPlan, groups: Sequence[RackGroup], row: RowOfRacks, scale: _Scale
) -> None:
    single = scale.room.rack_width_m * scale.px_per_m >= _RACK_TEXT_PX
    for run in row.runs:
        at = int(plan.racks.position[run.first])
        if run.kind == RESERVED:
            places = counted(run.racks, "reserved place")
            svg.rect(
                scale.place(row, at, run.racks), "pod", radius=2, hover=f"{row_letters(row.row)}: {places}"
            )
            continue
        group = groups[run.kind]
        if single:
            for step in range(run.racks):
                _draw_rack(svg, group, plan.racks.names[run.first + step], scale.place(row, at + step, 1))
        else:
            _draw_run(svg, group, (row, run), scale.place(row, at, run.racks))


def _draw_names(svg: SvgElements, rows: Sequence[RowOfRacks], scale: _Scale) -> None:
    """Write the names of rows: of one column beside it, of several above each row or, where that is too narrow, each column."""
    pitch = scale.room.line_m * scale.px_per_m or math.inf
    if scale.room.column_m == 0:
        step = max(1, math.ceil(_LINE_TEXT_PX / pitch))
        for row in rows[::step]:
            y = scale.y(row.near_m) + 12
            name = row_letters(row.row)
            if pitch < _FACTS_PX:
                svg.text(MARGIN, y, f"Row {name}", "dim", 12)
                continue
            svg.text(MARGIN, y, f"Row {name}", "strong", 12)
            svg.text(MARGIN, y + 16, counted(row.racks, "rack"), "dim", 12)
            if row.power_w:
                svg.text(MARGIN, y + 32, format_power(row.power_w), "dim", 12)
        return
    if pitch >= _TRAY_PX and scale.room.row_m * scale.px_per_m >= 90:
        for row in rows:
            power = f", {format_power(row.power_w)}" if row.power_w else ""
            text = f"{row_letters(row.row)}{power}"
            svg.text(scale.x(row.left_m) + 7, scale.y(row.near_m) - 13, text, "dim", _TEXT)
        return
    for words, y, pick in (
        ("Top rows", scale.y(0) - 6, min),
        ("Last rows", scale.y(scale.room.depth_m) + 14, max),
    ):
        svg.text(MARGIN, y, words, "dim", _TEXT)
        for left in sorted({row.left_m for row in rows}):
            end = pick((row for row in rows if row.left_m == left), key=lambda row: row.near_m)
            svg.text(scale.x(left), y, row_letters(end.row), "strong", _TEXT)


def _draw_rack(svg: SvgElements, group: RackGroup, name: str, place: Rect) -> None:
    svg.rect(
        place, f"box {_STYLES[group.purpose]}", radius=2, hover=f"{name}: {group.purpose}, {_power(group)}"
    )
    _draw_load(svg, group, place)
    svg.text(place.middle, place.y + 17, name, "strong middle", _TEXT)
    watts, unit = _power_words(group)
    if place.h >= 60:
        svg.text(place.middle, place.y + 34, watts, "middle", _TEXT)
        svg.text(place.middle, place.y + 47, unit, "dim middle", _TEXT)


def _draw_run(svg: SvgElements, group: RackGroup, which: tuple[RowOfRacks, Run], place: Rect) -> None:
    row, run = which
    racks = counted(run.racks, f"{group.purpose} rack")
    each = f"{racks}, {_power(group)}{' each' if run.racks > 1 else ''}"
    style = "over" if _is_over(group) and place.h < _LOAD_PX else _STYLES[group.purpose]
    svg.rect(place, f"box {style}", radius=1, hover=f"{row_letters(row.row)}: {each}")
    if place.h >= _LOAD_PX:
        _draw_load(svg, group, place)
    text = next((t for t in (each, racks, f"{run.racks:,}") if text_width(t, _TEXT) <= place.w - 8), "")
    if text and place.h >= _RUN_TEXT_PX:
        svg.text(
            place.middle, place.y + place.h / 2 + (1 if place.h >= _LOAD_PX else 4), text, "middle", _TEXT
        )


def _is_over(group: RackGroup) -> bool:
    return group.power_w > group.limit_w * (1 + 1e-9)


def _draw_load(svg: SvgElements, group: RackGroup, place: Rect) -> None:
    """Draw a bar along the lower edge: the share of the rack's power that is used."""
    if math.isnan(group.limit_w) or group.power_w <= 0:
        return
    share = min(1.0, group.power_w / group.limit_w)
    track = Rect(place.x + 3, place.bottom - 8, max(place.w - 6, 0), 5)
    svg.rect(track, "track", radius=1)
    style = "over" if _is_over(group) else "load"
    svg.rect(Rect(track.x, track.y, track.w * share, track.h), style, radius=1)


def _power(group: RackGroup) -> str:
    if group.power_unknown:
        return "power unknown"
    return f"{'at least ' if group.unknown_power else ''}{format_power(group.power_w)}"


def _power_words(group: RackGroup) -> tuple[str, str]:
    if group.power_unknown:
        return "?", "W"
    # Three digits, because a rack is not wider than them.
    watts, _, unit = format_power(float(f"{group.power_w:.3g}")).partition(" ")
    return watts, unit


def _draw_trays(svg: SvgElements, rows: Sequence[RowOfRacks], scale: _Scale) -> None:
    """Draw the trays over the rows, and the three across each column of rows: over both ends and the middle of a full row."""
    row_px = scale.room.row_m * scale.px_per_m
    columns: dict[float, list[float]] = {}
    for row in rows:
        y = scale.y(row.near_m) - 8
        svg.path(f"M{number(scale.x(row.left_m))} {number(y)}h{number(row_px)}", "tray", 3)
        columns.setdefault(row.left_m, []).append(row.near_m)
    depth = scale.room.rack_depth_m
    for left, nears in columns.items():
        for near, following in pairwise(sorted(nears)):
            for share in (0.0, 0.5, 1.0):
                x = scale.x(left) + row_px * share
                span = (number(scale.y(near + depth) + 2), number(scale.y(following) - 8))
                svg.path(f"M{number(x)} {span[0]}V{span[1]}", "tray", 3)


def _draw_distances(svg: SvgElements, scale: _Scale) -> None:
    """Draw how wide and deep the racks and aisles are together, and the depth of a rack and an aisle where there is room."""
    room = scale.room
    left, right, top = scale.x(0), scale.x(room.width_m), scale.y(0)
    y = top - 26
    _draw_span(svg, Rect(left, y, right - left, 0))
    svg.text(right + 8, y + 4, _metres(room.width_m), "dim", _TEXT)
    spans = [(0.0, room.depth_m)]
    if room.line_m * scale.px_per_m >= _TRAY_PX:
        spans = [(0.0, room.rack_depth_m), (room.rack_depth_m, room.line_m - room.rack_depth_m)]
        if room.column_m == 0:
            svg.text(left + 40, scale.y((room.rack_depth_m + room.line_m) / 2), "aisle", "dim", _TEXT)
    for start, metres in spans:
        _draw_span(svg, Rect(right + 14, scale.y(start), 0, metres * scale.px_per_m))
        svg.text(right + 22, scale.y(start + metres / 2) + 4, _metres(metres), "dim", _TEXT)


def _metres(metres: float) -> str:
    return format_length(round(metres, 2))


def _draw_span(svg: SvgElements, span: Rect) -> None:
    """Draw a level or upright line with a stroke across each end."""
    across = "v8" if span.h == 0 else "h8"
    for x, y in ((span.x, span.y), (span.right, span.bottom)):
        start = (x, y - 4) if span.h == 0 else (x - 4, y)
        svg.path(f"M{number(start[0])} {number(start[1])}{across}", "measure", 1)
    svg.path(f"M{number(span.x)} {number(span.y)}L{number(span.right)} {number(span.bottom)}", "measure", 1)


def _facts(cluster: Cluster, plan: FloorPlan, room: RoomMeasures) -> list[tuple[str, str]]:
    power = plan.rack_power_w
    fullest = int(power.argmax())
    facts = [("racks and aisles cover", f"{_metres(room.width_m)} × {_metres(room.depth_m)}")]
    if room.line_m:
        facts.append(("from row to row", _metres(room.line_m)))
    if power[fullest] > 0:
        facts.append(
            (
                "rack with the most power",
                f"{plan.racks.names[fullest]}, {format_power(float(power[fullest]))}",
            )
        )
    lengths = cabled_lengths_m(cluster)
    known = lengths[~np.isnan(lengths)]
    if len(known):
        facts.append(("half of the links are as long as", _metres(float(np.median(known)))))
        facts.append(("the longest link is", _metres(float(known.max()))))
    return facts


def _purposes(plan: FloorPlan, groups: Sequence[RackGroup]) -> list[tuple[str, int, float]]:
    """Return for each purpose its racks and their power."""
    found, power = [], plan.rack_power_w
    for purpose in _STYLES:
        mine = [group for group in groups if group.purpose == purpose]
        if mine:
            racks = sum(len(group.racks) for group in mine)
            found.append((purpose, racks, math.fsum(power[group.racks].sum() for group in mine)))
    return found


def _draw_panel(
    svg: SvgElements,
    facts: list[tuple[str, str]],
    legend: tuple[list[tuple[str, int, float]], bool, bool],
    place: Rect,
) -> float:
    """Write legend and facts, below each other in a narrow place and side by side in a wide one; return the lower edge."""
    purposes, trays, loads = legend
    y = place.y
    for purpose, racks, watts in purposes:
        svg.rect(Rect(place.x, y, 20, 14), f"box {_STYLES[purpose]}", radius=3)
        power = f", {format_power(watts)}" if watts else ""
        svg.text(place.x + 28, y + 12, f"{counted(racks, f'{purpose} rack')}{power}", "", 13)
        y += 24
    svg.rect(Rect(place.x, y + 5, 20, 5), "load" if loads else "over", radius=1)
    use = (
        "used of a rack's power (red: more than it has)"
        if loads
        else "a rack that needs more power than it has"
    )
    svg.text(place.x + 28, y + 12, use, "dim", 12)
    if trays:
        y += 24
        svg.path(f"M{number(place.x)} {number(y + 8)}h20", "tray", 3)
        svg.text(place.x + 28, y + 12, "cable tray above the racks", "dim", 12)
    y += 44
    columns = max(1, int(place.w // _PANEL) - 1)
    left, top = (place.x, y) if columns == 1 else (place.x + _PANEL, place.y + 10)
    deep = math.ceil(len(facts) / columns)
    for at, (name, value) in enumerate(facts):
        x, line = left + at // deep * _PANEL, top + at % deep * 42
        svg.text(x, line, name, "dim", 12)
        svg.text(x, line + 17, value, "strong", 13)
    return max(y, top + deep * 42)
