"""The N−1 table of known fabrics, and that one of each class stands for all: every single loss is tried on small fabrics."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import numpy as np
import pytest

from gpufabric.catalog.load import load_catalog
from gpufabric.graphs.device_classes import device_classes
from gpufabric.records.cluster import Cluster
from gpufabric.records.cluster_spec import ClusterSpec
from gpufabric.records.resilience import LossRow
from gpufabric.reliability.loss_kinds import loss_classes, loss_kinds
from gpufabric.reliability.n_minus_1 import badness, cost_n_minus_1, cost_of_loss, whole_fabric
from gpufabric.topologies import build_cluster, resolve_parts, with_cables

CATALOG = load_catalog()


def designed(model: Any, count: int, **fabric: Any) -> Cluster:
    spec = ClusterSpec.model_validate({"servers": {"model": model, "count": count}, "fabrics": fabric})
    return build_cluster(spec, CATALOG)


def table(cluster: Cluster) -> dict[tuple[str, str], LossRow]:
    return {(row.lost, row.place): row for row in cost_n_minus_1(cluster, CATALOG)}


def test_a_rail_optimized_fabric_loses_a_share_and_no_gpu() -> None:
    """Two full units of 32 servers: 512 links down and up, bisection 256 links; a leaf has 32 of each."""
    rows = table(designed("dgx-h100", 64, topology="rail-optimized", switch="qm9790"))
    leaf = rows["leaf", ""]
    assert (leaf.count, leaf.classes) == (16, 1)
    assert leaf.worst.metrics == {
        "gpus_cut_off": 0,
        "gpus_degraded": 256,
        "least_share_left": 7 / 8,
        "injection_left": 1 - 32 / 512,
        "bisection_left": 1 - 32 / 256,
        "all_reduce_left": None,
        "all_to_all_left": None,
    }
    assert rows["spine", ""].worst.metrics["bisection_left"] == 1 - 1 / rows["spine", ""].count
    assert rows["spine", ""].worst.metrics["gpus_degraded"] == 0
    assert rows["cable", "server_leaf"].count == rows["cable", "leaf_spine"].count == 512
    assert rows["cable", "leaf_spine"].worst.metrics["bisection_left"] == 1 - 1 / 256
    assert rows["nic", ""].worst.metrics["least_share_left"] == 7 / 8
    assert rows["rail", ""].worst.metrics["injection_left"] == 7 / 8
    assert rows["rail", ""].worst.metrics["gpus_degraded"] == 512
    assert ("core", "") not in rows
    assert ("plane", "") not in rows


def test_a_twin_port_transceiver_takes_two_links() -> None:
    rows = table(designed("dgx-h100", 64, topology="rail-optimized", switch="qm9790"))
    assert rows["optic", "server"].count == 256
    assert rows["optic", "server"].worst.metrics["least_share_left"] == 6 / 8
    assert rows["optic", "leaf"].worst.metrics["gpus_degraded"] == 16
    assert rows["optic", "spine"].worst.metrics["bisection_left"] == 1 - 2 / 256


def test_a_plane_takes_its_share_of_all() -> None:
    rows = table(designed("dgx-b300-spectrum", 64, topology="rail-optimized", switch="sn5600d"))
    plane = rows["plane", ""]
    assert plane.count == 2
    assert plane.worst.example == "plane 1"
    shares = [plane.worst.metrics[key] for key in ("least_share_left", "injection_left", "bisection_left")]
    assert shares == [0.5, 0.5, 0.5]
    assert plane.worst.metrics["gpus_degraded"] == 512


def test_a_packed_leaf_cuts_its_servers_off_and_the_partial_one_fewer() -> None:
    rows = table(designed("dgx-h100", 14, topology="leaf-spine", switch="qm9790"))
    leaf = rows["leaf", ""]
    assert (leaf.count, leaf.classes) == (4, 2)
    assert leaf.typical.count == 3
    assert leaf.worst.metrics["gpus_cut_off"] == 4 * 8


def test_the_only_switch_cuts_everyone_off() -> None:
    rows = table(designed("dgx-h100", 8, topology="single-switch", switch="qm9790"))
    only = rows["leaf", ""].worst
    assert only.metrics["gpus_cut_off"] == 64
    assert only.metrics["injection_left"] == only.metrics["bisection_left"] == 0
    assert only.metrics["least_share_left"] is None


def test_a_full_mesh_loses_one_link_of_each_of_two_servers() -> None:
    """Five servers, two links a pair: 12 of them between the halves."""
    rows = table(designed("dgx-h100", 5, topology="full-mesh"))
    assert set(rows) == {("cable", "server_server"), ("nic", ""), ("optic", "server")} & set(rows)
    cable = rows["cable", "server_server"].worst.metrics
    assert (cable["gpus_cut_off"], cable["gpus_degraded"]) == (0, 16)
    assert cable["least_share_left"] == 7 / 8
    assert cable["bisection_left"] == pytest.approx(1 - 1 / 12)


def test_the_rows_are_json_and_say_all_metrics() -> None:
    row = table(designed("dgx-h100", 14, topology="leaf-spine", switch="qm9790"))["nic", ""].to_dict()
    assert json.loads(json.dumps(row)) == row
    assert row["typical"]["example"].startswith("srv01 ")
    assert set(row["worst"]) == {
        "example", "count", "gpus_cut_off", "gpus_degraded", "least_share_left", "injection_left", "bisection_left",
        "all_reduce_left", "all_to_all_left",
    }  # fmt: skip


def test_a_worse_loss_has_a_greater_key() -> None:
    little = {
        "gpus_cut_off": 0,
        "gpus_degraded": 8,
        "least_share_left": 0.5,
        "injection_left": 0.9,
        "bisection_left": None,
    }
    assert (
        badness({**little, "gpus_cut_off": 8}) > badness({**little, "bisection_left": 0.1}) > badness(little)
    )
    assert badness({**little, "injection_left": 0.8}) > badness({**little, "gpus_degraded": 99})


SMALL = [
    ("dgx-h100", 14, {"topology": "leaf-spine", "switch": "qm9790"}),
    ("dgx-h100", 9, {"topology": "rail-optimized", "switch": {"ports": 8, "rate": "400 Gb/s"}, "tiers": 3}),
    ("dgx-h100", 12, {"topology": "multi-plane", "switch": {"ports": 16, "rate": "400 Gb/s"}, "planes": 2}),
    ("dgx-b300-spectrum", 6, {"topology": "rail-optimized", "switch": {"ports": 8, "rate": "400 Gb/s"}}),
    ("dgx-h100", 6, {"topology": "fat-tree", "switch": {"ports": 12, "rate": "400 Gb/s"}, "oversubscription": "2:1"}),
    ("dgx-h100", 5, {"topology": "full-mesh"}),
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(("model", "count", "fabric"), SMALL)
def test_one_of_each_class_stands_for_all_of_it(model: str, count: int, fabric: dict[str, Any]) -> None:
    cluster = designed(model, count, **fabric)
    whole = whole_fabric(cluster, 0)
    classes = device_classes(whole.links, cluster.devices.part)
    for kind in loss_kinds(cluster, whole.links):
        expected: Counter[Any] = Counter()
        cost_of = {}
        for item in np.unique(kind.item).tolist():
            lost = np.zeros(len(whole.links), bool)
            lost[kind.link[kind.item == item]] = True
            cost = cost_of_loss(whole, lost)
            cost_of[item] = tuple(None if value is None else round(value, 9) for value in cost.values())
            expected[cost_of[item]] += 1
        found = loss_classes(kind, whole.links, classes)
        together: Counter[Any] = Counter()
        for item, number in zip(found.first.tolist(), found.count.tolist(), strict=True):
            together[cost_of[item]] += number
        assert together == expected, kind.lost


def test_the_parts_of_a_design_name_its_nics() -> None:
    spec = ClusterSpec.model_validate(
        {
            "servers": {"model": "dgx-h100", "count": 14},
            "fabrics": {"topology": "leaf-spine", "switch": "qm9790"},
        }
    )
    cluster = build_cluster(spec, CATALOG)
    parts = with_cables(resolve_parts(spec, CATALOG), cluster, CATALOG)
    assert cost_n_minus_1(cluster, parts) == cost_n_minus_1(cluster, CATALOG)
