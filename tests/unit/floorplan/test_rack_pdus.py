"""Power distribution units stand beside the racks that need them, in the order of the racks."""

from __future__ import annotations

import numpy as np
import pytest

from gpufabric.catalog.load import load_catalog
from gpufabric.floorplan.rack_pdus import rack_pdus
from gpufabric.formats.cluster_yaml import resolve_spec
from gpufabric.jobs.racked_cluster import RackedCluster, racked_cluster
from gpufabric.records.cluster import DeviceKind
from gpufabric.records.cluster_spec import ClusterSpec
from gpufabric.records.floor_plan import RackPurpose

CATALOG = load_catalog()
OUT_OF_BAND = {
    "topology": "leaf-spine",
    "purpose": "out-of-band",
    "network": "ethernet",
    "switch": "sn2201",
    "tiers": 1,
}


def racked(pdus: int, model: str = "dgx-h100") -> RackedCluster:
    spec = {"servers": {"model": model, "count": 8, "per_rack": 2}, "fabrics": {**OUT_OF_BAND, "pdus": pdus}}
    return racked_cluster(ClusterSpec.model_validate(spec), CATALOG)


def beside(found: RackedCluster) -> list[int]:
    mine = found.cluster.devices.kind == DeviceKind.PDU
    return np.bincount(found.floor_plan.rack[mine], minlength=len(found.floor_plan.racks)).tolist()


def test_every_rack_has_its_own():
    """Four compute racks with 3 each and one with the switch, 2: 14."""
    found = racked(14)
    assert beside(found) == [3, 3, 3, 3, 2]
    assert not any("power distribution units described" in text for text in found.floor_plan.assumptions)


@pytest.mark.parametrize(("pdus", "expected"), [(7, [3, 3, 1, 0, 0]), (16, [5, 3, 3, 3, 2])])
def test_another_number_than_needed_is_said(pdus: int, expected: list[int]):
    found = racked(pdus)
    assert beside(found) == expected
    said = [text for text in found.floor_plan.assumptions if "described, the racks need 14" in text]
    assert len(said) == 1


def test_other_servers_have_two_for_each_half_of_the_power():
    found = racked(10, "hgx-h100")
    each = rack_pdus(found.cluster, found.floor_plan)
    assert each.tolist() == [2, 2, 2, 2, 2]
    assert beside(found) == [2, 2, 2, 2, 2]


def test_they_take_no_height_and_draw_nothing():
    found = racked(14)
    mine = found.cluster.devices.kind == DeviceKind.PDU
    plan = found.floor_plan
    assert set(plan.height_units[mine].tolist()) == {0}
    assert set(plan.lowest_unit[mine].tolist()) == {1}
    assert plan.rack_power_w[plan.racks.purpose == RackPurpose.COMPUTE].tolist() == [20_400.0] * 4


def test_the_cables_of_a_superpod_are_as_long_as_their_ways():
    found = racked_cluster(resolve_spec("preset:superpod-h100-full"), CATALOG)
    cluster, plan = found.cluster, found.floor_plan
    placed = beside(found)
    compute = plan.racks.purpose == RackPurpose.COMPUTE
    assert [n for n, is_compute in zip(placed, compute.tolist(), strict=True) if is_compute] == [3] * 32
    assert sum(placed) == 108
    mine = cluster.devices.kind[cluster.link_device_a] == DeviceKind.PDU
    assert plan.lengths is not None
    lengths = plan.lengths.total_m[mine]
    assert mine.sum() == 108
    assert len(np.unique(plan.rack[cluster.link_device_a[mine]])) == 38
    assert np.ptp(lengths) > 5
