"""Predicted collectives → an SVG plot of bus bandwidth and time over size, with range, ceiling and measured points.

Lines differ by their dashes and points by their shape, so no fact hangs on a colour.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from gpufabric.collectives.bus_factors import bus_factor
from gpufabric.records.measurements import MeasuredRow
from gpufabric.records.results import CollectiveResult
from gpufabric.report.log_axes import LogAxes, log_axes
from gpufabric.report.svg_document import HEADING_BOTTOM, MARGIN, svg_document
from gpufabric.report.svg_elements import Rect, SvgElements, number, text_width
from gpufabric.units import counted, format_gigabytes_per_s, format_message_bytes, format_time

_PAGE_WIDTH = 1000.0
_LEFT, _PANEL_HEIGHT, _PANEL_GAP = 118.0, 330.0, 74.0
_POINT_PX = 3.5
_MOST_POINTS = 4_000
_Curve = Callable[[CollectiveResult], float]


def plot_collective(results: Sequence[CollectiveResult], measured: Sequence[MeasuredRow] = ()) -> str:
    """Return the plot as an SVG document.

    Parameters
    ----------
    results
        As :func:`gpufabric.jobs.collective.predict_collective` returns them: one a size, for one or several orders of ranks.
    measured
        Rows of a log that are drawn on top, at most 4,000.
    """
    measured = measured[:_MOST_POINTS]
    svg = SvgElements()
    width = _PAGE_WIDTH - _LEFT - MARGIN
    top = Rect(_LEFT, HEADING_BOTTOM + 24, width, _PANEL_HEIGHT)
    low = Rect(_LEFT, top.bottom + _PANEL_GAP, width, _PANEL_HEIGHT)
    factor = bus_factor(results[0].op, results[0].gpus)
    sizes = [float(r.size_bytes) for r in results] + [float(m.size_bytes) for m in measured]
    rates = [rate for r in results for rate in _rates(r, factor)] + [m.busbw_bytes_per_s for m in measured]
    times = [t for r in results for t in (r.time_s, r.time_low_s, r.time_high_s)] + [
        m.time_s for m in measured
    ]
    _draw_panel(svg, log_axes(top, sizes, rates), "bus bandwidth", format_gigabytes_per_s)
    axes = log_axes(top, sizes, rates)
    for order in _orders(results):
        _draw_line(svg, axes, order, lambda r: r.ceiling_busbw_bytes_per_s, "limit")
        if any(_attainable(r) > r.busbw_bytes_per_s for r in order):
            _draw_line(svg, axes, order, _attainable, "attainable")
    _draw_curves(
        svg,
        axes,
        results,
        _busbw,
        lambda r: (_rate(r, r.time_high_s, factor), _rate(r, r.time_low_s, factor)),
    )
    _draw_points(svg, axes, measured, lambda m: m.busbw_bytes_per_s)
    axes = log_axes(low, sizes, times)
    _draw_panel(svg, axes, "time", format_time)
    _draw_curves(svg, axes, results, lambda r: r.time_s, lambda r: (r.time_low_s, r.time_high_s))
    _draw_points(svg, axes, measured, lambda m: m.time_s)
    height = _draw_legend(svg, low.bottom + 66, results, measured)
    last = results[0]
    about = f"{counted(last.gpus, 'GPU')} in {counted(last.nodes, 'node')}, {last.library}, {last.method}"
    return svg_document(
        "Plot", f"{last.op}: bus bandwidth and time over size", about, (_PAGE_WIDTH, height), svg
    )


def _attainable(result: CollectiveResult) -> float:
    # Where it was not searched for, the prediction is what is known to be had.
    return result.attainable_busbw_bytes_per_s or result.busbw_bytes_per_s


def _busbw(result: CollectiveResult) -> float:
    return result.busbw_bytes_per_s


def _rate(result: CollectiveResult, time_s: float, factor: float) -> float:
    return result.size_bytes / time_s * factor


def _rates(result: CollectiveResult, factor: float) -> tuple[float, ...]:
    ends = (_rate(result, t, factor) for t in (result.time_low_s, result.time_high_s))
    return (
        result.busbw_bytes_per_s,
        result.ceiling_busbw_bytes_per_s,
        _attainable(result),
        *ends,
    )


def _orders(results: Sequence[CollectiveResult]) -> list[list[CollectiveResult]]:
    names = dict.fromkeys(r.rank_order for r in results)
    return [[r for r in results if r.rank_order == name] for name in names]


def _draw_panel(svg: SvgElements, axes: LogAxes, what: str, text: Callable[[float], str]) -> None:
    panel = axes.panel
    svg.rect(panel, "frame", radius=2)
    svg.text(panel.x, panel.y - 10, what, "strong", 13)
    for value in axes.y_ticks():
        y = axes.y(value)
        svg.path(f"M{number(panel.x)} {number(y)}H{number(panel.right)}", "grid", 1)
        svg.text(panel.x - 8, y + 4, text(value), "dim end", 12)
    for size in axes.x_ticks():
        x = axes.x(size)
        svg.path(f"M{number(x)} {number(panel.y)}V{number(panel.bottom)}", "grid", 1)
        svg.text(x, panel.bottom + 18, format_message_bytes(size), "dim middle", 12)
    svg.text(panel.right, panel.bottom + 36, "size of the message", "dim end", 12)


def _draw_curves(
    svg: SvgElements,
    axes: LogAxes,
    results: Sequence[CollectiveResult],
    value: _Curve,
    ends: Callable[[CollectiveResult], tuple[float, float]],
) -> None:
    """Draw the range of the first order as an area, and the curve of each order."""
    orders = _orders(results)
    lower = [(float(r.size_bytes), min(ends(r))) for r in orders[0]]
    upper = [(float(r.size_bytes), max(ends(r))) for r in orders[0]]
    if len(lower) > 1:
        svg.path(f"M{axes.course([*lower, *reversed(upper)])}Z", "range", 0)
    for number_, order in enumerate(orders):
        style = "curve" if number_ == 0 else "curve second"
        _draw_line(svg, axes, order, value, style)
        for r in order:
            hover = (
                f"{format_message_bytes(r.size_bytes)}, {r.rank_order}: {format_time(r.time_s)}, "
                f"{format_gigabytes_per_s(r.busbw_bytes_per_s)}, {r.algorithm}/{r.protocol}"
            )
            _draw_dot(
                svg, axes.x(r.size_bytes), axes.y(value(r)), "dot" if number_ == 0 else "dot other", hover
            )
    if len(lower) == 1:
        x = number(axes.x(lower[0][0]))
        svg.path(f"M{x} {number(axes.y(lower[0][1]))}V{number(axes.y(upper[0][1]))}", "curve", 1.5)


def _draw_line(
    svg: SvgElements, axes: LogAxes, results: Sequence[CollectiveResult], value: _Curve, style: str
) -> None:
    points = [(float(r.size_bytes), value(r)) for r in results]
    if len(points) == 1:
        # One size has no curve; a limit still is a line through the panel.
        if not style.startswith("curve"):
            left, right = number(axes.panel.x), number(axes.panel.right)
            svg.path(f"M{left} {number(axes.y(points[0][1]))}H{right}", style, 1.6)
        return
    svg.path(f"M{axes.course(points)}", style, 2.2 if style.startswith("curve") else 1.6)


def _draw_dot(svg: SvgElements, x: float, y: float, style: str, hover: str = "") -> None:
    r = number(_POINT_PX)
    d = number(2 * _POINT_PX)
    svg.path(f"M{number(x - _POINT_PX)} {number(y)}a{r} {r} 0 1 0 {d} 0a{r} {r} 0 1 0-{d} 0", style, 0, hover)


def _draw_points(
    svg: SvgElements, axes: LogAxes, measured: Iterable[MeasuredRow], value: Callable[[MeasuredRow], float]
) -> None:
    for row in measured:
        hover = (
            f"measured, line {row.line}: {format_message_bytes(row.size_bytes)}, {format_time(row.time_s)}, "
            f"{format_gigabytes_per_s(row.busbw_bytes_per_s)}, {'in' if row.in_place else 'out of'} place"
        )
        _draw_cross(svg, axes.x(row.size_bytes), axes.y(value(row)), hover)


def _draw_cross(svg: SvgElements, x: float, y: float, hover: str = "") -> None:
    svg.path(f"M{number(x - 4)} {number(y - 4)}l8 8m0-8l-8 8", "cross", 2, hover)


def _draw_legend(
    svg: SvgElements, y: float, results: Sequence[CollectiveResult], measured: Sequence[MeasuredRow]
) -> float:
    """Draw what the lines and points mean and return the height of the drawing."""
    orders = [order[0].rank_order for order in _orders(results)]
    entries = [("range", f"80 % range, ranks in {orders[0]} order")]
    entries += [
        ("curve" if i == 0 else "curve second", f"predicted, ranks in {name} order")
        for i, name in enumerate(orders)
    ]
    if any(_attainable(r) > r.busbw_bytes_per_s for r in results):
        settings = max((r.attainable_settings for r in results), key=len)
        entries.append(("attainable", f"attainable with {' '.join(settings)}"))
    entries.append(("limit", f"ceiling: {results[-1].ceiling_name}"))
    if measured:
        entries.append(("cross", f"measured: {counted(len(measured), 'row')} of the log"))
    x = MARGIN
    for style, text in entries:
        width = 36 + text_width(text, 12) + 20
        if x > MARGIN and x + width > _PAGE_WIDTH - MARGIN:
            x, y = MARGIN, y + 22
        if style == "range":
            svg.rect(Rect(x, y - 10, 28, 12), style, radius=2)
        elif style == "cross":
            _draw_cross(svg, x + 14, y - 4)
        else:
            svg.path(f"M{number(x)} {number(y - 4)}h28", style, 2.2)
        svg.text(x + 36, y, text, "dim", 12)
        x += width
    return y + 24
