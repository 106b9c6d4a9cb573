"""Kinds of rack and what the room must bring to them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from gpufabric.formats.cluster_yaml import resolve_spec
from gpufabric.jobs.design import Design, design
from gpufabric.records.cluster_spec import ClusterSpec
from gpufabric.report.bill_of_materials import bill_of_materials
from gpufabric.report.design_text import design_sections
from gpufabric.report.rack_groups import rack_groups
from gpufabric.report.rack_supply import rack_supply
from gpufabric.report.report_summary import summary_cards

RAILS = {"topology": "rail-optimized", "switch": "qm9790", "tiers": 2}
TRAY = "gb200-nvl72-tray"


@pytest.fixture(scope="module")
def superpod() -> Design:
    return design(resolve_spec("preset:superpod-b200"))


def test_kinds_of_rack_cover_every_rack_and_device(superpod: Design) -> None:
    groups = superpod.rack_groups
    racks = np.concatenate([group.racks for group in groups])
    assert sorted(racks.tolist()) == list(range(len(superpod.floor_plan.racks)))
    assert sum(len(group.racks) * len(group.devices) for group in groups) == len(superpod.cluster.devices)
    for group in groups:
        assert np.allclose(superpod.floor_plan.rack_power_w[group.racks], group.power_w)
        assert (superpod.floor_plan.rack_units_used[group.racks] == group.units_used).all()


def test_racks_that_differ_in_one_unit_are_two_kinds(superpod: Design) -> None:
    plan = superpod.floor_plan
    lowest = plan.lowest_unit.copy()
    lowest[superpod.rack_groups[0].devices[-1]] += 1
    moved = rack_groups(superpod.cluster, replace(plan, lowest_unit=lowest))
    assert len(moved) == len(superpod.rack_groups) + 1


def test_the_published_feed_air_and_pdus_of_two_servers_a_rack(superpod: Design) -> None:
    # "DGX SuperPOD data center best practices with DGX B200": 28.6 kW, 4,290 CFM and 380 V 32 A for two DGX B200 a rack.
    row = superpod.supply.rows[0]
    assert (row.purpose, row.devices, row.power_w) == ("compute", 2, 28_600.0)
    assert (row.feeds, row.feed_w, row.feed_circuit) == (2, 14_300.0, "three-phase 380 V 32 A")
    assert row.airflow_cfm == pytest.approx(4290.0)
    assert row.pdus == 3


def test_four_servers_a_rack_take_the_larger_circuit(designed: Callable[..., Design]) -> None:
    # The same source: 57.2 kW, 8,580 CFM and 415 V 60 A for four.
    room = {"rack_power": "60 kW", "rack_units": 52}
    row = designed(32, "dgx-b200", room=room, **RAILS).supply.rows[0]
    assert (row.power_w, row.feed_circuit) == (57_200.0, "three-phase 415 V 60 A")
    assert row.airflow_cfm == pytest.approx(8580.0)


def test_pdus_are_those_of_the_published_bill() -> None:
    # DGX SuperPOD reference architecture for DGX H100, RA-11333-001 V11, table 7: 38 racks, 32 of them compute, 108 PDUs.
    result = design(resolve_spec("preset:superpod-h100"))
    pdus = {row.purpose: row.pdus for row in result.supply.rows}
    assert 32 * pdus["compute"] + 6 * pdus["management"] == 108
    assert pdus["network"] == pdus["management"]


def test_other_servers_get_pdus_by_power(designed: Callable[..., Design]) -> None:
    result = designed(64, "hgx-h100", room={"rack_power": "90 kW"}, topology="leaf-spine", switch="sn5600")
    for row in result.supply.rows:
        assert row.pdus == 2 * max(1, int(np.ceil((row.power_w or 0) / 2 / 34_500)))
    assert result.supply.pdus == sum(row.racks * row.pdus for row in result.supply.rows)
    assert result.supply.pdus_follow_power


def test_unknown_power_stays_unknown_and_is_counted(designed: Callable[..., Design]) -> None:
    tray = {"gpus": 4, "nics": 4, "nic_rate": "400 Gb/s", "domain_servers": 18}
    supply = designed(36, tray, topology="rail-optimized", switch="qm9790", unit_servers=36, tiers=2).supply
    row = supply.rows[0]
    assert row.power_w is None
    assert row.unknown_power == 18
    assert supply.unknown_power == 36
    assert any("36 devices is not wholly known" in text for text in supply.assumptions)


def test_a_rack_of_which_nothing_is_known_has_no_figures(superpod: Design) -> None:
    plan = superpod.floor_plan
    unknown = replace(plan, power_w=np.full_like(plan.power_w, np.nan), power_at_least=None)
    groups = rack_groups(superpod.cluster, unknown)
    row = rack_supply(superpod.cluster, unknown, {}, groups).rows[0]
    assert (row.power_w, row.feed_w, row.airflow_cfm, row.feed_circuit) == (None, None, None, "")
    assert row.unknown_power == row.devices


def test_racks_of_one_kind_show_the_one_that_draws_most(superpod: Design) -> None:
    plan, kind = superpod.floor_plan, superpod.rack_groups[0]
    power = plan.power_w.copy()
    power[kind.devices[0]] += 100.0
    more = replace(plan, power_w=power)
    groups = rack_groups(superpod.cluster, more)
    assert (len(groups), groups[0].power_w) == (len(superpod.rack_groups), kind.power_w + 100.0)
    supply = rack_supply(superpod.cluster, more, superpod.parts, groups)
    assert supply.airflow_cfm == pytest.approx(superpod.supply.airflow_cfm + 15.0)


@pytest.mark.slow
def test_trays_stand_in_the_rack_that_they_are_sold_in() -> None:
    """1.2 MW for eight GB200 NVL72 racks, DGX SuperPOD reference architecture for DGX GB200; the switches come on top."""
    result = design(resolve_spec("preset:nvl72-gb200"))
    row = next(row for row in result.supply.rows if row.part)
    assert (row.part, row.racks, row.devices, row.pdus) == ("gb200-nvl72-rack", 8, 18, 0)
    assert (row.power_w, row.feed_w, row.unknown_power) == (150_000.0, 75_000.0, 0)
    assert row.airflow_cfm is None
    assert result.supply.racks_without_air == 8
    assert result.supply.airflow_cfm == pytest.approx(0.15 * 56 * 1720)
    assert any("goes into liquid" in "".join(text.split("\n")) for text in result.supply.assumptions)
    bill = {(line["part"], line["kind"]): line for line in result.document["bill_of_materials"]}
    rack = bill["gb200-nvl72-rack", "rack"]
    assert (rack["count"], rack["power_w"], rack["included"]) == (8, 1_200_000.0, False)
    assert "9 NVLink switch trays, eight power shelves" in rack["description"]
    assert bill["gb200-nvl72-tray", "server"]["included"]
    assert bill["gb200-nvl72-tray", "server"]["count"] == 144
    assert bill["rack", "rack"]["count"] == result.supply.racks - 8
    assert result.document["power_w"] > 1_200_000 + 56 * 1720


def test_gb300_racks_have_the_published_power() -> None:
    result = design(resolve_spec("preset:nvl72-gb300"))
    row = next(row for row in result.supply.rows if row.part)
    assert (row.part, row.racks, row.power_w) == ("gb300-nvl72-rack", 16, 142_000.0)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("preset", "value", "remark"),
    [
        ("nvl72-gb200", "14,448 CFM", "6.819 m³/s; without 8 racks, whose liquid-cooled share is not known"),
        ("nvl72-gb300", "unknown", "16 racks, whose liquid-cooled share is not known"),
    ],
)
def test_no_air_is_claimed_for_racks_of_unknown_cooling(preset: str, value: str, remark: str) -> None:
    document = design(resolve_spec(f"preset:{preset}")).document
    cards = {card.title: (card.value, card.remark) for card in summary_cards(document)}
    assert cards["Cooling air"] == (value, remark)
    rows = dict(row for row in design_sections(document)[0].rows)
    assert value in rows["cooling air"]
    assert "liquid-cooled share" in rows["cooling air"]


@pytest.mark.slow
def test_trays_that_are_spread_over_more_racks_stand_in_racks_like_any_others() -> None:
    spec = {"servers": {"model": TRAY, "count": 36, "per_rack": 9}, "fabrics": RAILS | {"unit_servers": 36}}
    result = design(ClusterSpec.model_validate(spec))
    assert not any(row.part for row in result.supply.rows)
    assert result.supply.unknown_power == 36
    assert not any(
        line["included"] and line["kind"] == "server" for line in result.document["bill_of_materials"]
    )


def test_a_rack_that_is_sold_with_its_servers_can_be_too_much_for_the_room() -> None:
    room = {"rack_power": "120 kW"}
    spec = {"servers": {"model": TRAY, "count": 36}, "fabrics": RAILS | {"unit_servers": 36}, "room": room}
    found = [
        finding
        for finding in design(ClusterSpec.model_validate(spec)).findings
        if finding.rule == "rack-power"
    ]
    assert [finding.found for finding in found] == ["150 kW"]


@pytest.mark.slow
def test_power_distribution_units_are_bought_once() -> None:
    result = design(resolve_spec("preset:superpod-h100-full"))
    lines = [line for line in result.document["bill_of_materials"] if line["kind"] == "pdu"]
    assert [line["count"] for line in lines] == [result.supply.pdus]
    assert {row.pdus for row in result.supply.rows if row.purpose == "compute"} == {3}
    assert {row.pdus for row in result.supply.rows if row.purpose != "compute"} == {2}


def test_totals_are_the_sums_of_the_rows(superpod: Design) -> None:
    supply = superpod.supply
    again = rack_supply(superpod.cluster, superpod.floor_plan, superpod.parts, superpod.rack_groups)
    assert supply == again
    assert supply.racks == len(superpod.floor_plan.racks)
    assert supply.airflow_cfm == pytest.approx(sum(row.racks * (row.airflow_cfm or 0) for row in supply.rows))


def test_racks_and_pdus_are_in_the_bill_of_the_whole_only(superpod: Design) -> None:
    parts = superpod.parts.by_id
    whole = bill_of_materials(superpod.cluster, parts, supply=superpod.supply)
    counts = {row.kind: row.count for row in whole.rows if row.kind in {"rack", "pdu"}}
    assert counts == {"rack": superpod.supply.racks, "pdu": superpod.supply.pdus}
    one = bill_of_materials(superpod.cluster, parts, 0, supply=superpod.supply)
    assert not {"rack", "pdu", "server"} & {row.kind for row in one.rows}
