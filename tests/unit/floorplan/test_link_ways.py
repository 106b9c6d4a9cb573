"""The way of a link, measured by hand: inside a rack, along a row, across rows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from gpufabric.catalog.load import load_catalog
from gpufabric.floorplan import measure, place
from gpufabric.records.cluster import Cluster
from gpufabric.records.cluster_spec import ClusterSpec
from gpufabric.records.floor_plan import RACK_UNIT_M, FloorPlan, Racks
from gpufabric.topologies import build_cluster, resolve_parts

CATALOG = load_catalog()
SPEC = ClusterSpec.model_validate(
    {
        "servers": {"model": "dgx-h100", "count": 2},
        "fabrics": {"topology": "single-switch", "switch": "qm9790"},
        "room": {"slack": "1 m", "tray_height": "50 cm", "racks_per_row": 10, "rack_width": "60 cm"},
    }
)


@pytest.fixture(scope="module")
def cluster() -> Cluster:
    return build_cluster(SPEC, CATALOG)


def plan_with(cluster: Cluster, spots: list[tuple[float, float, int]]) -> FloorPlan:
    """Two servers at the bottom of racks 0 and 1, the switch at the top of rack 2; *spots* are (x, y, row)."""
    plan = place(cluster, SPEC, resolve_parts(SPEC, CATALOG))
    x, y, row = (np.array(values) for values in zip(*spots, strict=True))
    racks = Racks(
        row=row.astype(np.int32),
        position=np.arange(3, dtype=np.int32),
        x_m=x.astype(float),
        y_m=y.astype(float),
        purpose=np.zeros(3, np.int8),
        units=np.full(3, 48, np.int32),
        power_w=np.full(3, np.nan),
        part=np.full(3, -1, np.int32),
        own_power_w=np.zeros(3),
    )
    return replace(
        plan, racks=racks, rack=np.array([0, 1, 2], np.int32), lowest_unit=np.array([1, 1, 48], np.int32)
    )


def test_along_a_row(cluster: Cluster):
    """Up 44 U (8 U high server: its middle is at 4 U) + 0.5 m, 3 m along, down 0.5 m + half a U, and 1 m slack."""
    plan = plan_with(cluster, [(0.3, 0.6, 0), (1.5, 0.6, 0), (3.3, 0.6, 0)])
    lengths = measure(cluster, plan, SPEC.room)
    first = cluster.link_device_a == 0
    expected = 44 * RACK_UNIT_M + 0.5 + 3.0 + 0.5 + 0.5 * RACK_UNIT_M + 1.0
    assert lengths.total_m[first] == pytest.approx(expected)
    assert lengths.lower_m[first] == pytest.approx(44 * RACK_UNIT_M + 0.5)
    assert lengths.upper_m[first] == pytest.approx(0.5 * RACK_UNIT_M + 0.5)
    assert lengths.total_m[~first] == pytest.approx(expected - 1.2)


def test_across_rows_the_nearest_cross_tray_counts(cluster: Cluster):
    """Trays across at 0, 3 and 6 m: from 0.3 to 1.5 m it is 0.3 + 1.5 over the first one."""
    plan = plan_with(cluster, [(0.3, 0.6, 0), (4.5, 0.6, 0), (1.5, 3.0, 1)])
    total = measure(cluster, plan, SPEC.room).total_m
    up_and_down = 44.5 * RACK_UNIT_M + 2 * 0.5 + 1.0
    first = cluster.link_device_a == 0
    assert total[first] == pytest.approx(up_and_down + 1.8 + 2.4)
    assert total[~first] == pytest.approx(up_and_down + 3.0 + 2.4)  # over the middle: 1.5 + 1.5


def test_inside_a_rack_it_is_the_height_between_them(cluster: Cluster):
    plan = plan_with(cluster, [(0.3, 0.6, 0), (1.5, 0.6, 0), (3.3, 0.6, 0)])
    plan = replace(plan, rack=np.array([2, 1, 2], np.int32))
    lengths = measure(cluster, plan, SPEC.room)
    first = cluster.link_device_a == 0
    assert lengths.total_m[first] == pytest.approx(43.5 * RACK_UNIT_M + 1.0)
    assert np.isnan(lengths.lower_m[first]).all()


def test_it_keeps_up_with_many_links():
    spec = ClusterSpec.model_validate(
        {
            "servers": {"model": "dgx-h100", "count": 512},
            "fabrics": {"topology": "fat-tree", "switch": "sn5600"},
        }
    )
    cluster = build_cluster(spec, CATALOG)
    plan = place(cluster, spec, resolve_parts(spec, CATALOG))
    assert len(measure(cluster, plan, spec.room)) == len(cluster.links) > 8_000
