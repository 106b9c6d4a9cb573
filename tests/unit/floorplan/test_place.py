"""Where devices stand: units together, leaves where the room says, spines in the middle, sizes assumed in the open."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gpufabric.catalog.load import load_catalog
from gpufabric.errors import SpecError
from gpufabric.jobs.racked_cluster import RackedCluster, racked_cluster
from gpufabric.records.cluster import DeviceKind, Role
from gpufabric.records.cluster_spec import ClusterSpec
from gpufabric.records.floor_plan import RackPurpose, row_letters

CATALOG = load_catalog()


def racked(
    servers: dict[str, Any] | list[dict[str, Any]], room: dict[str, Any] | None = None, **fabric: Any
) -> RackedCluster:
    fabrics = {"topology": "rail-optimized", "switch": "qm9790", **fabric}
    spec = ClusterSpec.model_validate({"servers": servers, "fabrics": fabrics, "room": room or {}})
    return racked_cluster(spec, CATALOG)


def racks_of(found: RackedCluster, purpose: int) -> int:
    return int((found.floor_plan.racks.purpose == purpose).sum())


def test_power_decides_how_many_servers_a_rack_takes():
    """10.2 kW a DGX H100: three in 40 kW, four in 41 kW; 14.3 kW a DGX B200: two in 40 kW."""
    for model, power, expected in (
        ("dgx-h100", "40 kW", 3),
        ("dgx-h100", "41 kW", 4),
        ("dgx-b200", "40 kW", 2),
    ):
        found = racked({"model": model, "count": 24}, {"rack_power": power})
        servers = found.cluster.devices.kind == DeviceKind.SERVER
        assert np.bincount(found.floor_plan.rack[servers]).max() == expected


def test_height_decides_where_power_is_plenty():
    found = racked({"model": "dgx-h100", "count": 24}, {"rack_power": "1 MW", "rack_units": 42})
    assert racks_of(found, RackPurpose.COMPUTE) == 5


def test_a_unit_starts_on_a_new_rack():
    """Two units of 32 servers, three a rack: 11 racks each, not 22 racks shared in the middle."""
    found = racked({"model": "dgx-h100", "count": 64}, {"rack_power": "40 kW"})
    devices, plan = found.cluster.devices, found.floor_plan
    servers = devices.kind == DeviceKind.SERVER
    first, second = (set(plan.rack[servers & (devices.unit == unit)].tolist()) for unit in (0, 1))
    assert len(first) == len(second) == 11
    assert not first & second


def test_a_scale_up_domain_has_a_rack_of_its_own_and_no_assumed_power_limit():
    found = racked({"model": "gb200-nvl72-tray", "count": 36})
    compute = found.floor_plan.racks.purpose == RackPurpose.COMPUTE
    assert compute.sum() == 2
    assert np.isnan(found.floor_plan.racks.power_w[compute]).all()
    given = racked({"model": "gb200-nvl72-tray", "count": 36}, {"rack_power": "132 kW"})
    assert set(given.floor_plan.racks.power_w) == {132_000.0}


def test_nothing_else_is_put_into_a_rack_that_is_sold_with_its_trays():
    found = racked({"model": "gb200-nvl72-tray", "count": 36}, {"leaf_placement": "in-rack"})
    plan = found.floor_plan
    sold = plan.racks.part >= 0
    assert sold.sum() == 2
    assert plan.rack_parts == ("gb200-nvl72-rack",)
    inside = sold[plan.rack]
    assert set(found.cluster.devices.role[inside].tolist()) == {Role.SERVER}
    assert (plan.contained == inside).all()
    assert plan.rack_power_w[sold].tolist() == [150_000.0] * 2
    assert any("150 kW a rack, an eighth" in text for text in plan.assumptions)


@pytest.mark.parametrize("placement", ["row-end", "row-middle"])
def test_leaves_stand_in_the_row_of_their_servers(placement: str):
    found = racked({"model": "dgx-h100", "count": 128}, {"leaf_placement": placement, "rack_power": "41 kW"})
    cluster, plan = found.cluster, found.floor_plan
    to_leaf = cluster.devices.role[cluster.link_device_b] == Role.LEAF
    lower, upper = plan.rack[cluster.link_device_a[to_leaf]], plan.rack[cluster.link_device_b[to_leaf]]
    assert (plan.racks.row[lower] == plan.racks.row[upper]).all()
    position = set(plan.racks.position[upper].tolist())
    assert position == ({8} if placement == "row-end" else {4})


def test_leaves_in_the_racks_of_their_servers_share_them_out():
    """Eight leaves of a unit over its eleven racks: none has two."""
    found = racked({"model": "dgx-h100", "count": 128}, {"leaf_placement": "in-rack"})
    cluster, plan = found.cluster, found.floor_plan
    leaves = np.flatnonzero(cluster.devices.role == Role.LEAF)
    assert (plan.racks.purpose[plan.rack[leaves]] == RackPurpose.COMPUTE).all()
    assert np.bincount(plan.rack[leaves]).max() == 1
    to_leaf = cluster.devices.role[cluster.link_device_b] == Role.LEAF
    assert (plan.rack_power_w <= plan.racks.power_w).all()
    unit_a, unit_b = (
        cluster.devices.unit[end[to_leaf]] for end in (cluster.link_device_a, cluster.link_device_b)
    )
    assert np.array_equal(unit_a, unit_b)


def test_a_leaf_that_no_server_rack_has_the_height_for_stands_centrally():
    room = {"leaf_placement": "in-rack", "rack_units": 8, "rack_power": "1 MW"}
    found = racked({"model": "dgx-h100", "count": 8}, room)
    plan = found.floor_plan
    leaves = found.cluster.devices.role == Role.LEAF
    assert (plan.racks.purpose[plan.rack[leaves]] == RackPurpose.NETWORK).all()
    assert any("central, for want of a place near the servers: " in text for text in plan.assumptions)


def test_switches_hang_from_the_top_and_servers_stand_at_the_bottom():
    found = racked({"model": "dgx-h100", "count": 32}, {"leaf_placement": "in-rack"})
    plan, devices = found.floor_plan, found.cluster.devices
    servers = devices.kind == DeviceKind.SERVER
    assert plan.lowest_unit[servers].min() == 1
    leaves = devices.role == Role.LEAF
    assert (plan.lowest_unit[leaves] == 48).all()


def test_spines_stand_in_the_middle_of_a_large_room():
    found = racked({"model": "dgx-h100", "count": 512}, {"rack_power": "41 kW"})
    plan, devices = found.floor_plan, found.cluster.devices
    spines = np.isin(devices.role, (Role.SPINE, Role.CORE))
    far = np.abs(plan.racks.y_m - plan.racks.y_m.mean())
    assert far[plan.rack[spines]].max() < far.mean()


def test_every_row_keeps_its_length_and_columns_make_the_room_square():
    found = racked({"model": "dgx-h100", "count": 2048}, {"racks_per_row": 8})
    racks = found.floor_plan.racks
    assert racks.position.max() < 8
    width, depth = np.ptp(racks.x_m), np.ptp(racks.y_m)
    assert 0.5 < width / depth < 2


def test_groups_of_other_purpose_have_racks_of_their_own():
    groups = [
        {"name": "gpu", "model": "dgx-h100", "count": 8},
        {"name": "disk", "model": {"gpus": 1, "nics": 1, "nic_rate": "400 Gb/s"}, "count": 5, "purpose": "storage",
         "fabrics": {"compute": ["nic0"]}},
        {"name": "head", "model": {"gpus": 1, "nics": 1, "nic_rate": "400 Gb/s"}, "count": 2,
         "purpose": "management", "per_rack": 1, "fabrics": {"compute": ["nic0"]}},
    ]  # fmt: skip
    found = racked(groups, topology="leaf-spine")
    assert racks_of(found, RackPurpose.STORAGE) == 1
    assert racks_of(found, RackPurpose.MANAGEMENT) == 2


def test_what_is_assumed_is_said():
    found = racked({"model": {"gpus": 8, "nics": 8, "nic_rate": "400 Gb/s"}, "count": 8})
    texts = " | ".join(found.floor_plan.assumptions)
    for words in (
        "rack_power 40 kW",
        "racks_per_row 10",
        "height unknown, assumed 8 U",
        "power unknown, not counted",
    ):
        assert words in texts
    room = {
        "rack_power": "40 kW", "rack_units": 48, "racks_per_row": 10, "rack_width": "60 cm", "rack_depth": "1.2 m",
        "aisle_width": "1.2 m", "tray_height": "50 cm", "slack": "1 m", "leaf_placement": "row-end",
    }  # fmt: skip
    assert racked({"model": "dgx-h100", "count": 8}, room).floor_plan.assumptions == (
        "largest power of qm9790 is with modules: transceivers add nothing to it",
        "power of dgx-h100 is not said to cover transceivers: theirs is added",
        "mma4z00-ns-flt: power unknown, not counted (32 transceivers)",
    )


def test_rack_names_are_letters_and_numbers():
    assert [row_letters(row) for row in (0, 25, 26, 701, 702)] == ["A", "Z", "AA", "ZZ", "AAA"]
    found = racked({"model": "dgx-h100", "count": 4})
    assert found.floor_plan.racks.names[0] == "A01"


def test_the_same_description_gives_the_same_plan():
    first, second = (racked({"model": "dgx-b200", "count": 64}).floor_plan for _ in range(2))
    assert np.array_equal(first.rack, second.rack)
    assert np.array_equal(first.lowest_unit, second.lowest_unit)


@pytest.mark.parametrize(
    ("key", "text"), [("rack_depth", "1e308 m"), ("aisle_width", "101 m"), ("slack", "0.01 mm")]
)
def test_a_room_of_another_world_is_refused(key: str, text: str):
    with pytest.raises(SpecError, match=rf"room\.{key}: .* is out of range; allowed is 0\.001 m to 100 m"):
        racked({"model": "dgx-h100", "count": 4}, {key: text})
