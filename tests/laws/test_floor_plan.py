"""For random descriptions and rooms: every device has a place of its own, and every cable is long enough."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import HealthCheck, given, reject, settings
from hypothesis import strategies as st

from gpufabric.catalog.load import load_catalog
from gpufabric.errors import UnbuildableError
from gpufabric.jobs.racked_cluster import RackedCluster, racked_cluster
from gpufabric.records.cluster_spec import ClusterSpec
from gpufabric.records.port_cages import cabled_lengths_m
from gpufabric.rules import FLOOR_RULES

CATALOG = load_catalog()
SERVERS = st.sampled_from(["dgx-a100", "dgx-h100", "dgx-b200", "dgx-b300-spectrum", "gb200-nvl72-tray"])
SWITCHES = st.sampled_from(["qm8790", "qm9790", "sn5600", "sn5400", "sn4700"])


@st.composite
def rooms(draw: Any) -> dict[str, Any]:
    keys = {
        "rack_power": st.sampled_from(["15 kW", "41 kW", "132 kW"]),
        "rack_units": st.integers(10, 52),
        "racks_per_row": st.integers(1, 30),
        "leaf_placement": st.sampled_from(["in-rack", "row-end", "row-middle"]),
        "slack": st.sampled_from(["10 cm", "3 m"]),
        "tray_height": st.sampled_from(["20 cm", "1 m"]),
    }
    return {key: draw(values) for key, values in keys.items() if draw(st.booleans())}


@st.composite
def specs(draw: Any) -> ClusterSpec:
    fabric: dict[str, Any] = {
        "topology": draw(st.sampled_from(["leaf-spine", "rail-optimized", "fat-tree"])),
        "switch": draw(SWITCHES),
    }
    if draw(st.booleans()):
        fabric["unit_servers"] = draw(st.integers(1, 40))
    if draw(st.integers(0, 3)) == 0:
        fabric["managers"] = {"count": 2, "links": 1}
    if draw(st.integers(0, 3)) == 0:
        fabric["cables"] = {"leaf_spine": {"trunk_fibres": draw(st.sampled_from([8, 24, 144]))}}
    servers: dict[str, Any] = {"model": draw(SERVERS), "count": draw(st.integers(1, 120))}
    if draw(st.integers(0, 3)) == 0:
        servers["per_rack"] = draw(st.integers(1, 6))
    return ClusterSpec.model_validate({"servers": servers, "fabrics": fabric, "room": draw(rooms())})


def racked(spec: ClusterSpec) -> RackedCluster:
    try:
        return racked_cluster(spec, CATALOG)
    except UnbuildableError:
        return reject()


LIMITS = settings(
    max_examples=100, deadline=None, suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow]
)


@LIMITS
@given(specs())
def test_every_device_has_rack_units_of_its_own(spec: ClusterSpec) -> None:
    found = racked(spec)
    plan = found.floor_plan
    assert (plan.rack >= 0).all()
    assert np.array_equal(found.cluster.devices.rack, plan.rack)
    taken = set()
    for rack, lowest, height in zip(plan.rack, plan.lowest_unit, plan.height_units, strict=True):
        units = {(int(rack), unit) for unit in range(int(lowest), int(lowest + height))}
        assert lowest >= 1
        assert not units & taken
        taken |= units
    top = plan.lowest_unit + plan.height_units - 1
    full = plan.rack_units_used > plan.racks.units
    assert (top[~full[plan.rack]] <= plan.racks.units[0]).all()


@LIMITS
@given(specs())
def test_no_rack_is_empty_or_in_the_place_of_another(spec: ClusterSpec) -> None:
    plan = racked(spec).floor_plan
    racks = plan.racks
    assert np.array_equal(np.unique(plan.rack), np.arange(len(racks)))
    assert len({*zip(racks.row.tolist(), racks.position.tolist(), strict=True)}) == len(racks)
    assert len({*zip(racks.x_m.round(3).tolist(), racks.y_m.round(3).tolist(), strict=True)}) == len(racks)
    assert len(set(racks.names)) == len(racks)
    assert racks.position.max() < (spec.room.racks_per_row or 10)


@LIMITS
@given(specs())
def test_a_rack_is_overfull_only_with_one_device_or_by_wish(spec: ClusterSpec) -> None:
    plan = racked(spec).floor_plan
    devices = np.bincount(plan.rack)
    over = (plan.rack_power_w > plan.racks.power_w + 1e-6) | (plan.rack_units_used > plan.racks.units)
    wished = spec.servers[0].per_rack is not None or spec.servers[0].model == "gb200-nvl72-tray"
    alone = devices == 1
    if not wished and spec.room.leaf_placement != "in-rack":
        assert alone[over].all()


@LIMITS
@given(specs())
def test_cables_are_longer_than_the_straight_way_and_long_enough(spec: ClusterSpec) -> None:
    found = racked(spec)
    cluster, plan = found.cluster, found.floor_plan
    a, b = plan.rack[cluster.link_device_a], plan.rack[cluster.link_device_b]
    straight = np.abs(plan.racks.x_m[a] - plan.racks.x_m[b]) + np.abs(plan.racks.y_m[a] - plan.racks.y_m[b])
    assert plan.lengths is not None
    assert (plan.lengths.total_m >= straight - 1e-9).all()
    assert (cabled_lengths_m(cluster) >= plan.lengths.total_m - 1e-6).all()
    assert FLOOR_RULES["cable-long-enough"](cluster, found.parts, spec, plan) == []


@LIMITS
@given(specs())
def test_every_link_has_one_assembly_and_trunks_are_not_overfull(spec: ClusterSpec) -> None:
    found = racked(spec)
    cluster = found.cluster
    used = np.bincount(cluster.links.assembly, minlength=len(cluster.assemblies))
    assert (cluster.links.assembly >= 0).all()
    assert (used > 0).all()
    for number, part_id in enumerate(cluster.parts):
        cable = found.parts.cables.get(part_id)
        if cable is not None:
            assert (used[cluster.assemblies.part == number] <= cable.links).all()
