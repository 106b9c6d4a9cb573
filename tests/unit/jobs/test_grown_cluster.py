"""Which cluster a description with room grows into."""

from __future__ import annotations

from typing import Any

import pytest

from gpufabric.catalog.load import load_catalog
from gpufabric.jobs.grown_cluster import grown_spec
from gpufabric.jobs.racked_cluster import racked_cluster
from gpufabric.records.cluster_spec import ClusterSpec
from gpufabric.topologies import build_cluster

CATALOG = load_catalog()
MANAGERS = {"count": 1, "links": 2, "takes_server": True}


def described(
    servers: Any, fabric: dict[str, Any], grow_to: int | None = None, *others: dict[str, Any]
) -> ClusterSpec:
    first = {"name": "compute", "topology": "rail-optimized", "switch": "qm9790", **fabric}
    return ClusterSpec.model_validate({"servers": servers, "fabrics": [first, *others], "grow_to": grow_to})


@pytest.mark.parametrize(
    ("count", "fabric", "grow_to", "grown"),
    [
        (8, {"unit_servers": 4}, 5, 20),
        (6, {"unit_servers": 4}, 5, 20),
        (7, {"unit_servers": 4, "managers": MANAGERS}, 5, 19),
        (7, {"unit_servers": 4, "managers": {**MANAGERS, "takes_server": False}}, 5, 20),
        (8, {"unit_servers": 4, "grow_to_units": 3}, None, 12),
        (8, {"unit_servers": 4, "grow_to_units": 3}, 7, 12),
        (64, {}, 3, 96),
        (31, {"managers": MANAGERS}, 3, 95),
    ],
)
def test_the_grown_cluster_has_full_units_but_for_the_place_of_the_managers(count, fabric, grow_to, grown):
    spec = described({"model": "dgx-h100", "count": count}, fabric, grow_to)
    found, units = grown_spec(spec, build_cluster(spec, CATALOG))
    assert found is not None
    assert found.servers[0].count == grown
    assert units == (fabric.get("grow_to_units") or grow_to)
    assert found.grow_to is found.units is found.fabrics[0].grow_to_units is None


@pytest.mark.parametrize("grow_to", [None, 2])
def test_without_room_nothing_grows(grow_to):
    spec = described({"model": "dgx-h100", "count": 8}, {"unit_servers": 4}, grow_to)
    assert grown_spec(spec, build_cluster(spec, CATALOG)) == (None, 0)


def test_only_the_first_compute_group_grows():
    storage = {"name": "storage", "purpose": "storage", "topology": "leaf-spine", "switch": "qm9790"}
    groups = [
        {"name": "files", "model": "dgx-h100", "count": 3, "purpose": "storage"},
        {"name": "gpus", "model": "dgx-h100", "count": 8, "purpose": "compute"},
    ]
    spec = described(groups, {"unit_servers": 4}, 4, storage)
    found, _ = grown_spec(spec, build_cluster(spec, CATALOG))
    assert found is not None
    assert [group.count for group in found.servers] == [3, 16]


def test_a_growth_that_is_more_than_can_be_wired_is_said_and_the_design_goes_on():
    servers = {"model": "dgx-h100", "count": 8}
    small = {"name": "small", "topology": "single-switch", "purpose": "storage"}
    small["switch"] = {"ports": 16, "rate": "400 Gb/s"}
    plan = racked_cluster(described(servers, {"unit_servers": 4}, 12, small), CATALOG).floor_plan
    (said,) = [text for text in plan.assumptions if "growth" in text]
    assert said.startswith(
        "racks for growth to 12 units are not reserved: the grown cluster can't be wired: "
    )
    assert "\n" not in said
