"""A cluster with room to grow is racked, cabled and labelled as the cluster that it grows into."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, reject, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from gpufabric.catalog.load import load_catalog
from gpufabric.errors import UnbuildableError
from gpufabric.jobs.cluster_changes import ClusterChanges, cluster_changes
from gpufabric.jobs.design import design
from gpufabric.jobs.match_ports import match_ports
from gpufabric.jobs.pair_links import pair_links
from gpufabric.jobs.racked_cluster import RackedCluster, racked_cluster
from gpufabric.records.cluster_spec import ClusterSpec
from gpufabric.records.floor_plan import RackPurpose
from gpufabric.records.port_cages import port_modules
from gpufabric.report.floor_plan_svg import draw_floor_plan
from gpufabric.report.labels_table import labels_table

CATALOG = load_catalog()
LIMITS = settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow]
)
MANAGERS = {"count": 2, "links": 2, "takes_server": True}


def spec_of(
    units: int,
    grow_to: int | None,
    fabric: dict[str, Any],
    servers: str | dict[str, Any],
    room: dict[str, Any],
) -> ClusterSpec:
    taken = 1 if fabric.get("managers") else 0
    return ClusterSpec.model_validate(
        {
            "servers": {"model": servers, "count": units * fabric["unit_servers"] - taken},
            "fabrics": fabric,
            "grow_to": grow_to,
            "room": room,
        }
    )


@st.composite
def growths(draw: Any) -> tuple[ClusterSpec, ClusterSpec, ClusterSpec]:
    """Return a small cluster with room, the same one grown in part, and the whole of it without any reserve."""
    topology = draw(st.sampled_from(["leaf-spine", "fat-tree", "rail-optimized", "rail-only", "multi-plane"]))
    fabric: dict[str, Any] = {
        "topology": topology,
        "unit_servers": draw(st.integers(2, 12)),
        "oversubscription": draw(st.sampled_from(["1:1", "2:1"])),
    }
    servers: str | dict[str, Any] = "dgx-h100"
    if draw(st.booleans()):
        fabric["switch"] = draw(st.sampled_from(["qm9790", "sn5600"]))
    else:
        fabric["switch"] = {"ports": draw(st.sampled_from([8, 16, 32])), "rate": "400 Gb/s"}
        servers = {"gpus": 4, "nics": 4, "nic_rate": "400 Gb/s"}
    if topology == "multi-plane":
        fabric["planes"] = 2
    if draw(st.booleans()):
        fabric["tiers"] = draw(st.sampled_from([2, 3]))
    room = {
        "leaf_placement": draw(st.sampled_from(["in-rack", "row-end", "row-middle"])),
        "racks_per_row": draw(st.integers(4, 12)),
        "rack_power": draw(st.sampled_from(["20 kW", "45 kW"])),
    }
    now, most = draw(st.integers(1, 5)), draw(st.integers(1, 16))
    assume(now < most)
    later = draw(st.integers(now, most))
    return (
        spec_of(now, most, fabric, servers, room),
        spec_of(later, most, fabric, servers, room),
        spec_of(most, None, fabric, servers, room),
    )


def racked(spec: ClusterSpec) -> RackedCluster:
    try:
        return racked_cluster(spec, CATALOG)
    except UnbuildableError:
        return reject()


def changed(old: RackedCluster, new: RackedCluster) -> ClusterChanges:
    return cluster_changes(old.cluster, new.cluster, new.parts, (old.floor_plan, new.floor_plan))


def labels_of_links(of: RackedCluster) -> dict[str, tuple[str, str]]:
    """Return label → what the flag says of both ends."""
    table = labels_table(of.cluster, of.floor_plan, of.parts.by_id).select(["label", "near_text", "far_text"])
    return {row["label"]: (row["near_text"], row["far_text"]) for row in table.to_pylist()}


def transceivers(of: RackedCluster, links: NDArray[np.int64]) -> list[list[str | None]]:
    """Return the transceivers at both ends of *links*."""
    parts = np.array([*of.cluster.parts, None], object)
    ends = of.cluster.links.port_a[links], of.cluster.links.port_b[links]
    return [parts[port_modules(of.cluster, ports)].tolist() for ports in ends]


@pytest.mark.slow
@LIMITS
@given(growths())
def test_growing_moves_no_device_and_changes_no_cable_and_no_label(
    specs: tuple[ClusterSpec, ClusterSpec, ClusterSpec],
) -> None:
    now, later, whole = (racked(spec) for spec in specs)
    for old, new in ((now, later), (later, whole), (now, whole)):
        changes = changed(old, new)
        assert changes.elsewhere == ()
        assert changes.recabled == ()
        pairs = pair_links(old.cluster, new.cluster, match_ports(old.cluster, new.cluster))
        assert len(pairs.old_kept) == len(old.cluster.links)
        ways = [plan.lengths for plan in (old.floor_plan, new.floor_plan)]
        assert ways[0] is not None
        assert ways[1] is not None
        assert np.array_equal(ways[0].total_m[pairs.old_kept], ways[1].total_m[pairs.new_kept])
        assert transceivers(old, pairs.old_kept) == transceivers(new, pairs.new_kept)
        labels = labels_of_links(old)
        assert labels.items() <= labels_of_links(new).items()


def rail_optimized(units: int, grow_to: int | None, managers: bool = False) -> ClusterSpec:
    fabric: dict[str, Any] = {"topology": "rail-optimized", "switch": "qm9790", "unit_servers": 32}
    if managers:
        fabric["managers"] = MANAGERS
    return spec_of(units, grow_to, fabric, "dgx-h100", {})


def test_a_quarter_of_a_superpod_stands_where_the_whole_one_will():
    old, new = racked(rail_optimized(4, 16)), racked(rail_optimized(16, None))
    changes = changed(old, new)
    assert (changes.devices.kept, changes.links.kept) == (256, 3072)
    assert changes.elsewhere == changes.recabled == changes.links_moved == ()
    assert labels_of_links(old).items() <= labels_of_links(new).items()


def test_managers_in_the_place_of_the_last_server_are_re_plugged_and_nothing_else():
    changes = changed(racked(rail_optimized(4, 16, True)), racked(rail_optimized(16, None, True)))
    assert len(changes.links_moved) == 4
    assert all(link.old_a.startswith("mgr-") for link in changes.links_moved)
    assert changes.elsewhere == changes.links_removed == ()
    assert {cable.a for cable in changes.recabled} <= {link.new_a for link in changes.links_moved}


def test_without_room_the_places_that_change_are_listed():
    changes = changed(racked(rail_optimized(4, None)), racked(rail_optimized(8, None)))
    assert len(changes.elsewhere) > 0
    name, was, now = changes.elsewhere[0]
    assert was != now
    assert name
    assert len(changes.recabled) > 0


def test_reserved_places_are_not_bought_and_not_drawn_as_racks():
    small, room = design(rail_optimized(4, None)), design(rail_optimized(4, 16))
    reserved = int(np.count_nonzero(room.floor_plan.racks.purpose == RackPurpose.RESERVED))
    assert reserved > 0
    assert room.supply.racks == len(room.floor_plan.racks) - reserved
    assert room.supply.racks < 2 * small.supply.racks
    assert all(group.purpose != "reserved" for group in room.rack_groups)
    assert any("stay free" in text for text in room.assumptions)
    assert room.findings == ()
    drawing = draw_floor_plan(room.cluster, room.floor_plan, room.rack_groups)
    assert f"{room.supply.racks} racks and {reserved} reserved places in" in drawing
    assert f"{reserved} reserved racks" in drawing


@pytest.mark.parametrize(
    ("groups", "fabrics", "says"),
    [
        (
            {"model": "dgx-h100", "count": 4},
            [
                {"name": "compute", "topology": "rail-optimized", "switch": "qm9790", "unit_servers": 4},
                {
                    "name": "storage",
                    "purpose": "storage",
                    "topology": "single-switch",
                    "switch": {"ports": 8, "rate": "400 Gb/s"},
                },
            ],
            "can't be wired",
        ),
    ],
)
def test_a_place_that_can_not_be_reserved_is_said(groups, fabrics, says):
    spec = ClusterSpec.model_validate({"servers": groups, "fabrics": fabrics, "grow_to": 4})
    plan = racked(spec).floor_plan
    assert any(says in text for text in plan.assumptions)
    assert not (plan.racks.purpose == RackPurpose.RESERVED).any()
