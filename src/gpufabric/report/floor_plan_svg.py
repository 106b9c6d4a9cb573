"""Floor plan → an SVG drawing from above: rows, racks by purpose and power, aisles, trays, distances."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from gpufabric.records.cluster import Cluster
from gpufabric.records.floor_plan import FloorPlan
from gpufabric.report.floor_rows import MOST_BLOCKS, RowBlock, Run, row_blocks
from gpufabric.report.rack_groups import RackGroup
from gpufabric.report.svg_document import HEADING_BOTTOM, MARGIN, svg_document
from gpufabric.report.svg_elements import Rect, SvgElements, fitted, number, text_width
from gpufabric.units import format_length, format_power

PAGE_WIDTH = 1280.0
_GUTTER = 150.0
_PANEL = 380.0
_MOST_PX_PER_M = 60.0
_LEAST_DEPTH, _LEAST_AISLE = 30.0, 26.0
_LEAST_RACK_PX = 33.0
_RIGHT = 70.0
_STYLES = {"compute": "t0", "network": "t1", "management": "t2", "storage": "t3"}
_TEXT = 11


@dataclass(frozen=True, slots=True)
class _Scale:
    """Metres of the room and px of the page."""

    px_per_m: float
    rack_width_m: float
    rack_depth_m: float
    pitch_m: float
    longest_row: int

    @property
    def depth_px(self) -> float:
        return max(_LEAST_DEPTH, self.rack_depth_m * self.px_per_m)

    @property
    def aisle_px(self) -> float:
        return max(_LEAST_AISLE, (self.pitch_m - self.rack_depth_m) * self.px_per_m)

    @property
    def row_px(self) -> float:
        return self.longest_row * self.rack_width_m * self.px_per_m


def draw_floor_plan(cluster: Cluster, plan: FloorPlan, groups: Sequence[RackGroup]) -> str:
    """Return the drawing as an SVG document.

    A small room shows every rack. In a long row neighbouring racks of one kind are one bar, and of many rows those that look
    alike are drawn once; their distances are then not to scale, and the drawing says so.

    Parameters
    ----------
    cluster
    plan
    groups
        What :func:`gpufabric.report.rack_groups.rack_groups` returns of the same cluster and plan.
    """
    blocks = row_blocks(plan, groups)
    drawn = blocks if len(blocks) <= MOST_BLOCKS else blocks[: MOST_BLOCKS - 1]
    scale = _scale(plan)
    svg = SvgElements()
    tops = [HEADING_BOTTOM + 34 + i * (scale.depth_px + scale.aisle_px) for i in range(len(drawn))]
    bottom = tops[-1] + scale.depth_px
    _draw_trays(svg, plan, scale, tops)
    for block, top in zip(drawn, tops, strict=True):
        _draw_row(svg, plan, groups, (block, top), scale)
    _draw_distances(svg, scale, tops)
    rest = sum(block.rows for block in blocks[len(drawn) :])
    if rest:
        svg.text(
            _GUTTER + MARGIN, bottom + 24, f"… and {rest:,} more row{'s' if rest > 1 else ''}", "strong", 13
        )
    beside = _GUTTER + MARGIN + scale.row_px + _RIGHT + 30
    right = beside + _PANEL <= PAGE_WIDTH
    place = (
        Rect(beside, HEADING_BOTTOM + 24, _PANEL, 0)
        if right
        else Rect(MARGIN, bottom + 74, PAGE_WIDTH - 2 * MARGIN, 0)
    )
    folded = any(block.rows > 1 for block in blocks) or rest > 0
    end = _draw_panel(svg, _facts(cluster, plan, scale, folded), _purposes(groups), place)
    rows = int(plan.racks.row.max(initial=-1)) + 1
    about = f"{len(plan.racks):,} racks in {rows:,} row{'' if rows == 1 else 's'}, seen from above"
    height = max(end, bottom + 64) + 20
    return svg_document("Floor plan", f"{cluster.name} – floor plan", about, (PAGE_WIDTH, height), svg)


def _scale(plan: FloorPlan) -> _Scale:
    """Return the scale; the first rack's centre lies half a rack from both edges of the room."""
    racks = plan.racks
    width, depth = 2 * float(racks.x_m.min()), 2 * float(racks.y_m.min())
    second = racks.y_m[racks.row == 1]
    pitch = float(second[0] - racks.y_m.min()) if len(second) else depth
    longest = int(racks.position.max()) + 1
    room = PAGE_WIDTH - 2 * MARGIN - _GUTTER - _RIGHT
    return _Scale(min(_MOST_PX_PER_M, room / (longest * width)), width, depth, pitch, longest)


def _left(scale: _Scale, position: float) -> float:
    return MARGIN + _GUTTER + position * scale.rack_width_m * scale.px_per_m


def _draw_row(
    svg: SvgElements, plan: FloorPlan, groups: Sequence[RackGroup], row: tuple[RowBlock, float], scale: _Scale
) -> None:
    block, top = row
    lines = [block.title, f"{block.racks:,} racks" + (" each" if block.rows > 1 else "")]
    lines += [format_power(block.power_w) + (" together" if block.rows > 1 else "")] if block.power_w else []
    y = top + scale.depth_px / 2 - 8 * len(lines) + 12
    for at, line in enumerate(lines):
        svg.text(
            MARGIN, y + 16 * at, fitted(line, _GUTTER - 14, 12, at == 0), "strong" if at == 0 else "dim", 12
        )
    rack_px = scale.rack_width_m * scale.px_per_m
    for run in block.runs:
        group = groups[run.kind]
        at = int(plan.racks.position[run.first])
        if rack_px >= _LEAST_RACK_PX:
            for step in range(run.racks):
                place = Rect(_left(scale, at + step) + 1, top, rack_px - 2, scale.depth_px)
                _draw_rack(svg, group, plan.racks.names[run.first + step], place)
        else:
            place = Rect(_left(scale, at), top, max(run.racks * rack_px - 1, 2), scale.depth_px)
            _draw_run(svg, group, run, place)


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


def _draw_run(svg: SvgElements, group: RackGroup, run: Run, place: Rect) -> None:
    racks = f"{run.racks:,} {group.purpose} rack{'' if run.racks == 1 else 's'}"
    each = f"{racks}, {_power(group)}{' each' if run.racks > 1 else ''}"
    svg.rect(place, f"box {_STYLES[group.purpose]}", radius=2, hover=each)
    _draw_load(svg, group, place)
    text = next((t for t in (each, racks) if text_width(t, 12) <= place.w - 12), "")
    if text:
        svg.text(place.middle, place.y + place.h / 2 + 1, text, "middle", 12)


def _draw_load(svg: SvgElements, group: RackGroup, place: Rect) -> None:
    """Draw a bar along the lower edge: the share of the rack's power that is used."""
    if math.isnan(group.limit_w) or group.power_w <= 0:
        return
    share = group.power_w / group.limit_w
    track = Rect(place.x + 3, place.bottom - 8, max(place.w - 6, 0), 5)
    svg.rect(track, "track", radius=1)
    style = "over" if share > 1 + 1e-9 else "load"
    svg.rect(Rect(track.x, track.y, track.w * min(1.0, share), track.h), style, radius=1)


def _power(group: RackGroup) -> str:
    if group.unknown_power == len(group.devices):
        return "power unknown"
    return f"{'at least ' if group.unknown_power else ''}{format_power(group.power_w)}"


def _power_words(group: RackGroup) -> tuple[str, str]:
    if group.unknown_power == len(group.devices):
        return "?", "W"
    # Three digits, because a rack is not wider than them.
    watts, _, unit = format_power(float(f"{group.power_w:.3g}")).partition(" ")
    return watts, unit


def _draw_trays(svg: SvgElements, plan: FloorPlan, scale: _Scale, tops: Sequence[float]) -> None:
    """Draw the trays over the rows, and the three across them: over both ends and the middle of the longest row."""
    half = scale.rack_width_m / 2
    ends = (float(plan.racks.x_m.min()), float(plan.racks.x_m.max()))
    start = MARGIN + _GUTTER
    for top in tops:
        y = top - 8
        svg.path(f"M{number(start)} {number(y)}h{number((ends[1] + half) * scale.px_per_m)}", "tray", 3)
    for upper, lower in pairwise(tops):
        for x_m in (ends[0], sum(ends) / 2, ends[1]):
            x = start + x_m * scale.px_per_m
            svg.path(f"M{number(x)} {number(upper + scale.depth_px + 2)}V{number(lower - 8)}", "tray", 3)


def _draw_distances(svg: SvgElements, scale: _Scale, tops: Sequence[float]) -> None:
    """Draw the length of a row, the depth of a rack and the width of an aisle."""
    left, right = _left(scale, 0), _left(scale, scale.longest_row)
    y = tops[0] - 22
    _draw_span(svg, Rect(left, y, right - left, 0))
    svg.text(right + 8, y + 4, format_length(round(scale.longest_row * scale.rack_width_m, 2)), "dim", _TEXT)
    spans = [(tops[0], scale.depth_px, scale.rack_depth_m)]
    if len(tops) > 1:
        spans.append((tops[0] + scale.depth_px, scale.aisle_px, scale.pitch_m - scale.rack_depth_m))
        middle = tops[0] + scale.depth_px + scale.aisle_px / 2
        svg.text(left + 40, middle - 2, "aisle", "dim", _TEXT)
    for top, px, metres in spans:
        _draw_span(svg, Rect(right + 14, top, 0, px))
        svg.text(right + 22, top + px / 2 + 4, format_length(round(metres, 2)), "dim", _TEXT)


def _draw_span(svg: SvgElements, span: Rect) -> None:
    """Draw a level or upright line with a stroke across each end."""
    across = "v8" if span.h == 0 else "h8"
    for x, y in ((span.x, span.y), (span.right, span.bottom)):
        start = (x, y - 4) if span.h == 0 else (x - 4, y)
        svg.path(f"M{number(start[0])} {number(start[1])}{across}", "measure", 1)
    svg.path(f"M{number(span.x)} {number(span.y)}L{number(span.right)} {number(span.bottom)}", "measure", 1)


def _facts(cluster: Cluster, plan: FloorPlan, scale: _Scale, folded: bool) -> list[tuple[str, str]]:
    racks = plan.racks
    power = plan.rack_power_w
    size = (float(racks.x_m.max()) + scale.rack_width_m / 2, float(racks.y_m.max()) + scale.rack_depth_m / 2)
    fullest = int(power.argmax())
    facts = [
        (
            "racks and aisles cover",
            f"{format_length(round(size[0], 1))} × {format_length(round(size[1], 1))}",
        ),
        ("from row to row", format_length(round(scale.pitch_m, 2))),
    ]
    if power[fullest] > 0:
        facts.append(("fullest rack", f"{racks.names[fullest]}, {format_power(float(power[fullest]))}"))
    lengths = cluster.assemblies.length_m if plan.lengths is None else plan.lengths.total_m
    known = lengths[~np.isnan(lengths)]
    if len(known):
        facts.append(("way of a link, half of them up to", format_length(round(float(np.median(known)), 1))))
        facts.append(("longest way of a link", format_length(round(float(known.max()), 1))))
    if folded:
        facts.append(("rows that look alike", "are drawn once: not to scale downwards"))
    return facts


def _purposes(groups: Sequence[RackGroup]) -> list[tuple[str, int, float]]:
    """Return for each purpose its racks and their power."""
    found = []
    for purpose in _STYLES:
        mine = [group for group in groups if group.purpose == purpose]
        if mine:
            racks = sum(len(group.racks) for group in mine)
            found.append((purpose, racks, math.fsum(len(group.racks) * group.power_w for group in mine)))
    return found


def _draw_panel(
    svg: SvgElements, facts: list[tuple[str, str]], purposes: list[tuple[str, int, float]], place: Rect
) -> float:
    """Write legend and facts, below each other in a narrow place and side by side in a wide one; return the lower edge."""
    y = place.y
    for purpose, racks, watts in purposes:
        svg.rect(Rect(place.x, y, 20, 14), f"box {_STYLES[purpose]}", radius=3)
        power = f", {format_power(watts)}" if watts else ""
        svg.text(place.x + 28, y + 12, f"{racks:,} {purpose} rack{'' if racks == 1 else 's'}{power}", "", 13)
        y += 24
    svg.rect(Rect(place.x, y + 5, 20, 5), "load", radius=1)
    svg.text(place.x + 28, y + 12, "used of a rack's power (red: more than it has)", "dim", 12)
    svg.path(f"M{number(place.x)} {number(y + 32)}h20", "tray", 3)
    svg.text(place.x + 28, y + 36, "cable tray above the racks", "dim", 12)
    y += 64
    columns = max(1, int(place.w // _PANEL) - 1)
    left, top = (place.x, y) if columns == 1 else (place.x + _PANEL, place.y + 10)
    deep = math.ceil(len(facts) / columns)
    for at, (name, value) in enumerate(facts):
        x, line = left + at // deep * _PANEL, top + at % deep * 42
        svg.text(x, line, name, "dim", 12)
        svg.text(x, line + 17, value, "strong", 13)
    return max(y, top + deep * 42)
