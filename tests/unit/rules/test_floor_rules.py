"""Each rule of the floor plan and of cages finds the fault that it is for, and only that one."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from gpufabric.catalog.load import load_catalog
from gpufabric.jobs.design import design
from gpufabric.jobs.racked_cluster import RackedCluster, racked_cluster
from gpufabric.records.cluster import DeviceKind
from gpufabric.records.cluster_spec import ClusterSpec
from gpufabric.records.findings import Finding
from gpufabric.rules import FLOOR_RULES, RULES

CATALOG = load_catalog()


def spec_of(
    model: str = "dgx-h100",
    count: int = 40,
    switch: str = "qm9790",
    room: dict[str, Any] | None = None,
    per_rack: int | None = None,
    **fabric: Any,
) -> ClusterSpec:
    return ClusterSpec.model_validate(
        {
            "servers": {"model": model, "count": count, "per_rack": per_rack},
            "fabrics": {"topology": "rail-optimized", "switch": switch, **fabric},
            "room": room or {},
        }
    )


def found_in(racked: RackedCluster, spec: ClusterSpec) -> list[Finding]:
    cluster, parts, plan = racked.cluster, racked.parts, racked.floor_plan
    findings = [f for check in RULES.values() for f in check(cluster, parts, spec)]
    return findings + [f for check in FLOOR_RULES.values() for f in check(cluster, parts, spec, plan)]


def only(findings: list[Finding], rule: str, severity: str = "error") -> Finding:
    assert [(f.rule, f.severity) for f in findings] == [(rule, severity)]
    return findings[0]


@pytest.fixture(scope="module")
def sound() -> RackedCluster:
    return racked_cluster(spec_of(), CATALOG)


@pytest.mark.parametrize(
    "preset", ["superpod-a100", "superpod-h100", "superpod-b200", "superpod-b300-xdr", "leaf-spine-roce"]
)
def test_a_preset_has_no_finding(preset: str):
    from gpufabric.formats.cluster_yaml import resolve_spec

    assert design(resolve_spec(preset)).findings == ()


def test_57_kw_in_a_40_kw_rack_is_found():
    """Four DGX B200 of 14.3 kW in a rack, published as 57.2 kW."""
    spec = spec_of("dgx-b200", 32, room={"rack_power": "40 kW"}, per_rack=4)
    finding = only(list(design(spec).findings), "rack-power")
    assert (finding.expected, finding.found) == ("at most 40 kW", "57.2 kW")
    assert finding.where == "rack A01 and 7 more"


def test_racks_that_are_filled_by_power_have_no_finding():
    assert design(spec_of("dgx-b200", 32, room={"rack_power": "40 kW"})).findings == ()


def test_a_rack_that_is_too_full():
    spec = spec_of(per_rack=6, room={"rack_power": "100 kW", "rack_units": 42})
    finding = only(list(design(spec).findings), "rack-height")
    assert (finding.expected, finding.found) == ("at most 42 U", "48 U")


def test_more_rows_than_the_room_has():
    spec = spec_of(room={"rows": 1, "racks_per_row": 5})
    finding = only(list(design(spec).findings), "rack-height")
    assert finding.where == "room.rows"
    assert finding.expected == "at most 1 row"


def test_a_switch_that_blows_against_the_servers_of_its_rack():
    spec = spec_of(room={"leaf_placement": "in-rack"})
    racked = racked_cluster(spec, CATALOG)
    turned = {
        part_id: part.model_copy(update={"airflow": "C2P"}) for part_id, part in racked.parts.switches.items()
    }
    wrong = replace(racked, parts=replace(racked.parts, switches=turned))
    finding = only(found_in(wrong, spec), "airflow-side", "warning")
    assert "dgx-h100 and qm9790 blow against each other" in finding.message
    assert found_in(racked, spec) == []


def test_a_server_that_blows_against_the_room():
    spec = spec_of(room={"airflow": "back-to-front"})
    finding = only(list(design(spec).findings), "airflow-side", "warning")
    assert (finding.expected, finding.found) == ("back-to-front", "front-to-back")
    assert design(spec_of(room={"airflow": "front-to-back"})).findings == ()


def test_a_cable_that_is_shorter_than_its_way():
    spec = spec_of(count=64, cables={"leaf_spine": {"technology": "fibre", "length": "2 m"}})
    finding = only(list(design(spec).findings), "cable-long-enough")
    assert finding.where == "leaf_spine"
    assert finding.found == "2 m"


def test_copper_beyond_its_reach_is_found():
    spec = spec_of(count=64, cables={"leaf_spine": {"technology": "dac"}}, room={"rack_power": "41 kW"})
    finding = only(list(design(spec).findings), "cable-known-and-reaches")
    assert finding.where == "leaf_spine"
    assert finding.expected == "at most 2 m"


def test_reach_is_that_of_the_transceivers_of_the_link_itself():
    """Single-mode modules for 100 m and for 500 m in one cluster: each link is measured by its own."""
    spec = spec_of(count=64, cables={"leaf_spine": {"part": "mms4x00-nm", "length": "300 m"},
                                     "server_leaf": {"part": "mms4x00-ns", "length": "90 m"}})  # fmt: skip
    assert design(spec).findings == ()
    far = spec_of(count=64, cables={"leaf_spine": {"part": "mms4x00-ns", "length": "300 m"}})
    finding = only(list(design(far).findings), "cable-known-and-reaches")
    assert (finding.expected, finding.found) == ("at most 100 m", "up to 300 m")


def test_a_finned_module_in_a_flat_cage(sound: RackedCluster):
    modules, parts = sound.cluster.modules, sound.cluster.parts
    on_server = sound.cluster.devices.kind[modules.device] == DeviceKind.SERVER
    swapped = np.where(on_server, parts.index("mma4z00-ns"), modules.part).astype(np.int32)
    wrong = replace(sound, cluster=replace(sound.cluster, modules=replace(modules, part=swapped)))
    finding = only(found_in(wrong, spec_of()), "module-fits-cage")
    assert (finding.expected, finding.found) == ("a plug for osfp-flat", "osfp-finned")
    assert "(160 times in the cluster)" in finding.message
    assert finding.where == "su01-srv01, cage 1"


def test_a_copper_plug_in_a_cage_of_another_top(sound: RackedCluster):
    cluster = sound.cluster
    flat = next(part for part in CATALOG.of_kind("cable") if part.id == "mcp4y10-flt")
    copper = cluster.assemblies.part == cluster.assemblies.part[cluster.links.assembly[-1]]
    parts = (*cluster.parts, flat.id)
    swapped = np.where(copper, len(parts) - 1, cluster.assemblies.part).astype(np.int32)
    wrong = replace(
        sound,
        cluster=replace(cluster, parts=parts, assemblies=replace(cluster.assemblies, part=swapped)),
        parts=replace(sound.parts, cables={**sound.parts.cables, flat.id: flat}),
    )
    rules = {f.rule for f in found_in(wrong, spec_of())}
    assert "module-fits-cage" in rules


def test_a_module_that_draws_more_than_its_cage_gives():
    """17 W modules in the 12 W cages of an SN5400, and in the 17 W cages of a QM9790."""
    catalog_part = CATALOG.switch("qm9790")
    weak = catalog_part.model_copy(
        update={"cages": (catalog_part.cages[0].model_copy(update={"max_module_power_w": 12.0}),)}
    )
    spec = spec_of(cables={kind: {"part": "mms4x00-ns"} for kind in ("server_leaf", "leaf_spine")})
    racked = racked_cluster(spec, CATALOG)
    assert found_in(racked, spec) == []
    wrong = replace(racked, parts=replace(racked.parts, switches={"qm9790": weak}))
    finding = only(found_in(wrong, spec), "cage-power")
    assert (finding.expected, finding.found) == ("at most 12 W", "17 W")


@pytest.mark.parametrize(("metres", "rules"), [("30 m", []), ("50 m", ["hdr-ndr-optical"])])
def test_hdr_and_ndr_over_a_long_optical_cable(metres: str, rules: list[str]):
    """DGX A100 (HDR, QSFP56) with the leaves taken for NDR ones (OSFP)."""
    spec = spec_of("dgx-a100", 20, switch="qm8790", cables={"server_leaf": {"length": metres}})
    racked = racked_cluster(spec, CATALOG)
    switch = racked.parts.switches["qm8790"]
    cages = tuple(cage.model_copy(update={"connector": "osfp-finned"}) for cage in switch.cages)
    newer = replace(racked.parts, switches={"qm8790": switch.model_copy(update={"cages": cages})})
    check = RULES["hdr-ndr-optical"]
    assert [f.rule for f in check(racked.cluster, newer, spec)] == rules
    assert check(racked.cluster, racked.parts, spec) == []
