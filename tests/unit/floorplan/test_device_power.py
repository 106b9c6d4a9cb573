"""Power of devices: once with its transceivers, whichever figure is published."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from gpufabric.catalog.load import load_catalog
from gpufabric.floorplan.device_power import device_power, kept_power_w, modules_covered, own_power
from gpufabric.jobs.racked_cluster import RackedCluster, racked_cluster
from gpufabric.records.cluster import DeviceKind
from gpufabric.records.cluster_spec import ClusterSpec

CATALOG = load_catalog()


def racked(switch: str, **room: Any) -> RackedCluster:
    fabric = {"topology": "leaf-spine", "switch": switch, "link_rate": "400 Gb/s"}
    spec = {"servers": {"model": "dgx-h100", "count": 96}, "fabrics": fabric, "room": room}
    return racked_cluster(ClusterSpec.model_validate(spec), CATALOG)


def module_power(found: RackedCluster, device: int) -> float:
    modules = found.cluster.modules
    mine = modules.part[modules.device == device].tolist()
    return sum(found.parts.transceivers[found.cluster.parts[part]].max_power_w or 0.0 for part in mine)


@pytest.mark.parametrize(
    ("switch", "watts", "typical", "covers"),
    [
        ("qm9700", 1720.0, False, True),
        ("qm9790", 1610.0, False, True),
        ("sn5610", 2080.0, False, True),
        ("n9364e-sg2-o", 2270.0, False, False),
        ("sn5600", 940.0, True, False),
        ("n9600-64od", None, False, False),
    ],
)
def test_the_figure_of_a_switch(switch: str, watts: float | None, typical: bool, covers: bool):
    """Largest power: QM97xx with active cables, SN5610 with 64 optics (hardware manuals, specifications)."""
    found = own_power(CATALOG.get(switch))
    assert (found.power_w, found.typical, found.covers_modules) == (watts, typical, covers)


def test_transceivers_are_added_to_a_typical_power():
    found = racked("sn5600")
    plan, devices = found.floor_plan, found.cluster.devices
    switches = np.flatnonzero(devices.kind == DeviceKind.SWITCH)
    for switch in switches.tolist():
        assert plan.power_w[switch] == pytest.approx(940.0 + module_power(found, switch))
    assert plan.power_w[switches].max() > 940.0 + 60 * 15.0
    assert plan.unsure_power[switches].all()
    assert "typical power of sn5600; its largest is not published" in plan.assumptions


def test_transceivers_add_nothing_to_a_power_that_covers_them():
    found = racked("qm9790")
    plan, devices = found.floor_plan, found.cluster.devices
    switches = devices.kind == DeviceKind.SWITCH
    assert set(plan.power_w[switches]) == {1610.0}
    assert not plan.unsure_power[switches].any()
    assert np.array_equal(modules_covered(found.cluster, found.parts), switches[found.cluster.modules.device])


def test_racks_are_filled_by_the_power_with_transceivers():
    found = racked("sn5600", rack_power="12 kW", rack_units=48, leaf_placement="row-end")
    plan = found.floor_plan
    assert (plan.rack_power_w <= 12_000.0).all()
    switches = np.flatnonzero(found.cluster.devices.kind == DeviceKind.SWITCH)
    without = plan.rack_power_w.max() - 940.0
    assert np.bincount(plan.rack[switches]).max() * 940.0 < without


def test_a_device_of_unknown_power_counts_with_its_known_transceivers_as_a_lower_bound():
    found = racked("sn5600")
    parts = {**found.parts.by_id}
    del parts["sn5600"]
    power = device_power(found.cluster, parts)
    switch = int(np.flatnonzero(found.cluster.devices.kind == DeviceKind.SWITCH)[0])
    assert power.power_w[switch] == pytest.approx(module_power(found, switch))
    assert power.at_least[switch]
    assert "sn5600: power unknown, not counted in its rack" in power.assumptions
    bare = replace(found.cluster.modules, device=found.cluster.modules.device[:0], cage=found.cluster.modules.cage[:0],
                   part=found.cluster.modules.part[:0])  # fmt: skip
    assert np.isnan(device_power(replace(found.cluster, modules=bare), parts).power_w[switch])


def test_a_rack_keeps_what_the_cage_gives_for_a_transceiver_of_unknown_power():
    """SN5000 manual, data interfaces: 18 W a cage of an SN5600."""
    found = racked("sn5600")
    modules, switches = found.cluster.modules, found.cluster.devices.kind == DeviceKind.SWITCH
    unfitted = replace(found.cluster, modules=replace(modules, part=np.full_like(modules.part, -1)))
    count = np.bincount(modules.device, minlength=len(switches))
    assert np.allclose(kept_power_w(unfitted, found.parts)[switches], 940.0 + 18.0 * count[switches])
    known = device_power(found.cluster, found.parts).power_w
    assert np.allclose(kept_power_w(found.cluster, found.parts), known)


def test_a_transceiver_without_a_part_is_said():
    found = racked("sn5600")
    modules = found.cluster.modules
    unfitted = replace(found.cluster, modules=replace(modules, part=np.full_like(modules.part, -1)))
    power = device_power(unfitted, found.parts)
    assert power.at_least[modules.device].all()
    assert (
        f"transceivers without a part: power unknown, not counted ({len(modules):,} transceivers)"
        in power.assumptions
    )
