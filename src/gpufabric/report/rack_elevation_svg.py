"""Kinds of rack → an SVG drawing of their fronts: rack units, devices with names and power, bars for height and power."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from gpufabric.records.cluster import Cluster, Role
from gpufabric.records.floor_plan import FloorPlan
from gpufabric.records.names import device_names
from gpufabric.report.rack_groups import RackGroup
from gpufabric.report.svg_document import HEADING_BOTTOM, MARGIN, svg_document
from gpufabric.report.svg_elements import Rect, SvgElements, fitted, text_width
from gpufabric.units import counted, format_power

PAGE_WIDTH = 1280.0
MOST_KINDS = 15
_COLUMNS, _MOST_COLUMNS = 5, 6
_GAP = 24.0
_UNIT_PX = 13.0
_NUMBERS_WIDTH = 22.0
_TITLE, _BARS = 46.0, 58.0
_TEXT = 11
_HOVER = {"": "sold with its rack, whose power counts in its place", "? W": "power unknown"}
_STYLES = {Role.LEAF: "t1", Role.SPINE: "t2", Role.CORE: "t3"}
_LEGEND = (("t0", "server, manager or storage"), ("t1", "leaf"), ("t2", "spine"), ("t3", "core"))


def draw_rack_elevations(cluster: Cluster, plan: FloorPlan, groups: Sequence[RackGroup]) -> str:
    """Return the drawing as an SVG document: one rack for each kind, at most ``MOST_KINDS``, the most frequent ones.

    A device that stands higher than its rack is drawn above it. Power distribution units take no rack units: their number is
    written beside the rack's name. Of a rack that is sold with its servers these alone are drawn, because the catalogue knows no
    more.

    Parameters
    ----------
    cluster
    plan
    groups
        What :func:`gpufabric.report.rack_groups.rack_groups` returns of the same cluster and plan.
    """
    often = sorted(range(len(groups)), key=lambda i: (-len(groups[i].racks), i))[:MOST_KINDS]
    shown = [groups[i] for i in sorted(often)]
    names = device_names(cluster)
    svg = SvgElements()
    top = HEADING_BOTTOM
    columns = _MOST_COLUMNS if len(shown) == _MOST_COLUMNS else _COLUMNS
    width = (PAGE_WIDTH - 2 * MARGIN - (columns - 1) * _GAP) / columns
    for first in range(0, len(shown), columns):
        row = shown[first : first + columns]
        height = max(_height(group, plan) for group in row) * _UNIT_PX
        for column, group in enumerate(row):
            place = Rect(MARGIN + column * (width + _GAP), top + _TITLE, width, height)
            _draw_rack(svg, cluster, plan, group, (place, names[group.devices].tolist()))
        top += _TITLE + height + _BARS
    height = _draw_legend(svg, cluster, groups, shown, top)
    total = sum(len(group.racks) for group in groups)
    kinds = f"{len(groups)} kinds" if len(groups) > 1 else "one kind"
    about = f"{counted(total, 'rack')} of {kinds}, seen from the front; one of each kind is drawn"
    return svg_document("Rack elevations", f"{cluster.name} – racks", about, (PAGE_WIDTH, height), svg)


def _height(group: RackGroup, plan: FloorPlan) -> int:
    """Return how many rack units the drawing of a rack needs."""
    tops = plan.lowest_unit[group.devices] + plan.height_units[group.devices] - 1
    return max(group.units, int(tops.max(initial=1)))


def _draw_rack(
    svg: SvgElements,
    cluster: Cluster,
    plan: FloorPlan,
    group: RackGroup,
    place_and_names: tuple[Rect, list[str]],
) -> None:
    place, names = place_and_names
    first = plan.racks.names[int(group.racks[0])]
    more = len(group.racks) - 1
    svg.text(place.x, place.y - 28, first + (f" and {more:,} more like it" if more else ""), "strong", 14)
    svg.text(place.x, place.y - 11, fitted(_about(group, plan), place.w, 12), "dim", 12)
    inner = Rect(place.x + _NUMBERS_WIDTH, 0, place.w - _NUMBERS_WIDTH, 0)
    frame = Rect(inner.x, place.bottom - group.units * _UNIT_PX, inner.w, group.units * _UNIT_PX)
    svg.rect(frame, "frame", radius=2)
    for unit in range(1, group.units + 1):
        svg.text(inner.x - 5, place.bottom - (unit - 1) * _UNIT_PX - 3, str(unit), "dim end", _TEXT)
    if group.part:
        text = fitted("its other trays are not drawn", frame.w - 16, _TEXT)
        svg.text(frame.x + 8, frame.y + 2 * _UNIT_PX, text, "dim", _TEXT)
    for row, name in zip(group.devices.tolist(), names, strict=True):
        lowest, height = int(plan.lowest_unit[row]), int(plan.height_units[row])
        if not height:
            continue
        y = place.bottom - (lowest - 1 + height) * _UNIT_PX
        box = Rect(inner.x + 3, y + 0.5, inner.w - 6, height * _UNIT_PX - 1)
        known = not (plan.contained[row] or np.isnan(plan.power_w[row]))
        power = format_power(float(plan.power_w[row])) if known else "" if plan.contained[row] else "? W"
        least = "≥ " if known and plan.unsure_power[row] else ""
        _draw_device(svg, box, (name, least + power), _STYLES.get(int(cluster.devices.role[row]), "t0"))
    _draw_bars(svg, group, Rect(inner.x, place.bottom + 8, inner.w, 0))


def _about(group: RackGroup, plan: FloorPlan) -> str:
    """Return what a rack holds in one line: its devices, and those at its side that take no rack unit."""
    upright = int((plan.height_units[group.devices] == 0).sum())
    inside = len(group.devices) - upright
    found = [counted(inside, "device")] if inside or not upright else []
    found += [counted(upright, "PDU")] if upright else []
    return ", ".join([group.part or group.purpose, *found])


def _draw_device(svg: SvgElements, box: Rect, name_and_power: tuple[str, str], style: str) -> None:
    name, power = name_and_power
    svg.rect(box, f"box {style}", radius=2, hover=f"{name}: {_HOVER.get(power, power)}")
    baseline = box.y + box.h / 2 + 4
    width = text_width(power, _TEXT)
    svg.text(box.x + 6, baseline, fitted(name, box.w - width - 22, _TEXT), "", _TEXT)
    svg.text(box.right - 6, baseline, power, "dim end", _TEXT)


def _draw_bars(svg: SvgElements, group: RackGroup, place: Rect) -> None:
    """Draw how much of height and power is used below a rack."""
    height = f"{group.units_used} U of servers" if group.part else f"{group.units_used} of {group.units} U"
    power = "power unknown" if group.power_unknown else format_power(group.power_w)
    power = f"{power} as a whole" if group.part and not group.power_unknown else power
    if group.unknown_power and not group.power_unknown:
        power = f"at least {power}"
    limit = "" if math.isnan(group.limit_w) or group.power_w == 0 else f" of {format_power(group.limit_w)}"
    shares = (
        (height, 0.0 if group.part else group.units_used / group.units),
        (f"{power}{limit}", 0.0 if math.isnan(group.limit_w) else group.power_w / group.limit_w),
    )
    for line, (text, share) in enumerate(shares):
        y = place.y + 18 * line
        track = Rect(place.x, y, 64, 8)
        svg.rect(track, "track", radius=2)
        if share > 0:
            over = share > 1 + 1e-9
            svg.rect(Rect(track.x, y, track.w * min(1.0, share), 8), "over" if over else "load", radius=2)
        svg.text(track.right + 8, y + 8, fitted(text, place.w - 72, _TEXT + 1), "dim", _TEXT + 1)


def _draw_legend(
    svg: SvgElements, cluster: Cluster, groups: Sequence[RackGroup], shown: Sequence[RackGroup], top: float
) -> float:
    """Write the legend and what is left out, and return the height of the drawing."""
    x = MARGIN
    roles = set(np.unique(cluster.devices.role).tolist())
    present = {_STYLES.get(role, "t0") for role in roles}
    for style, text in _LEGEND:
        if style in present:
            svg.rect(Rect(x, top, 20, 12), f"box {style}", radius=3)
            svg.text(x + 28, top + 10, text, "dim", 12)
            x += 50 + text_width(text, 12)
    svg.rect(Rect(x, top + 2, 20, 8), "load", radius=2)
    svg.text(x + 28, top + 10, "used of height, and of power; red: more than there is", "dim", 12)
    left = len(groups) - len(shown)
    if left:
        drawn = sum(len(group.racks) for group in shown)
        racks = sum(len(group.racks) for group in groups) - drawn
        svg.text(
            MARGIN,
            top + 32,
            f"{left} more kinds, {counted(racks, 'rack')}, are in the table and not drawn.",
            "dim",
            12,
        )
    return top + (48 if left else 30)
