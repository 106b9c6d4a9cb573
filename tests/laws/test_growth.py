"""A fabric that reserves room for units to come is grown without moving a cable."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, reject, settings
from hypothesis import strategies as st

from gpufabric.catalog.load import load_catalog
from gpufabric.errors import SpecError, UnbuildableError
from gpufabric.jobs.cluster_changes import cluster_changes
from gpufabric.records.cluster import Cluster, Role
from gpufabric.records.cluster_spec import ClusterSpec
from gpufabric.records.names import device_names
from gpufabric.rules import RULES
from gpufabric.topologies import TOPOLOGIES, build_cluster, resolve_parts, with_cables

CATALOG = load_catalog()
GROWING = sorted({"leaf-spine", "fat-tree", "rail-optimized", "rail-only", "multi-plane"} & set(TOPOLOGIES))
LIMITS = settings(
    max_examples=30, deadline=None, suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow]
)


def spec_of(units: int, fabric: dict[str, Any], nics: int, grow_to: int | None) -> ClusterSpec:
    return ClusterSpec.model_validate(
        {
            "servers": {
                "model": {"gpus": nics, "nics": nics, "nic_rate": "400 Gb/s"},
                "count": units * fabric["unit_servers"],
            },
            "fabrics": fabric,
            "grow_to": grow_to,
        }
    )


@st.composite
def growths(draw: Any) -> tuple[ClusterSpec, ClusterSpec, ClusterSpec]:
    """Return a small cluster with room, the same one grown in part, and the whole of it without any reserve."""
    fabric: dict[str, Any] = {
        "topology": draw(st.sampled_from(GROWING)),
        "switch": {"ports": draw(st.sampled_from([8, 12, 16, 20, 32])), "rate": "400 Gb/s"},
        "unit_servers": draw(st.integers(1, 12)),
        "oversubscription": draw(st.sampled_from(["1:1", "2:1", "3:1"])),
    }
    if fabric["topology"] == "multi-plane":
        fabric["planes"] = 2
    if draw(st.booleans()):
        fabric["tiers"] = draw(st.sampled_from([2, 3]))
    if draw(st.booleans()):
        fabric["spine"] = {"reserved_ports": draw(st.integers(0, 2))}
    if draw(st.integers(0, 3)) == 0:
        fabric["pod_leaves"] = draw(st.integers(1, 8))
    nics = draw(st.sampled_from([2, 4, 8]))
    now, most = draw(st.integers(1, 6)), draw(st.integers(1, 24))
    assume(now < most)
    later = draw(st.integers(now, most))
    return (
        spec_of(now, fabric, nics, most),
        spec_of(later, fabric, nics, most),
        spec_of(most, fabric, nics, None),
    )


def built(spec: ClusterSpec) -> Cluster:
    try:
        return build_cluster(spec, CATALOG)
    except UnbuildableError:
        return reject()


@LIMITS
@given(growths())
def test_growing_moves_nothing_and_removes_nothing(
    specs: tuple[ClusterSpec, ClusterSpec, ClusterSpec],
) -> None:
    now, later, whole = (built(spec) for spec in specs)
    for old, new in ((now, later), (later, whole), (now, whole)):
        changes = cluster_changes(old, new)
        assert changes.links_moved == ()
        assert changes.links_removed == ()
        assert changes.devices_removed == ()
        assert changes.replaced == ()
        assert changes.links.kept == len(old.links)
        assert changes.links.added == len(new.links) - len(old.links)
        assert changes.cables.moved == changes.cables.removed == 0


@LIMITS
@given(growths())
def test_room_is_exactly_what_the_whole_needs(specs: tuple[ClusterSpec, ClusterSpec, ClusterSpec]) -> None:
    now, _, whole = (built(spec) for spec in specs)
    counts = [np.bincount(cluster.devices.role, minlength=6) for cluster in (now, whole)]
    assert counts[0][Role.CORE] == counts[1][Role.CORE]
    assert now.fabrics[0].tiers == whole.fabrics[0].tiers
    # Every port of a spine or core of today that a unit to come will use is held for it.
    names = [{name: row for row, name in enumerate(device_names(c).tolist())} for c in (now, whole)]
    shared = [(row, names[1][name]) for name, row in names[0].items() if now.devices.role[row] >= Role.SPINE]
    shared = [(old, new) for old, new in shared if now.devices.role[old] <= Role.CORE]
    ports = [np.bincount(c.ports.device, minlength=len(c.devices)) for c in (now, whole)]
    assert [ports[0][old] for old, _ in shared] == [ports[1][new] for _, new in shared]


@LIMITS
@given(growths())
def test_a_fabric_with_room_keeps_every_wiring_rule(
    specs: tuple[ClusterSpec, ClusterSpec, ClusterSpec],
) -> None:
    cluster = built(specs[0])
    parts = with_cables(resolve_parts(specs[0], CATALOG), cluster, CATALOG)
    # Small fabrics often hang on one switch: that is how they were asked for.
    rules = [check for rule, check in RULES.items() if rule != "single-point-of-failure"]
    broken = [f for check in rules for f in check(cluster, parts, specs[0])]
    assert broken == []


def test_growing_without_reserve_moves_cables():
    fabric = {"topology": "rail-optimized", "switch": "qm9790", "unit_servers": 32}
    old, new = (build_cluster(spec_of(units, fabric, 8, None), CATALOG) for units in (4, 8))
    changes = cluster_changes(old, new)
    assert changes.links.moved > 0
    assert changes.links.kept + changes.links.moved + changes.links.removed == len(old.links)
    assert changes.links.kept + changes.links.moved + changes.links.added == len(new.links)
    assert all(link.old_a == link.new_a or link.old_b == link.new_b for link in changes.links_moved)


@pytest.mark.parametrize("topology", ["single-switch", "full-mesh"])
def test_growth_needs_units(topology):
    fabric = {"topology": topology, "switch": "qm9790", "unit_servers": 2}
    with pytest.raises(SpecError, match="no fabric has scalable units"):
        build_cluster(spec_of(1, fabric, 2, 4), CATALOG)
    with pytest.raises(UnbuildableError, match="no units to grow by"):
        build_cluster(spec_of(1, fabric | {"grow_to_units": 4}, 2, None), CATALOG)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"grow_to_units": 2}, "3 units already"),
        ({"grow_to_units": 1_000_000}, "leaf ports a plane"),
        ({"grow_to_units": 2_000}, "three tiers end at"),
    ],
)
def test_room_that_can_not_be_is_refused(change, says):
    fabric = {"topology": "rail-optimized", "switch": "qm8790", "unit_servers": 20, "link_rate": "200 Gb/s"}
    spec = spec_of(3, fabric | change, 8, None)
    with pytest.raises(UnbuildableError, match=says) as caught:
        build_cluster(spec, CATALOG)
    assert caught.value.nearest


def test_packed_leaves_without_units_can_not_reserve():
    spec = spec_of(1, {"topology": "fat-tree", "switch": "qm9790", "unit_servers": 2}, 2, None)
    fabric = spec.fabrics[0].model_copy(update={"unit_servers": None, "grow_to_units": 3})
    with pytest.raises(UnbuildableError, match="no scalable units"):
        build_cluster(spec.model_copy(update={"fabrics": (fabric,)}), CATALOG)
