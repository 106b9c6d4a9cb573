"""The bill of materials."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from gpufabric.records.cluster import DeviceKind
from gpufabric.report.bill_csv import bill_csv
from gpufabric.report.bill_of_materials import BillRow, bill_of_materials

Build = Callable[..., tuple[Any, Any]]


def by_kind(rows: tuple[BillRow, ...], kind: str) -> list[BillRow]:
    return [row for row in rows if row.kind == kind]


@pytest.fixture
def pod(built: Build) -> Any:
    return built(4, topology="rail-optimized", switch="qm9790", tiers=2, managers={"count": 2, "links": 1})


def test_everything_that_is_bought_is_counted_once(pod: Any) -> None:
    cluster, parts = pod
    bill = bill_of_materials(cluster, parts)
    assert [(r.part, r.count) for r in by_kind(bill.rows, "server")] == [("dgx-h100", 4)]
    switches = int((cluster.devices.kind == DeviceKind.SWITCH).sum())
    assert [(r.part, r.count) for r in by_kind(bill.rows, "switch")] == [("qm9790", switches)]
    assert sum(r.count for r in by_kind(bill.rows, "cable")) == len(cluster.assemblies)
    assert sum(r.count for r in by_kind(bill.rows, "transceiver")) == len(cluster.modules)
    assert sum(r.count for r in by_kind(bill.rows, "manager")) == 2


def test_totals_add_up_what_is_known_and_count_what_is_not(pod: Any) -> None:
    cluster, parts = pod
    bill = bill_of_materials(cluster, parts)
    bought = [row for row in bill.rows if not row.included]
    assert bill.power_w == sum(row.added_power_w or 0 for row in bought)
    assert bill.unknown_power_parts == sum(row.added_power_w is None for row in bought) > 0
    assert bill.price_usd is None
    assert bill.unknown_price_parts == len(bought)


def test_nics_come_with_their_servers(pod: Any) -> None:
    rows = by_kind(bill_of_materials(*pod).rows, "nic")
    assert {row.part: row.count for row in rows}["connectx-7-onboard"] == 4 * 8
    assert all(row.included and row.power_w is None and "not bought apart" in row.note for row in rows)


def test_cables_are_split_by_length_and_unknown_lengths_stay_one_line(pod: Any) -> None:
    cluster, parts = pod
    length = np.full(len(cluster.assemblies), np.nan)
    length[:3], length[3:5] = 2.0, 30.0
    part = np.zeros(len(cluster.assemblies), np.int32)
    measured = replace(cluster, assemblies=replace(cluster.assemblies, length_m=length, part=part))
    rows = by_kind(bill_of_materials(measured, parts).rows, "cable")
    assert [(row.length_m, row.count) for row in rows] == [(2.0, 3), (30.0, 2), (None, len(length) - 5)]


def test_what_no_part_fits_is_said(pod: Any) -> None:
    manager = by_kind(bill_of_materials(*pod).rows, "manager")[0]
    assert (manager.part, manager.power_w, manager.note) == (None, None, "no part of the catalogue fits")


def test_unknown_parts_have_unknown_figures(pod: Any) -> None:
    cluster, _ = pod
    bill = bill_of_materials(cluster, {})
    assert bill.power_w is None
    assert all(row.power_w is None and row.description == "" for row in bill.rows)


def test_what_the_power_of_a_switch_covers_is_shown_and_not_added_again(pod: Any) -> None:
    rows = {row.part: row for row in bill_of_materials(*pod, fabric=0).rows}
    module = rows["mma4z00-ns"]
    assert (module.power_w, module.added_power_w) == (15.0 * module.count, 0.0)
    assert module.note == "power counted with the switches"
    assert rows["qm9790"].added_power_w == rows["qm9790"].power_w == 1610.0 * rows["qm9790"].count


def test_a_typical_power_is_named_and_makes_the_sum_a_lower_bound(built: Build) -> None:
    cluster, parts = built(32, topology="leaf-spine", switch="sn5600")
    bill = bill_of_materials(cluster, parts, 0)
    (switches,) = by_kind(bill.rows, "switch")
    assert switches.power_w == switches.added_power_w == 940.0 * switches.count
    assert switches.typical_power
    assert switches.note.startswith("typical power; the largest is not published")
    bought = [row for row in bill.rows if not row.included]
    assert bill.unknown_power_parts == sum(row.added_power_w is None for row in bought) + 1
    modules = [row for row in by_kind(bill.rows, "transceiver") if row.power_w is not None]
    assert modules
    assert all(row.added_power_w == row.power_w for row in modules)


def test_a_transceiver_in_two_kinds_of_switch_adds_what_is_not_covered(pod: Any) -> None:
    """One switch is exchanged for one whose largest power is not said to cover modules."""
    cluster, parts = pod
    switch = int(np.flatnonzero(cluster.devices.kind == DeviceKind.SWITCH)[0])
    plain = parts.switches["qm9790"].model_copy(update={"id": "plain", "max_power_includes_modules": None})
    part = cluster.devices.part.copy()
    part[switch] = len(cluster.parts)
    mixed = replace(cluster, parts=(*cluster.parts, "plain"), devices=replace(cluster.devices, part=part))
    (row,) = [
        row
        for row in bill_of_materials(mixed, {**parts.by_id, "plain": plain}).rows
        if row.part == "mma4z00-ns"
    ]
    modules = mixed.modules
    added = int(
        np.count_nonzero((modules.device == switch) & (modules.part == mixed.parts.index("mma4z00-ns")))
    )
    assert 0 < added < row.count
    assert row.added_power_w == pytest.approx(15.0 * added)
    assert row.note == f"power of {row.count - added:,} counted with the switches"


def test_a_fibre_draws_nothing(pod: Any) -> None:
    fibre = [row for row in by_kind(bill_of_materials(*pod).rows, "cable") if row.part is not None]
    assert {row.power_w for row in fibre} == {0.0}


def test_the_bill_of_a_fabric_leaves_servers_out_and_counts_its_own_only(pod: Any) -> None:
    cluster, parts = pod
    whole, part = bill_of_materials(cluster, parts), bill_of_materials(cluster, parts, fabric=0)
    assert not by_kind(part.rows, "server")
    for kind in ("switch", "cable", "transceiver"):
        assert by_kind(part.rows, kind) == by_kind(whole.rows, kind)
    assert bill_of_materials(cluster, parts, fabric=1).rows == ()


def test_the_csv_has_a_line_a_row(pod: Any) -> None:
    bill = bill_of_materials(*pod)
    assert bill_csv(bill).count("\r\n") == len(bill.rows) + 1
