"""The drawing of the logical fabric: read back as XML and measured."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Callable
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
import pytest

from gpufabric.catalog.load import load_catalog
from gpufabric.errors import InputError
from gpufabric.records.cluster import Fabric
from gpufabric.records.cluster_spec import ClusterSpec
from gpufabric.report.fabric_counts import link_counts
from gpufabric.report.logical_fabric_svg import draw_logical_fabric
from gpufabric.report.svg_elements import Rect, fitted, text_width
from gpufabric.topologies import build_cluster

SVG = "{http://www.w3.org/2000/svg}"
ONE = {"gpus": 1, "nics": 1, "nic_rate": "400 Gb/s"}
SMALL = {"ports": 16, "rate": "400 Gb/s"}
Build = Callable[..., tuple[Any, Any]]
TWENTY = {
    "count": 637,
    "model": ONE,
    "topology": "rail-optimized",
    "switch": "sn5600",
    "tiers": 2,
    "unit_servers": 32,
}
CASES: dict[str, dict[str, Any]] = {
    "8 servers, one switch": {"count": 8, "topology": "single-switch", "switch": "qm9790"},
    "full mesh": {"count": 8, "topology": "full-mesh"},
    "one unit": {"count": 32, "topology": "rail-optimized", "switch": "qm9790", "tiers": 2},
    "four units with managers": {
        "count": 127,
        "topology": "rail-optimized",
        "switch": "qm9790",
        "managers": {"count": 2, "links": 2},
    },
    "twenty units": TWENTY,
    "three tiers, pods": {"count": 512, "topology": "rail-optimized", "switch": "qm9790", "tiers": 3},
    "many pods": {
        "count": 1500,
        "model": ONE,
        "topology": "fat-tree",
        "switch": SMALL,
        "tiers": 3,
        "leaf": {"ports_up": 4},
    },
    "two planes": {
        "count": 128,
        "model": "dgx-b300-spectrum",
        "topology": "rail-optimized",
        "switch": "sn5600d",
    },
    "eight planes": {"count": 100, "topology": "multi-plane", "switch": SMALL, "planes": 8, "tiers": 3},
    "many leaves": {"count": 300, "topology": "leaf-spine", "switch": "sn5600"},
}


@pytest.fixture
def two_fabrics() -> Any:
    """63 servers and two managers on a compute fabric, nine storage servers on one of their own."""
    spec = ClusterSpec.model_validate(
        {
            "servers": [
                {"model": "dgx-h100", "count": 63},
                {
                    "name": "store",
                    "model": {"gpus": 1, "nics": 2, "nic_rate": "400 Gb/s"},
                    "count": 9,
                    "purpose": "storage",
                    "fabrics": {"storage": ["nic0", "nic1"]},
                },
            ],
            "fabrics": [
                {"topology": "rail-optimized", "switch": "qm9790", "managers": {"count": 2, "links": 1}},
                {"name": "storage", "topology": "leaf-spine", "switch": "qm9790"},
            ],
        }
    )
    return build_cluster(spec, load_catalog())


def texts(root: ET.Element) -> list[tuple[str, Rect]]:
    found = []
    for element in root.iter(f"{SVG}text"):
        size, text = float(element.get("font-size", "0")), element.text or ""
        style = element.get("class", "")
        width = text_width(text, size, "strong" in style)
        x = float(element.get("x", "0")) - (width / 2 if "middle" in style else 0)
        found.append((text, Rect(x, float(element.get("y", "0")) - 0.8 * size, width, size)))
    return found


def amounts(root: ET.Element) -> int:
    """Links that the hovers of all lines count."""
    hovers = [e.findtext(f"{SVG}title", "") for e in root.iter(f"{SVG}path")]
    return sum(
        int(m.group(1).replace(",", "")) for m in (re.search(r": ([\d,]+) × ", h) for h in hovers) if m
    )


@pytest.mark.parametrize("case", CASES)
def test_a_drawing_is_sound(built: Build, case: str) -> None:
    cluster, _ = built(**CASES[case])
    drawing = draw_logical_fabric(cluster)
    assert drawing == draw_logical_fabric(cluster)
    assert len(drawing.encode()) <= 200 * 1024
    root = ET.fromstring(drawing)
    assert root.get("role") == "img"
    assert root.get("aria-label")
    assert root.findtext(f"{SVG}title") == "example – compute fabric"
    assert amounts(root) == len(cluster.links)
    assert f"{len(cluster.gpus):,} GPUs" in " ".join(text for text, _ in texts(root))


@pytest.mark.parametrize("case", CASES)
def test_no_text_overlaps_another_or_leaves_the_page_or_is_too_small(built: Build, case: str) -> None:
    root = ET.fromstring(draw_logical_fabric(built(**CASES[case])[0]))
    height = float(root.get("height", "0"))
    placed = texts(root)
    for text, place in placed:
        assert place.h >= 11, text
        assert place.x >= 0, text
        assert place.right <= 1280, text
        assert place.bottom <= height, text
    clashes = [(a, b) for (a, p), (b, q) in combinations(placed, 2) if p.overlaps(q)]
    assert clashes == []


@pytest.mark.parametrize("case", CASES)
def test_no_script_and_no_address_is_in_it(built: Build, case: str) -> None:
    drawing = draw_logical_fabric(built(**CASES[case])[0])
    rest = drawing.replace('xmlns="http://www.w3.org/2000/svg"', "")
    assert not re.search(r"<script|://|href|url\(|@import|\son\w+=", rest)
    assert "prefers-color-scheme:dark" in drawing


def test_a_small_fabric_shows_every_device_and_every_link(built: Build) -> None:
    cluster, _ = built(8, topology="single-switch", switch="qm9790")
    root = ET.fromstring(draw_logical_fabric(cluster))
    shown = {text for text, _ in texts(root)}
    assert {*(f"srv{i:02d}" for i in range(1, 9)), "leaf-01"} <= shown
    lines = [e for e in root.iter(f"{SVG}path") if e.find(f"{SVG}title") is not None]
    assert len(lines) == len({line.get("d") for line in lines}) == 64


def test_a_large_fabric_folds_what_is_alike(built: Build) -> None:
    cluster, _ = built(**TWENTY)
    root = ET.fromstring(draw_logical_fabric(cluster))
    shown = [text for text, _ in texts(root)]
    assert {
        "Unit 1",
        "Unit 2",
        "17 more units",
        "Unit 20",
        "29 × generic-1g-1x1n-400g",
        "32 in each unit",
    } <= set(shown)
    boxes = [e for e in root.iter(f"{SVG}rect") if e.find(f"{SVG}title") is not None]
    assert len(boxes) <= 12


def test_units_that_differ_among_the_folded_ones_are_not_called_alike(built: Build) -> None:
    cluster, _ = built(**TWENTY)
    keep = np.ones(len(cluster.links), bool)
    keep[cluster.links.port_a[keep] == cluster.links.port_a[32 * 5]] = False
    links = cluster.links
    fewer = replace(
        links,
        port_a=links.port_a[keep],
        port_b=links.port_b[keep],
        bytes_per_s=links.bytes_per_s[keep],
        assembly=links.assembly[keep],
    )
    shown = [text for text, _ in texts(ET.fromstring(draw_logical_fabric(replace(cluster, links=fewer))))]
    assert "units differ" in shown
    assert "32 in each unit" not in shown


def test_foreign_texts_are_escaped_and_cut(built: Build) -> None:
    cluster, _ = built(8, topology="single-switch", switch="qm9790")
    names = (
        "</text><script>alert(1)</script>",
        "x" * 500,
        *(f"n{i}\x1b[1m" for i in range(len(cluster.devices) - 2)),
    )
    fabric = replace(cluster.fabrics[0], name='"><b>' * 40, topology="&" * 300)
    read = replace(cluster, name="<i>" * 50, fabrics=(fabric,), devices=replace(cluster.devices, names=names))
    drawing = draw_logical_fabric(read)
    root = ET.fromstring(drawing)
    assert "<script" not in drawing
    assert "\x1b" not in drawing
    assert all(place.right <= 1280 for _, place in texts(root))


def test_devices_of_unknown_role_are_said_not_to_be_drawn(built: Build) -> None:
    cluster, _ = built(8, topology="single-switch", switch="qm9790")
    role = cluster.devices.role.copy()
    role[0] = -1
    shown = [
        t
        for t, _ in texts(
            ET.fromstring(draw_logical_fabric(replace(cluster, devices=replace(cluster.devices, role=role))))
        )
    ]
    assert any(text.startswith("not drawn: 8 links to a device of unknown role") for text in shown)


def test_a_fabric_that_is_not_there_is_refused(built: Build) -> None:
    cluster, _ = built(8, topology="single-switch", switch="qm9790")
    with pytest.raises(InputError, match="fabric 1 is not in cluster example; it has 1"):
        draw_logical_fabric(cluster, 1)
    empty = replace(cluster, fabrics=(*cluster.fabrics, Fabric("none", "fat-tree", "ethernet", 1, 2, "ecmp")))
    with pytest.raises(InputError, match="fabric none has no device"):
        draw_logical_fabric(empty, 1)


def test_texts_are_cut_to_the_width_they_have() -> None:
    assert fitted("short", 100, 12) == "short"
    cut = fitted("a long text that does not fit", 60, 12)
    assert cut.endswith("…")
    assert text_width(cut, 12) <= 60
    assert fitted("wide", 3, 12) == ""


def test_a_storage_fabric_shows_its_storage_servers(two_fabrics: Any) -> None:
    root = ET.fromstring(draw_logical_fabric(two_fabrics, 1))
    shown = [text for text, _ in texts(root)]
    assert {"storage-leaf-01", "storage-01", "storage-09", "9 storage servers"} <= set(shown)
    assert amounts(root) == 18


def test_managers_stand_in_a_column_of_their_own(two_fabrics: Any) -> None:
    root = ET.fromstring(draw_logical_fabric(two_fabrics, 0))
    assert "2 managers" in [text for text, _ in texts(root)]
    assert "63 servers" in [text for text, _ in texts(root)]


def test_links_to_managers_are_told_apart_as_in_the_text(built: Build) -> None:
    cluster, _ = built(
        63,
        topology="rail-optimized",
        switch="qm9790",
        unit_servers=32,
        managers={"count": 2, "links": 2},
    )
    counts = link_counts(cluster, 0)
    shown = {text for text, _ in texts(ET.fromstring(draw_logical_fabric(cluster)))}
    assert counts["other"] == 4
    assert f"{counts['server_leaf']:,} links + 4 other" in shown
    assert f"{counts['leaf_spine']:,} links" in shown
