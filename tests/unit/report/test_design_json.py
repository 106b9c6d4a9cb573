"""The design document and its sections."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from gpufabric.records.findings import Finding
from gpufabric.report.design_json import design_document
from gpufabric.report.design_text import design_sections

Build = Callable[..., tuple[Any, Any]]


@pytest.fixture
def document(built: Build) -> dict[str, Any]:
    cluster, parts = built(63, topology="rail-optimized", switch="qm9790", managers={"count": 2, "links": 2})
    return design_document(cluster, parts, [Finding("r", "warning", "here", "odd")])


def test_counts_come_from_the_wiring(document: dict[str, Any]) -> None:
    fabric = document["fabrics"][0]
    assert (document["gpus"], document["servers"]) == (504, 63)
    assert fabric["switches"] == {"leaf": 16, "spine": 8, "core": 0}
    assert fabric["links"] == {"server_leaf": 504, "leaf_spine": 512, "spine_core": 0, "other": 4}
    assert fabric["injection_bytes_per_s"] == 504 * 50e9
    assert fabric["bisection_bytes_per_s"] == 252 * 50e9
    assert document["findings"][0]["message"] == "odd"


def test_tiers_say_ports_of_the_fullest_switch_and_the_worst_ratio(document: dict[str, Any]) -> None:
    leaf, spine = document["fabrics"][0]["tiers"]
    assert leaf == {
        "role": "leaf",
        "switches": 16,
        "part": "qm9790",
        "ports_down": 32,
        "ports_up": 32,
        "oversubscription": 1.0,
        "spare_ports": 4,
        "reserved_ports": 0,
    }
    assert (spine["role"], spine["ports_down"], spine["ports_up"], spine["oversubscription"]) == (
        "spine",
        64,
        0,
        None,
    )


def test_oversubscription_compares_capacity_not_ports(built: Build) -> None:
    fabric = {"leaf": {"ports_down": 48}, "link_rate": "400 Gb/s", "uplink_rate": "800 Gb/s"}
    cluster, parts = built(24, topology="leaf-spine", switch="sn5600", oversubscription="2:1", **fabric)
    leaf = design_document(cluster, parts)["fabrics"][0]["tiers"][0]
    assert (leaf["ports_down"], leaf["ports_up"], leaf["oversubscription"]) == (48, 12, 2.0)


def test_a_full_mesh_has_no_tier_and_names_its_links(built: Build) -> None:
    fabric = design_document(*built(8, topology="full-mesh"))["fabrics"][0]
    assert fabric["tiers"] == []
    assert fabric["links"]["server_server"] == 28


def test_the_document_is_plain_json(document: dict[str, Any]) -> None:
    assert json.loads(json.dumps(document, allow_nan=False)) == document


def test_sections_say_the_same_as_the_document(document: dict[str, Any]) -> None:
    sections = {section.title: section for section in design_sections(document)}
    assert list(sections) == ["Cluster example", "Fabric compute", "Tiers of compute", "Bill of materials"]
    fabric = dict(sections["Fabric compute"].rows)
    assert fabric["leaf switches"] == "16"
    assert fabric["server–leaf links"] == "504"
    assert fabric["bisection, one direction"] == "100.8 Tb/s"
    assert ("leaf", "16", "qm9790", "32", "32", "1:1", "4") in sections["Tiers of compute"].rows
    assert dict(sections["Cluster example"].rows)["power"].startswith("at least ")
    assert dict(sections["Cluster example"].rows)["price"] == "unknown"
    for section in sections.values():
        assert {len(row) for row in section.rows} == {len(section.columns)}


def test_what_is_unknown_is_called_unknown(document: dict[str, Any]) -> None:
    fabric = {**document["fabrics"][0], "bisection_bytes_per_s": None, "power_w": None}
    rows = dict(design_sections({**document, "fabrics": [fabric]})[1].rows)
    assert rows["bisection, one direction"] == rows["power without servers"] == "unknown"
