"""Published rack counts come out of the floor plan."""

from __future__ import annotations

import numpy as np
import pytest

from gpufabric.catalog.load import load_catalog
from gpufabric.floorplan import kept_power_w
from gpufabric.formats.cluster_yaml import resolve_spec
from gpufabric.jobs.design import design
from gpufabric.jobs.racked_cluster import racked_cluster
from gpufabric.records.cluster import DeviceKind, Role
from gpufabric.records.floor_plan import RackPurpose

CATALOG = load_catalog()


def test_a_four_unit_h100_superpod_has_38_racks():
    """NVIDIA DGX SuperPOD, DGX H100, RA-11333-001 V11 (2023-09-22), Table 7: 127 systems at four a rack, and six racks more.

    Four systems are 40.8 kW, so the racks of that table carry more than 40 kW. Its six other racks hold all fabrics; here they
    hold the compute fabric and its managers.
    """
    racks = racked_cluster(resolve_spec("superpod-h100"), CATALOG).floor_plan.racks
    assert np.count_nonzero(racks.purpose == RackPurpose.COMPUTE) == 32
    assert len(racks) == 38


def test_a_b200_unit_has_16_compute_racks():
    """NVIDIA DGX SuperPOD, DGX B200, RA-11334-001 V08 (2025-04-24), figures 3.1 and 3.2: two systems a rack, 28.6 kW."""
    found = racked_cluster(resolve_spec("superpod-b200"), CATALOG)
    plan, devices = found.floor_plan, found.cluster.devices
    servers = devices.kind == DeviceKind.SERVER
    for unit in range(4):
        assert len(np.unique(plan.rack[servers & (devices.unit == unit)])) == 16
    compute = plan.racks.purpose == RackPurpose.COMPUTE
    assert plan.rack_power_w[compute].max() == pytest.approx(28_600)


@pytest.mark.slow
def test_the_superpod_bill_keeps_its_totals_with_a_floor_plan():
    """RA-11333-001 V11, Table 8: 2,040 fibres, 1,536 switch and 508 server transceivers."""
    rows = design(resolve_spec("superpod-h100")).document["bill_of_materials"]
    totals: dict[str, int] = {}
    for row in rows:
        totals[row["part"]] = totals.get(row["part"], 0) + row["count"]
    assert (totals["mfp7e10"], totals["mma4z00-ns"], totals["mma4z00-ns-flt"]) == (2040, 1536, 508)


@pytest.mark.slow
def test_the_power_of_the_b200_superpod_counts_switch_transceivers_once():
    """QM9700 family hardware manual, specifications: 1,610 W is the largest power of a QM9790 with active cables."""
    document = design(resolve_spec("superpod-b200")).document
    rows = {row["part"]: row for row in document["bill_of_materials"]}
    assert (rows["qm9790"]["count"], rows["mma4z00-ns"]["count"]) == (48, 1536)
    assert rows["mma4z00-ns"]["added_power_w"] == 0.0
    assert rows["mma4z00-ns-flt"]["added_power_w"] is None
    assert document["fabrics"][0]["power_w"] == 48 * 1610.0


@pytest.mark.slow
def test_racks_of_200000_gpus_have_the_power_of_their_optics_and_total_and_racks_agree():
    """SN5600: 940 W typical, no largest power published; 64 modules of 15 to 17 W more than double it."""
    result = design(resolve_spec("three-tier-200k"))
    plan, devices = result.floor_plan, result.cluster.devices
    cores = devices.role == Role.CORE
    assert plan.power_w[cores].min() > 940.0
    assert (plan.rack_power_w <= 40_000.0).all()
    assert np.median(plan.power_w[cores]) > 940.0 + 64 * 10.0
    assert np.bincount(plan.rack[cores]).max() < 24  # so many would fit by height
    kept = np.bincount(plan.rack, weights=kept_power_w(result.cluster, result.parts))
    assert (kept <= 40_000.0 + 1e-6).all()
    assert result.document["power_w"] == pytest.approx(plan.rack_power_w.sum())
    assert result.document["unknown_power_parts"] > 0
    assert all(row.unknown_power for row in result.supply.rows if row.purpose == "network")


@pytest.mark.slow
@pytest.mark.parametrize(
    "preset", ["superpod-h100", "superpod-b300-spectrum", "leaf-spine-roce", "rail-only-h100"]
)
def test_the_total_is_the_sum_of_the_racks(preset: str):
    result = design(resolve_spec(preset))
    assert result.document["power_w"] == pytest.approx(result.floor_plan.rack_power_w.sum(), rel=1e-12)
