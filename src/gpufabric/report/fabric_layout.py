"""Folded fabric → where each box and line stands on a page of 1,280 px width."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from gpufabric.report.fold_fabric import Box, FoldedFabric
from gpufabric.report.svg_elements import Rect

PAGE_WIDTH = 1280.0
GUTTER = Rect(24, 0, 158, 0)
_CONTENT = (196.0, PAGE_WIDTH - 24)
_HEADER = 88.0
_BAND_TITLE, _BAND_GAP = 34.0, 28.0
_POD_TITLE = 24.0
_COLUMN_GAP, _POD_GAP = 16.0, 34.0
_BOX_GAP = 8.0
_LINE_HEIGHT, _BOX_PADDING = 17.0, 11.0
_TIER_GAP, _FAN_GAP = 96.0, 170.0
_MANAGER_WIDTH = 120.0
_INSET = 12.0


@dataclass(frozen=True, slots=True)
class Line:
    """Where a bundle runs: from the top of the lower box to the bottom of the upper one (both tops within one tier)."""

    x1: float
    y1: float
    x2: float
    y2: float


@dataclass(frozen=True, slots=True)
class FabricLayout:
    """Places of everything, parallel to the boxes and bundles of the folded fabric; ``rows`` by tier."""

    boxes: tuple[Rect, ...]
    lines: tuple[Line | None, ...]
    rows: dict[int, Rect]
    bands: tuple[Rect, ...]
    pods: tuple[tuple[int, Rect], ...]
    bottom: float


def lay_out(folded: FoldedFabric) -> FabricLayout:
    """Return where everything stands: tiers as rows with the servers below, planes side by side, columns aligned over tiers."""
    rows, bottom = _rows(folded)
    boxes = _place_boxes(folded, rows)
    lines = _place_lines(folded, boxes)
    return FabricLayout(tuple(boxes), tuple(lines), rows, _bands(folded, rows), _pods(folded, boxes), bottom)


def _rows(folded: FoldedFabric) -> tuple[dict[int, Rect], float]:
    """Return the row of each tier, from the top tier down, and where the last one ends."""
    y = _HEADER + (_BAND_TITLE if len(folded.bands) > 1 else 0)
    rows: dict[int, Rect] = {}
    tiers = sorted({box.tier for box in folded.boxes}, reverse=True)
    for position, tier in enumerate(tiers):
        if tier == 2 and folded.layout.pods:
            y += _POD_TITLE
        if any(
            b.lower != b.upper and folded.boxes[b.upper].tier == tier == folded.boxes[b.lower].tier
            for b in folded.bundles
        ):
            y += _FAN_GAP
        lines = max(len(box.lines) for box in folded.boxes if box.tier == tier)
        rows[tier] = Rect(_CONTENT[0], y, _CONTENT[1] - _CONTENT[0], lines * _LINE_HEIGHT + 2 * _BOX_PADDING)
        y = rows[tier].bottom
        if position < len(tiers) - 1:
            y += _gap(folded, tiers[position + 1], tier)
    return rows, y


def _gap(folded: FoldedFabric, lower: int, upper: int) -> float:
    """More room between tiers whose lines fan out."""
    pairs = {(b.lower, b.upper) for b in folded.bundles if folded.boxes[b.upper].tier == upper}
    uppers = sum(box.tier == upper for box in folded.boxes)
    lowers = sum(box.tier == lower for box in folded.boxes)
    return _FAN_GAP if len(pairs) > max(uppers, lowers) + 4 or folded.single else _TIER_GAP


def _band_span(folded: FoldedFabric, band: int) -> tuple[float, float]:
    left, right = _CONTENT
    if band < 0 or len(folded.bands) == 1:
        return left, right
    width = (right - left - _BAND_GAP) / 2
    return (left, left + width) if band == 0 else (right - width, right)


def _column_spans(folded: FoldedFabric, band: int) -> list[tuple[float, float]]:
    """Return left and right of each column; managers have theirs after the others."""
    left, right = _band_span(folded, band)
    in_band = len(folded.bands) > 1 and band >= 0
    pods = [column.pod for column in folded.layout.columns]
    groups = [*pods, len(folded.layout.pods)] if folded.managers and not in_band else pods
    gaps = [_POD_GAP if a != b else _COLUMN_GAP for a, b in pairwise(groups)]
    extra = [_MANAGER_WIDTH] * (len(groups) - len(pods))
    width = (right - left - sum(gaps) - sum(extra)) / len(pods)
    spans = []
    x = left
    for column, gap in zip([width] * len(pods) + extra, [*gaps, 0.0], strict=True):
        spans.append((x, x + column))
        x += column + gap
    return spans


def _span(folded: FoldedFabric, box: Box) -> tuple[float, float]:
    columns = len(folded.layout.columns)
    spans = _column_spans(folded, box.band)
    if box.tier <= 1:
        return spans[box.column]
    own = [
        spans[i]
        for i in range(columns)
        if box.tier == 3 or not folded.layout.pods or folded.layout.columns[i].pod == box.column
    ]
    return own[0][0], own[-1][1]


def _place_boxes(folded: FoldedFabric, rows: dict[int, Rect]) -> list[Rect]:
    places: list[Rect] = []
    siblings: dict[tuple[int, int, int], list[int]] = {}
    for index, box in enumerate(folded.boxes):
        siblings.setdefault((box.tier, box.band, box.column), []).append(index)
        places.append(rows[box.tier])
    for members in siblings.values():
        left, right = _span(folded, folded.boxes[members[0]])
        width = (right - left - _BOX_GAP * (len(members) - 1)) / len(members)
        for position, index in enumerate(members):
            row = rows[folded.boxes[index].tier]
            places[index] = Rect(left + position * (width + _BOX_GAP), row.y, width, row.h)
    return places


def _place_lines(folded: FoldedFabric, boxes: list[Rect]) -> list[Line | None]:
    """Return the line of each bundle: upright where one box spans the other, else fanned out over the edges."""
    low = [(bundle.lower, bundle.upper) for bundle in folded.bundles]
    high = [(upper, lower) for lower, upper in low]
    aligned = _aligned(folded, boxes)
    starts = _spread(low, boxes, {**aligned, **_upright(low, boxes, _middles(high, boxes))})
    ends = _spread(high, boxes, {**aligned, **_upright(high, boxes, starts)})
    lines: list[Line | None] = []
    for index, (lower, upper) in enumerate(low):
        same_tier = folded.boxes[lower].tier == folded.boxes[upper].tier
        end = boxes[upper].y if same_tier else boxes[upper].bottom
        lines.append(None if lower == upper else Line(starts[index], boxes[lower].y, ends[index], end))
    return lines


def _middles(pairs: list[tuple[int, int]], boxes: list[Rect]) -> dict[int, float]:
    return {index: boxes[near].middle for index, (near, _) in enumerate(pairs)}


def _aligned(folded: FoldedFabric, boxes: list[Rect]) -> dict[int, float]:
    """Return the bundles that alone join two boxes of one column: they run from middle to middle."""
    pairs = [(bundle.lower, bundle.upper) for bundle in folded.bundles]
    return {
        index: boxes[lower].middle
        for index, (lower, upper) in enumerate(pairs)
        if abs(boxes[lower].middle - boxes[upper].middle) < 1 and pairs.count((lower, upper)) == 1
    }


def _upright(
    pairs: list[tuple[int, int]], boxes: list[Rect], far_places: dict[int, float]
) -> dict[int, float]:
    """Return the places at wide boxes of which every line can run upright to where its other end is."""
    places: dict[int, float] = {}
    for box in {near for near, _ in pairs}:
        members = [index for index, (near, _) in enumerate(pairs) if near == box]
        span = (boxes[box].x + _INSET / 2, boxes[box].right - _INSET / 2)
        wide = all(boxes[box].w >= 1.5 * boxes[pairs[index][1]].w for index in members)
        if wide and all(span[0] <= far_places[index] <= span[1] for index in members):
            places |= {index: far_places[index] for index in members}
    return places


def _spread(pairs: list[tuple[int, int]], boxes: list[Rect], fixed: dict[int, float]) -> dict[int, float]:
    """Return where each bundle meets the edge of its near box: equally spaced, in the order of the far boxes.

    Beside a line that is fixed in the middle the others take the half that their far box lies on.
    """
    at_box: dict[tuple[int, int], list[int]] = {}
    held = {pairs[index][0] for index in fixed}
    for index, (near, far) in enumerate(pairs):
        if index not in fixed:
            side = 0 if near not in held else 1 if boxes[far].middle > boxes[near].middle else -1
            at_box.setdefault((near, side), []).append(index)
    places = dict(fixed)
    for (box, side), members in at_box.items():
        members.sort(key=lambda i: (boxes[pairs[i][1]].middle, i))
        left = boxes[box].middle + _INSET if side > 0 else boxes[box].x + _INSET
        right = boxes[box].middle - _INSET if side < 0 else boxes[box].right - _INSET
        for position, index in enumerate(members):
            places[index] = left + (right - left) * (position + 0.5) / len(members)
    return places


def _bands(folded: FoldedFabric, rows: dict[int, Rect]) -> tuple[Rect, ...]:
    if len(folded.bands) < 2:
        return ()
    top = _HEADER
    bottom = rows[1].bottom + 12
    spans = [_band_span(folded, band) for band in range(2)]
    return tuple(Rect(left - 8, top, right - left + 16, bottom - top) for left, right in spans)


def _pods(folded: FoldedFabric, boxes: list[Rect]) -> tuple[tuple[int, Rect], ...]:
    """Return the frames of the pods: around spines and leaves, and around the servers when no other plane shares them."""
    frames = []
    for box, place in zip(folded.boxes, boxes, strict=True):
        if box.tier == 2 and folded.layout.pods:
            lowest = 0 if len(folded.bands) == 1 else 1
            bottom = 8 + max(r.bottom for b, r in zip(folded.boxes, boxes, strict=True) if b.tier == lowest)
            top = place.y - _POD_TITLE
            frames.append((box.column, Rect(place.x - 7, top, place.w + 14, bottom - top)))
    return tuple(frames)
