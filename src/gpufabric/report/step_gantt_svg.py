"""A training step as events → a Gantt chart as SVG: a row a pipeline stage, a line a stream."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from gpufabric.records.training_timeline import Stream, TrainingTimeline, Work
from gpufabric.report.svg_document import HEADING_BOTTOM, MARGIN, svg_document
from gpufabric.report.svg_elements import Rect, SvgElements, number, text_width
from gpufabric.units import format_time

MOST_ROWS = 16
_WIDTH, _LABEL = 1280.0, 92.0
_LANES = {
    Stream.COMPUTE: (0.0, 18.0),
    Stream.LAYERS: (19.0, 6.0),
    Stream.SENDS: (26.0, 4.0),
    Stream.STATES: (31.0, 4.0),
}
_ROW = 42.0
_STYLE = {
    Work.FORWARD: "t1",
    Work.LOSS: "track",
    Work.BACKWARD: "t3",
    Work.WEIGHTS: "t2",
    Work.EXCHANGE: "other",
    Work.SEND: "dot",
    Work.PARAMETERS: "load",
    Work.GRADIENTS: "over",
    Work.OPTIMIZER: "t0",
}
# Bars of one kind are joined while they are narrower, and parts of one pass while the gap between them is.
_LEAST_PX, _GAP_PX, _TICKS = 1.5, 3.0, 8
# What is narrower says nothing when pointed at.
_HOVER_PX = 7.0
_NOTHING = 1e-9


def step_gantt_svg(timeline: TrainingTimeline, title: str, about: str) -> str:
    """Return the drawing.

    Of many stages the first, the last and evenly spaced ones between are drawn. Where passes would be narrower than a line, equal
    neighbours are drawn as one.

    Parameters
    ----------
    timeline : TrainingTimeline
    title, about : str
        The two lines of the heading.
    """
    rows = np.unique(np.linspace(0, timeline.stages - 1, min(timeline.stages, MOST_ROWS)).round().astype(int))
    svg = SvgElements()
    left, right = MARGIN + _LABEL, _WIDTH - MARGIN
    scale = (right - left) / max(timeline.step_s, 1e-30)
    top = HEADING_BOTTOM + 24
    bottom = top + _ROW * len(rows)
    _draw_axis(svg, timeline.step_s, (left, right), (top, bottom))
    for row, stage in enumerate(rows.tolist()):
        y = top + row * _ROW
        svg.text(MARGIN, y + 14, f"stage {stage}", "strong", 13)
        mine = np.flatnonzero(timeline.stage == stage)
        _draw_bars(svg, _bars(timeline, mine, (left, y, scale)))
    height = _draw_legend(svg, timeline, bottom + 42)
    return svg_document("Gantt chart", title, about, (_WIDTH, height), svg)


def _draw_bars(svg: SvgElements, bars: Iterable[tuple[Rect, str, str, str]]) -> None:
    """Draw bars; narrow ones of one style are one path, for there are thousands of them."""
    narrow: dict[str, list[str]] = {}
    for place, style, hover, label in bars:
        if not hover:
            corners = f"M{number(place.x)} {number(place.y)}h{number(place.w)}v{number(place.h)}h-{number(place.w)}z"
            narrow.setdefault(style, []).append(corners)
            continue
        svg.rect(place, style, radius=0, hover=hover)
        if label and text_width(label, 11) + 2 < place.w:
            svg.text(place.middle, place.y + 13, label, "dim middle", 11)
    for style, corners_of_all in narrow.items():
        svg.path("".join(corners_of_all), style, 1)


def _bars(
    timeline: TrainingTimeline, rows: NDArray[np.intp], frame: tuple[float, float, float]
) -> Iterator[tuple[Rect, str, str, str]]:
    left, y, scale = frame
    for stream, (down, high) in _LANES.items():
        own = rows[timeline.stream[rows] == stream]
        own = own[np.argsort(timeline.begin_s[own], kind="stable")]
        for first, last in _runs(timeline, own, scale):
            begin, end = float(timeline.begin_s[first]), float(timeline.end_s[last])
            work, batch = int(timeline.work[first]), int(timeline.micro_batch[first])
            place = Rect(left + begin * scale, y + down, max((end - begin) * scale, _LEAST_PX), high)
            several = first != last and batch != int(timeline.micro_batch[last])
            of = (
                f" of micro-batch {batch}"
                if batch >= 0 and not several
                else " of several micro-batches"
                if several
                else ""
            )
            hover = f"{Work.NAMES[work]}{of}: {format_time(begin)} to {format_time(end)}"
            label = str(batch) if stream == Stream.COMPUTE and batch >= 0 and not several else ""
            yield place, _STYLE[work], hover if place.w >= _HOVER_PX else "", label


def _runs(timeline: TrainingTimeline, rows: NDArray[np.intp], scale: float) -> Iterator[tuple[int, int]]:
    """Give first and last event of what is drawn as one bar."""
    begin = last = -1
    for row in rows.tolist():
        if last >= 0:
            same = timeline.work[row] == timeline.work[last]
            batch = (
                timeline.micro_batch[row] == timeline.micro_batch[last]
                and timeline.chunk[row] == timeline.chunk[last]
            )
            gap = (timeline.begin_s[row] - timeline.end_s[last]) * scale
            close = gap < (_GAP_PX if batch else _LEAST_PX)
            narrow = (timeline.end_s[row] - timeline.begin_s[begin]) * scale < _LEAST_PX
            if same and close and (batch or narrow):
                last = row
                continue
            yield begin, last
        begin = last = row
    if last >= 0:
        yield begin, last


def _draw_axis(
    svg: SvgElements, step_s: float, across: tuple[float, float], down: tuple[float, float]
) -> None:
    for tick in range(_TICKS + 1):
        x = across[0] + (across[1] - across[0]) * tick / _TICKS
        svg.path(f"M{number(x)} {number(down[0] - 6)}V{number(down[1])}", "grid", 1)
        anchor = "dim end" if tick == _TICKS else "dim middle" if tick else "dim"
        label = format_time(step_s * tick / _TICKS) if tick else "0 s"
        svg.text(x, down[1] + 16, label, anchor, 12)


def _draw_legend(svg: SvgElements, timeline: TrainingTimeline, y: float) -> float:
    """Draw what the bars mean and return the height of the drawing."""
    length = np.bincount(timeline.work, timeline.end_s - timeline.begin_s, minlength=len(Work.NAMES))
    x = MARGIN
    for work, name in enumerate(Work.NAMES):
        if length[work] <= 0:
            continue
        text = f"{name} {format_time(float(length[work]) / timeline.stages)}"
        width = 22 + text_width(text, 12) + 22
        if x > MARGIN and x + width > _WIDTH - MARGIN:
            x, y = MARGIN, y + 22
        svg.rect(Rect(x, y - 11, 14, 14), _STYLE[work], radius=2)
        svg.text(x + 22, y, text, "dim", 12)
        x += width
    y += 22
    found = timeline.hidden_s(Stream.LAYERS), timeline.exposed_s(Stream.LAYERS)
    hidden, exposed = (_duration(float(part.mean()), timeline.step_s) for part in found)
    idle = timeline.step_s - float(timeline.busy_s(Stream.COMPUTE).mean())
    svg.text(
        MARGIN,
        y,
        f"a stage, on average: not computing {format_time(idle)}; communication of layers {hidden} beside compute, "
        f"{exposed} exposed",
        "dim",
        12,
    )
    return y + MARGIN


def _duration(seconds: float, whole_s: float) -> str:
    # What is left of adding and taking away times is no time.
    return format_time(seconds) if seconds > _NOTHING * whole_s else "none"
