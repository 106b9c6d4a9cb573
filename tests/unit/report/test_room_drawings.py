"""Floor plan and rack elevations: read back as XML and measured."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Callable
from itertools import combinations
from typing import Any

import pytest

from gpufabric.jobs.design import Design
from gpufabric.report.floor_plan_svg import draw_floor_plan
from gpufabric.report.rack_elevation_svg import MOST_KINDS, draw_rack_elevations
from gpufabric.report.svg_elements import Rect, text_width

SVG = "{http://www.w3.org/2000/svg}"
RAILS = {"topology": "rail-optimized", "switch": "qm9790"}
CASES: dict[str, dict[str, Any]] = {
    "full mesh": {"count": 2, "topology": "full-mesh"},
    "8 servers": {"count": 8, "topology": "single-switch", "switch": "qm9790"},
    "127 servers": {"count": 127, "model": "dgx-b200", **RAILS, "managers": {"count": 2, "links": 2}},
    "trays of a rack": {"count": 36, "model": "gb200-nvl72-tray", **RAILS, "unit_servers": 36},
    "trays without power": {
        "count": 36,
        "model": {"gpus": 4, "nics": 4, "nic_rate": "400 Gb/s", "domain_servers": 18},
        **RAILS,
        "unit_servers": 36,
    },
    "power distribution units": {
        "count": 8,
        "topology": "leaf-spine",
        "purpose": "out-of-band",
        "network": "ethernet",
        "switch": "sn2201",
        "tiers": 1,
        "pdus": 20,
    },
    "long rows": {"count": 200, **RAILS, "room": {"racks_per_row": 120}},
    "columns of rows": {"count": 1024, **RAILS},
    "too much power": {
        "count": 8,
        "topology": "single-switch",
        "switch": "qm9790",
        "room": {"rack_power": "5 kW"},
    },
}


def texts(root: ET.Element) -> list[tuple[str, Rect]]:
    found = []
    for element in root.iter(f"{SVG}text"):
        size, text = float(element.get("font-size", "0")), element.text or ""
        style = element.get("class", "")
        width = text_width(text, size, "strong" in style)
        shift = width / 2 if "middle" in style else width if "end" in style else 0
        found.append(
            (
                text,
                Rect(float(element.get("x", "0")) - shift, float(element.get("y", "0")) - size, width, size),
            )
        )
    return found


def drawings(result: Design) -> dict[str, ET.Element]:
    groups = result.rack_groups
    return {
        "floor": ET.fromstring(draw_floor_plan(result.cluster, result.floor_plan, groups)),
        "racks": ET.fromstring(draw_rack_elevations(result.cluster, result.floor_plan, groups)),
    }


@pytest.fixture(params=CASES)
def case(request: pytest.FixtureRequest, designed: Callable[..., Design]) -> Design:
    return designed(**CASES[request.param])


def test_drawings_are_accessible_and_load_nothing(case: Design) -> None:
    for root in drawings(case).values():
        assert root.get("role") == "img"
        assert root.get("aria-label")
        assert root.findtext(f"{SVG}title")
        tags = {element.tag.removeprefix(SVG) for element in root.iter()}
        assert tags <= {"svg", "title", "style", "rect", "path", "text"}
        assert "prefers-color-scheme:dark" in root.findtext(f"{SVG}style", "")
        values = [value for element in root.iter() for value in element.attrib.values()]
        assert not [value for value in values if re.search(r"url\(|https?:|javascript:|NaN|nan|inf\b", value)]


def test_everything_lies_on_the_page_and_can_be_read(case: Design) -> None:
    for name, root in drawings(case).items():
        page = Rect(0, 0, float(root.get("width", "0")), float(root.get("height", "0")))
        for text, place in texts(root):
            assert place.h >= 11, (name, text)
            assert place.x >= 0, (name, text)
            assert place.right <= page.right + 1, (name, text)
            assert 0 <= place.y <= place.bottom <= page.bottom, (name, text)
        for rect in root.iter(f"{SVG}rect"):
            x, y, w, h = (float(rect.get(key, "nan")) for key in ("x", "y", "width", "height"))
            assert w >= 0
            assert h >= 0
            assert x + w <= page.right + 1
            assert y + h <= page.bottom + 1


def test_no_text_of_a_drawing_overlaps_another(case: Design) -> None:
    for name, root in drawings(case).items():
        placed = sorted(texts(root), key=lambda found: found[1].y)
        clashes = [(name, a, b) for (a, p), (b, q) in combinations(placed, 2) if p.overlaps(q)]
        assert clashes == []


def test_what_takes_no_rack_unit_is_a_number_beside_the_rack(designed: Callable[..., Design]) -> None:
    shown = [text for text, _ in texts(drawings(designed(**CASES["power distribution units"]))["racks"])]
    assert "compute, 3 devices, 6 PDUs" in shown
    assert not any("pdu-" in text for text in shown)


def test_a_rack_that_is_sold_with_its_servers_says_so(designed: Callable[..., Design]) -> None:
    shown = [text for text, _ in texts(drawings(designed(**CASES["trays of a rack"]))["racks"])]
    assert {"gb200-nvl72-rack, 18 devices", "18 U of servers", "150 kW as a whole"} <= set(shown)
    assert "? W" not in shown


def test_the_floor_plan_counts_every_rack(case: Design) -> None:
    root = drawings(case)["floor"]
    counted = 0
    for rect in root.iter(f"{SVG}rect"):
        hover = rect.findtext(f"{SVG}title", "")
        run = re.match(r"[A-Z]+: ([\d,]+) \w+ racks?", hover)
        counted += int(run.group(1).replace(",", "")) if run else bool(hover)
    assert counted == len(case.floor_plan.racks)


def test_one_rack_of_each_kind_is_drawn_with_its_devices(case: Design) -> None:
    root = drawings(case)["racks"]
    groups = case.rack_groups
    assert len(groups) <= MOST_KINDS
    hovers = [rect.findtext(f"{SVG}title", "") for rect in root.iter(f"{SVG}rect")]
    high = case.floor_plan.height_units > 0
    assert len([hover for hover in hovers if hover]) == sum(high[group.devices].sum() for group in groups)
    more = [
        int(m.group(1).replace(",", ""))
        for t, _ in texts(root)
        if (m := re.search(r"and ([\d,]+) more like it", t))
    ]
    assert len(groups) + sum(more) == len(case.floor_plan.racks)


def test_devices_stand_in_their_rack_units(designed: Callable[..., Design]) -> None:
    result = designed(8, topology="single-switch", switch="qm9790")
    root = drawings(result)["racks"]
    boxes = {}
    for rect in root.iter(f"{SVG}rect"):
        name = rect.findtext(f"{SVG}title", "").partition(":")[0]
        boxes[name] = float(rect.get("y", "0")), float(rect.get("height", "0"))
    low, high = boxes["srv01"], boxes["srv02"]
    assert high[0] < low[0]
    assert low[1] == high[1]
    assert low[0] - high[0] == pytest.approx(8 * 13, abs=0.2)


def test_a_rack_with_too_much_power_is_red(designed: Callable[..., Design]) -> None:
    for name, root in drawings(designed(**CASES["too much power"])).items():
        styles = [rect.get("class", "") for rect in root.iter(f"{SVG}rect")]
        assert "over" in styles, name
    for root in drawings(designed(**CASES["8 servers"])).values():
        assert "over" not in [rect.get("class", "") for rect in root.iter(f"{SVG}rect")]


def test_the_same_design_gives_the_same_drawing(designed: Callable[..., Design]) -> None:
    one, two = (designed(**CASES["127 servers"]) for _ in range(2))
    groups = one.rack_groups, two.rack_groups
    assert draw_floor_plan(one.cluster, one.floor_plan, groups[0]) == draw_floor_plan(
        two.cluster, two.floor_plan, groups[1]
    )
