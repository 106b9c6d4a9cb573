"""Loads on the drawing of a fabric: by colour, by width and by number."""

import xml.etree.ElementTree as ET

import numpy as np
import pytest

from gpufabric.report.fabric_load import FabricLoad, load_class, load_text, load_width
from gpufabric.report.fold_fabric import Bundle, fold_fabric
from gpufabric.report.logical_fabric_svg import draw_logical_fabric


def bundle(busiest, busy):
    return Bundle(0, 1, 4, 0, 5e10, -1, 0, busiest, busy)


@pytest.mark.parametrize(
    ("busiest", "number"),
    [(0.0, 0), (0.1, 1), (0.25, 1), (0.3, 2), (0.75, 3), (0.95, 4), (0.96, 5), (1.0, 5)],
)
def test_fuller_lines_are_wider(busiest, number):
    assert load_class(bundle(busiest, 0.0)) == number
    assert (
        load_width(bundle(busiest, 0.0))
        == sorted({load_width(bundle(b, 0.0)) for b in (0, 0.2, 0.4, 0.7, 0.9, 1)})[number]
    )


def test_texts_say_busiest_and_mean():
    assert load_text(bundle(1.0, 0.46)) == "busiest 100 %, mean 46 %"
    assert load_text(bundle(0.5, 0.5)) == "50 % in use"
    assert load_text(bundle(1.0, 0.46), short=True) == "100 %"


@pytest.mark.parametrize("count", [2, 64])
def test_each_line_of_the_drawing_has_the_class_of_its_busiest_link(wire, count):
    cluster, _ = wire("dgx-h100", count, "rail-optimized", "qm9790", ", tiers: 2, unit_servers: 16")
    in_use = np.linspace(0, 1, len(cluster.links))
    folded = fold_fabric(cluster, 0, in_use)
    assert max(b.busiest for b in folded.bundles) == pytest.approx(1)
    total = sum(b.busy * b.links for b in folded.bundles)
    assert total == pytest.approx(in_use.sum())
    drawing = draw_logical_fabric(cluster, 0, FabricLoad(in_use, "all_reduce 8G"))
    root = ET.fromstring(drawing)
    lines = [e for e in root.iter() if "use" in e.get("class", "").split()]
    # Six of them stand in the legend.
    assert len(lines) == 6 + len([b for b in folded.bundles if b.lower != b.upper])
    assert "all_reduce 8G" in drawing
    assert "more: what holds it back" in drawing
    assert "one line = one link" in drawing or "the thicker" not in drawing


def test_without_loads_nothing_changes(wire):
    cluster, _ = wire("dgx-h100", 16, "rail-optimized", "qm9790")
    assert all(b.busiest == -1 for b in fold_fabric(cluster, 0).bundles)
    assert 'class="use' not in draw_logical_fabric(cluster)
