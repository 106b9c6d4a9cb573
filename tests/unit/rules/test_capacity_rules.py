"""Rules on what a fabric can carry and lose: each finds the fault that it is for, and shipped presets have none."""

from __future__ import annotations

from dataclasses import replace
from importlib import resources
from typing import Any

import numpy as np
import pytest

from gpufabric.catalog.load import load_catalog
from gpufabric.formats.cluster_yaml import parse_cluster_spec
from gpufabric.graphs.bisection import bisection_bytes_per_s
from gpufabric.records.cluster import Cluster, Links, Role
from gpufabric.records.cluster_spec import ClusterSpec
from gpufabric.records.findings import Finding
from gpufabric.records.part_set import PartSet
from gpufabric.records.parts import SwitchPart
from gpufabric.records.port_room import port_room
from gpufabric.rules import RULES
from gpufabric.topologies import build_cluster, resolve_parts, with_cables
from gpufabric.units import parse_rate

CATALOG = load_catalog()
PRESETS = sorted(
    path.name.removesuffix(".yaml")
    for path in resources.files("gpufabric.catalog.presets").iterdir()
    if path.name.endswith(".yaml")
)


def described(count: int, model: Any = "dgx-h100", grow_to: int | None = None, **fabric: Any) -> ClusterSpec:
    return ClusterSpec.model_validate(
        {"servers": {"model": model, "count": count}, "fabrics": fabric, "grow_to": grow_to}
    )


def built(spec: ClusterSpec) -> tuple[Cluster, PartSet]:
    cluster = build_cluster(spec, CATALOG)
    return cluster, with_cables(resolve_parts(spec, CATALOG), cluster, CATALOG)


def findings(rule: str, spec: ClusterSpec) -> list[Finding]:
    return RULES[rule](*built(spec), spec)


def without_links(cluster: Cluster, lost: np.ndarray) -> Cluster:
    keep = np.ones(len(cluster.links), bool)
    keep[lost] = False
    links = cluster.links
    left = Links(links.port_a[keep], links.port_b[keep], links.bytes_per_s[keep], links.assembly[keep])
    return replace(cluster, links=left)


@pytest.mark.parametrize(
    "preset", [pytest.param(p, marks=pytest.mark.slow if p == "three-tier-200k" else ()) for p in PRESETS]
)
def test_no_preset_has_a_finding(preset: str) -> None:
    spec = parse_cluster_spec(f"preset: {preset}\n", "test.yaml")
    found = [f for name in RULES for f in findings(name, spec) if f.severity != "info"]
    assert found == []


# radix-within-part

RAILS = described(40, topology="rail-optimized", switch="qm9790")


def with_other_part(parts: PartSet, part_id: str, **changed: Any) -> PartSet:
    smaller = parts.switches[part_id].model_copy(update=changed)
    return replace(parts, switches={**parts.switches, part_id: smaller})


def test_more_cages_in_use_than_the_switch_has() -> None:
    cluster, parts = built(RAILS)
    group = parts.switches["qm9790"].cages[0]
    smaller = with_other_part(parts, "qm9790", cages=(group.model_copy(update={"count": 24}),))
    assert RULES["radix-within-part"](cluster, parts, RAILS) == []
    found = RULES["radix-within-part"](cluster, smaller, RAILS)
    assert [f.severity for f in found] == ["error", "error"]
    assert found[0].found == "32 cages in use or disabled by a split"
    assert found[0].expected == "at most 24 cages"
    assert "more switches" in found[0].where


def test_more_throughput_than_the_switch_has() -> None:
    cluster, parts = built(RAILS)
    slower = with_other_part(parts, "qm9790", throughput_bytes_per_s=parse_rate("25.5 Tb/s"))
    found = RULES["radix-within-part"](cluster, slower, RAILS)
    assert {f.found for f in found} == {"ports of 25.6 Tb/s"}


def test_a_chip_that_is_full_to_the_last_bit_is_within_its_part() -> None:
    """(128 + 8) × 200 + 60 × 400 Gb/s = 51.2 Tb/s: HPN's ToR, Qian et al., SIGCOMM 2024, doi 10.1145/3651890.3672265."""
    full = SwitchPart.model_validate(
        {
            "id": "full", "vendor": "any", "model": "any", "status": "generic", "network": "ethernet",
            "throughput_bytes_per_s": "51.2 Tb/s",
            "cages": [
                {
                    "count": 128,
                    "modes": [{"ports": 1, "port_bytes_per_s": "400 Gb/s"}, {"ports": 2, "port_bytes_per_s": "200 Gb/s"}],
                }
            ],
        }
    )  # fmt: skip
    spec = described(
        32,
        {"gpus": 8, "nics": 8, "nic_rate": "200 Gb/s"},
        topology="rail-optimized",
        switch={"ports": 200, "rate": "200 Gb/s"},
        tiers=1,
    )
    cluster, parts = built(spec)
    leaf = int(np.flatnonzero(cluster.devices.role == Role.LEAF)[0])
    down = np.arange(136)
    up = np.arange(60)
    ports = replace(
        cluster.ports,
        **{
            name: np.concatenate([np.full(136, low), np.full(60, high)]).astype(getattr(cluster.ports, name).dtype)
            for name, low, high in (("device", leaf, leaf), ("lanes_in_cage", 2, 1), ("nic", -1, -1), ("fabric", 0, 0),
                                    ("plane", 0, 0), ("rail", -1, -1), ("bond", -1, -1), ("reserved", 0, 0))
        },
        cage=np.concatenate([1 + down // 2, 69 + up]).astype(np.int16),
        lane=np.concatenate([1 + down % 2, np.ones(60)]).astype(np.int16),
        bytes_per_s=np.concatenate([np.full(136, 25e9), np.full(60, 50e9)]),
    )  # fmt: skip
    name = cluster.parts[cluster.devices.part[leaf]]
    chip = replace(parts, switches={name: full})
    none = np.empty(0, np.int32)
    wired = replace(cluster, ports=ports, links=Links(none, none, np.empty(0), none))
    assert RULES["radix-within-part"](wired, chip, spec) == []
    tighter = full.model_copy(update={"throughput_bytes_per_s": parse_rate("51.1 Tb/s")})
    assert len(RULES["radix-within-part"](wired, replace(parts, switches={name: tighter}), spec)) == 1


def test_more_ports_in_neighbouring_cages_than_their_pipeline_has() -> None:
    spec = described(16, topology="leaf-spine", switch="ds5000", link_rate="400 Gb/s")
    cluster, parts = built(spec)
    assert RULES["radix-within-part"](cluster, parts, spec) == []
    tight = with_other_part(parts, "ds5000", logical_port_limit=(2, 3))
    assert (
        RULES["radix-within-part"](cluster, tight, spec)[0].expected
        == "at most 3 ports in 2 neighbouring cages"
    )


# bisection-as-asked


@pytest.mark.parametrize("topology", ["leaf-spine", "rail-optimized", "fat-tree", "multi-plane"])
@pytest.mark.parametrize("ratio", ["1:1", "2:1", "7:3"])
def test_designed_fabrics_have_the_bisection_asked_for(topology: str, ratio: str) -> None:
    spec = described(48, topology=topology, switch="qm9790", oversubscription=ratio, planes=2)
    assert findings("bisection-as-asked", spec) == []


def test_missing_uplinks_are_missing_bisection() -> None:
    spec = described(64, topology="rail-optimized", switch="qm9790")
    cluster, parts = built(spec)
    uplinks = np.flatnonzero(cluster.devices.role[cluster.link_device_a] == Role.LEAF)
    found = RULES["bisection-as-asked"](without_links(cluster, uplinks[:1]), parts, spec)
    assert [(f.severity, f.found) for f in found] == [("warning", "102 Tb/s, 99.6% of it")]
    found = RULES["bisection-as-asked"](without_links(cluster, uplinks[:64]), parts, spec)
    assert [f.severity for f in found] == ["error"]


def test_a_cut_that_is_too_small_is_found_where_the_least_is_not_known() -> None:
    """Ten leaves, one of them with an uplink less: too many halvings to try all, but one with too small a cut is at hand."""
    spec = described(40, topology="leaf-spine", switch="qm9790")
    cluster, parts = built(spec)
    assert bisection_bytes_per_s(cluster, 0) == 160 * 50e9
    uplinks = np.flatnonzero(cluster.devices.role[cluster.link_device_a] == Role.LEAF)
    found = without_links(cluster, uplinks[:1])
    assert bisection_bytes_per_s(found, 0) is None
    assert [f.severity for f in RULES["bisection-as-asked"](found, parts, spec)] == ["warning"]


def test_ports_that_are_given_are_what_was_asked() -> None:
    leaf = {"ports_down": 48, "ports_up": 16}
    spec = described(48, topology="leaf-spine", switch="qm9790", leaf=leaf)
    assert findings("bisection-as-asked", spec) == []
    contradicted = described(
        48, topology="leaf-spine", switch="qm9790", leaf={**leaf, "oversubscription": "1:1"}
    )
    found = findings("bisection-as-asked", contradicted)
    assert [f.severity for f in found] == ["error"]
    assert "1:1" in found[0].expected


def test_a_full_mesh_was_not_asked_for_a_bisection() -> None:
    assert findings("bisection-as-asked", described(5, topology="full-mesh")) == []


# spare-ports


FULL = {"topology": "rail-optimized", "switch": "qm9790"}


def test_spines_without_room_for_the_units_asked() -> None:
    """Two units of 32 servers fill 8 spines of 64 ports; four units need 512 links more."""
    cluster, parts = built(described(64, **FULL))
    found = RULES["spare-ports"](cluster, parts, described(64, grow_to=4, **FULL))
    assert [(f.severity, f.expected, f.found) for f in found] == [
        ("warning", "512 ports free or in reserve", "0")
    ]
    assert "from 2 to 4 units" in found[0].message
    assert RULES["spare-ports"](cluster, parts, described(64, grow_to=2, **FULL)) == []
    assert RULES["spare-ports"](cluster, parts, described(64, **FULL)) == []


def test_a_fabric_sized_for_growth_has_the_room() -> None:
    spec = described(64, grow_to=4, **FULL)
    cluster, parts = built(spec)
    assert RULES["spare-ports"](cluster, parts, spec) == []
    later = described(64, grow_to=16, **FULL)
    assert len(RULES["spare-ports"](cluster, parts, later)) == 1


def test_cores_without_room_for_the_pods_of_the_units_asked() -> None:
    """A unit of 8 servers is a pod of 8 leaves, 8 spines and 64 links to 8 cores per position, whose 16 ports are for 16 pods."""
    fabric = {"topology": "rail-optimized", "switch": {"ports": 16, "rate": "400 Gb/s"}, "tiers": 3}
    cluster, parts = built(described(32, **fabric))
    assert RULES["spare-ports"](cluster, parts, described(32, grow_to=4, **fabric)) == []
    found = RULES["spare-ports"](cluster, parts, described(32, grow_to=40, **fabric))
    assert [f.expected for f in found] == ["2,304 ports free or in reserve"]
    assert "core switches" in found[0].message


def test_free_ports_are_counted_at_the_rate_of_the_lower_links() -> None:
    """Three units of 32 servers: 768 uplinks on 16 spines of 64 ports leave 256 (48 of 64 used)."""
    spec = described(96, topology="rail-optimized", switch="qm9790")
    cluster, parts = built(spec)
    room = port_room(cluster, parts.by_id)
    spines = cluster.devices.role == Role.SPINE
    assert room.free[spines].sum() == 256
    assert (room.free[cluster.devices.role == Role.LEAF] == 0).all()
    assert (room.free[cluster.devices.role == Role.SERVER] == -1).all()
    assert (port_room(cluster, {}).free == -1).all()


def test_reserved_ports_are_not_free() -> None:
    spec = described(
        32, topology="rail-optimized", switch="qm9790", leaf={"reserved_ports": 3}, unit_servers=16
    )
    cluster, parts = built(spec)
    room = port_room(cluster, parts.by_id)
    leaves = cluster.devices.role == Role.LEAF
    assert (room.reserved[leaves] == 3).all()
    assert (room.linked[leaves] + room.reserved[leaves] + room.free[leaves] == 64).all()


# single-point-of-failure


def test_the_only_spine_holds_everyone_up() -> None:
    spec = described(
        8, topology="leaf-spine", switch="qm9790", leaf={"ports_down": 32, "ports_up": 8}, spine={"count": 1}
    )
    found = findings("single-point-of-failure", spec)
    assert [(f.severity, f.where) for f in found] == [("warning", "leaf-01"), ("warning", "spine-01")]
    assert found[1].found == "32 of 64 GPUs without any"
    assert "each of 2 such switches" in found[0].found


def test_one_switch_for_all() -> None:
    found = findings("single-point-of-failure", described(8, topology="single-switch", switch="qm9790"))
    assert [f.found for f in found] == ["64 of 64 GPUs without any"]


@pytest.mark.parametrize("topology", ["rail-optimized", "multi-plane"])
def test_a_share_of_the_links_is_not_a_single_point(topology: str) -> None:
    spec = described(32, topology=topology, switch="qm9790", planes=2)
    assert findings("single-point-of-failure", spec) == []


def test_several_gpus_behind_one_nic() -> None:
    model = {"gpus": 4, "nics": 1, "nic_rate": "400 Gb/s"}
    found = findings("single-point-of-failure", described(40, model, topology="leaf-spine", switch="sn5600"))
    nic = found[-1]
    assert "through one NIC only" in nic.message
    assert nic.found.startswith("160 GPUs")
    assert nic.where.endswith("and 39 more servers")
    one = {**model, "gpus": 1}
    assert [
        f.message
        for f in findings(
            "single-point-of-failure", described(400, one, topology="leaf-spine", switch="sn5600")
        )
    ] == []
