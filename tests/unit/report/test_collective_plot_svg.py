"""The plot of a collective: read back as XML."""

import re
import xml.etree.ElementTree as ET

import pytest

from gpufabric.jobs.collective import CollectiveOptions, predict_collective
from gpufabric.records.measurements import MeasuredRow
from gpufabric.report.collective_plot_svg import plot_collective
from gpufabric.report.log_axes import log_axes
from gpufabric.report.svg_elements import Rect

SVG = "{http://www.w3.org/2000/svg}"
SIZES = [1 << power for power in range(20, 34)]


@pytest.fixture(scope="module")
def results(wire):
    wired = wire("dgx-h100", 64, "rail-optimized", "qm9790", ", routing: ecmp")
    return predict_collective(*wired, "all_reduce", SIZES, CollectiveOptions(compare_shuffled=True))


def shapes(drawing, style):
    root = ET.fromstring(drawing)
    return [e for e in root.iter() if style in e.get("class", "").split() and e.get("d")]


@pytest.mark.slow
def test_every_size_has_a_point_in_each_panel_and_each_order_a_curve(results):
    drawing = plot_collective(results)
    assert len(shapes(drawing, "dot")) == 2 * len(results)
    # Two panels and the legend.
    assert len(shapes(drawing, "second")) == 3
    assert len(shapes(drawing, "range")) == 2
    assert shapes(drawing, "limit")
    assert not shapes(drawing, "cross")


def test_nothing_stands_outside_of_the_page(results):
    drawing = plot_collective(results)
    width, height = (float(ET.fromstring(drawing).get(side)) for side in ("width", "height"))
    for shape in shapes(drawing, "dot") + shapes(drawing, "curve") + shapes(drawing, "limit"):
        x, y = (float(n) for n in re.match(r"M([\d.]+) ([\d.]+)", shape.get("d")).groups())
        assert 0 <= x <= width
        assert 0 <= y <= height


def test_measured_points_are_crosses_that_say_their_line(results):
    rows = tuple(
        MeasuredRow(
            line=i,
            size_bytes=1 << 30,
            time_s=0.01,
            algbw_bytes_per_s=1e11,
            busbw_bytes_per_s=2e11,
            in_place=False,
        )
        for i in range(3)
    )
    drawing = plot_collective(results, rows)
    crosses = shapes(drawing, "cross")
    # Three in each panel and one in the legend.
    assert len(crosses) == 7
    assert "measured, line 2: 1G, 10 ms, 200 GB/s, out of place" in drawing


def test_one_size_is_a_point_and_its_range_a_bar(results):
    drawing = plot_collective(results[:1])
    assert len(shapes(drawing, "dot")) == 2
    assert len(shapes(drawing, "range")) == 0
    assert "NaN" not in drawing


def test_the_same_results_are_the_same_bytes(results):
    assert plot_collective(results) == plot_collective(results)


def test_axes_hold_all_values_and_have_round_ticks():
    axes = log_axes(Rect(0, 0, 100, 50), [1 << 20, 1 << 33], [3e9, 4e11])
    assert axes.x(1 << 20) == pytest.approx(0)
    assert axes.x(1 << 33) == pytest.approx(100)
    assert axes.y(3e9) > axes.y(4e11) > 0
    assert axes.y_ticks() == pytest.approx([5e9, 1e10, 2e10, 5e10, 1e11, 2e11, 5e11])
    assert axes.x_ticks() == [1 << power for power in range(20, 34)]
    wide = log_axes(Rect(0, 0, 100, 50), [8, 1 << 40], [1e3, 1e12])
    assert len(wide.y_ticks()) <= 10
    assert len(wide.x_ticks()) <= 14
