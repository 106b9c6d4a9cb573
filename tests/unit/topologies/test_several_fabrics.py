"""Storage, in-band and out-of-band fabrics beside the compute fabric, and the servers that only some of them connect."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from gpufabric.catalog.load import load_catalog
from gpufabric.errors import SpecError, UnbuildableError
from gpufabric.formats.cluster_yaml import preset_spec
from gpufabric.graphs.bisection import bisection_bytes_per_s
from gpufabric.records.cluster import MANAGEMENT_CAGE, Cluster, DeviceKind, Role
from gpufabric.records.cluster_spec import ClusterSpec
from gpufabric.records.link_kinds import link_kinds
from gpufabric.records.names import device_names, port_names
from gpufabric.records.tiers import joins_fabrics
from gpufabric.report.design_json import design_document
from gpufabric.report.fabric_counts import link_counts, switch_counts, tier_counts
from gpufabric.report.logical_fabric_svg import draw_logical_fabric
from gpufabric.rules import RULES
from gpufabric.topologies import build_cluster, resolve_parts, with_cables

CATALOG = load_catalog()
COMPUTE = {"name": "compute", "topology": "rail-optimized", "switch": "qm9700"}
STORAGE = {"name": "storage", "purpose": "storage", "topology": "leaf-spine", "switch": "qm9700"}
IN_BAND = {
    "name": "in-band",
    "purpose": "in-band",
    "topology": "leaf-spine",
    "switch": "sn4600c",
    "link_rate": "100 Gb/s",
    "bond": "server",
    "leaf": {"ports_down": 40, "ports_up": 4},
}
UPLINKS = {"fabric": "in-band", "links": 2, "rate": "100 Gb/s"}
OUT_OF_BAND = {
    "name": "oob",
    "purpose": "out-of-band",
    "topology": "leaf-spine",
    "switch": "sn2201",
    "tiers": 1,
    "uplinks": UPLINKS,
    "pdus": 12,
}


def build(fabrics: list[dict[str, Any]], servers: Any = None) -> Cluster:
    spec = {"servers": servers or {"model": "dgx-h100", "count": 20}, "fabrics": fabrics}
    return build_cluster(ClusterSpec.model_validate(spec), CATALOG)


def test_nics_go_to_the_fabric_of_their_purpose():
    cluster = build([COMPUTE, STORAGE, IN_BAND])
    assert [link_counts(cluster, i)["server_leaf"] for i in range(3)] == [160, 40, 40]


def test_a_storage_server_can_be_in_two_fabrics():
    """Fire-Flyer, arXiv 2408.14158: a storage server has one NIC in each of two zones, which compute and storage share."""
    box = {"gpus": 0, "nics": 2, "nic_rate": "200 Gb/s"}
    gpu = {"gpus": 8, "nics": 1, "nic_rate": "200 Gb/s"}
    zones = [
        {"name": zone, "topology": "leaf-spine", "switch": {"ports": 40, "rate": "200 Gb/s"}} for zone in "ab"
    ]
    servers = [
        {"name": "first", "model": gpu, "count": 30, "fabrics": {"a": ["nic0"]}},
        {"name": "second", "model": gpu, "count": 30, "fabrics": {"b": ["nic0"]}},
        {
            "name": "storage",
            "model": box,
            "count": 9,
            "purpose": "storage",
            "fabrics": {"a": ["nic0"], "b": ["nic1"]},
        },
    ]
    cluster = build(zones, servers)
    assert [link_counts(cluster, i)["server_leaf"] for i in range(2)] == [30, 30]
    assert [link_counts(cluster, i)["other"] for i in range(2)] == [9, 9]
    boxes = np.flatnonzero(cluster.devices.role == Role.STORAGE)
    for box_row in boxes:
        assert set(cluster.ports.fabric[cluster.ports.device == box_row].tolist()) == {0, 1}
    assert len(cluster.gpus) == 480
    assert design_document(cluster, {})["servers"] == 60


def test_storage_and_management_servers_go_to_their_fabric_with_all_nics():
    box = {"gpus": 0, "nics": 2, "nic_rate": "400 Gb/s"}
    servers = [
        {"name": "compute", "model": "dgx-h100", "count": 8},
        {"name": "files", "model": box, "count": 3, "purpose": "storage"},
        {"name": "heads", "model": box, "count": 2, "purpose": "management"},
    ]
    cluster = build([COMPUTE, STORAGE, IN_BAND], servers)
    assert [link_counts(cluster, i)["other"] for i in range(3)] == [0, 6, 4]
    assert {"storage-01", "mgr-02"} <= {name.rpartition("su01-")[2] for name in device_names(cluster)}


def test_the_out_of_band_fabric_connects_one_port_of_everything():
    cluster = build([COMPUTE, STORAGE, IN_BAND, OUT_OF_BAND])
    managed = cluster.ports.cage == MANAGEMENT_CAGE
    kinds = cluster.devices.kind[cluster.ports.device[managed]]
    others = (cluster.devices.kind == DeviceKind.SWITCH) & (cluster.devices.fabric != 3)
    assert np.bincount(kinds).tolist() == [20, int(others.sum()), 0, 0, 12]
    assert len(np.unique(cluster.ports.device[managed])) == managed.sum()
    assert set(port_names(cluster, np.flatnonzero(managed)).tolist()) == {"mgmt"}
    assert "pdu-12" in device_names(cluster)


def test_uplinks_use_the_cages_meant_for_them_and_end_on_different_switches():
    cluster = build([COMPUTE, STORAGE, IN_BAND, OUT_OF_BAND])
    ports, links = cluster.ports, cluster.links
    up = np.flatnonzero((ports.fabric[links.port_a] == 3) & (ports.cage[links.port_a] > 48))
    assert len(up) == 2 * switch_counts(cluster, 3)["leaf"]
    assert (links.bytes_per_s[up] == 12.5e9).all()
    assert sorted(set(ports.cage[links.port_a[up]].tolist())) == [49, 50]
    pairs = np.unique(np.stack([cluster.link_device_a[up], cluster.link_device_b[up]]), axis=1)
    assert pairs.shape[1] == len(up)


def test_links_between_fabrics_belong_to_no_tier():
    cluster = build([COMPUTE, STORAGE, IN_BAND, OUT_OF_BAND])
    joins = joins_fabrics(cluster)
    codes, names = link_kinds(cluster)
    assert joins.any()
    assert {names[code] for code in np.unique(codes[joins])} == {"other"}
    assert [tier.ports_up for tier in tier_counts(cluster, 3)] == [0]
    alone = build([COMPUTE])
    for index in range(3):
        assert tier_counts(build([COMPUTE, STORAGE, IN_BAND]), index) == tier_counts(cluster, index)
    assert bisection_bytes_per_s(cluster, 0) == bisection_bytes_per_s(alone, 0)


def test_the_drawing_shows_switches_of_other_fabrics_as_endpoints():
    cluster = build([COMPUTE, STORAGE, IN_BAND, OUT_OF_BAND])
    drawing = draw_logical_fabric(cluster, 3)
    assert ">12 PDUs<" in drawing
    assert not re.search(r">\d+ spines?<", drawing)


def test_every_rule_holds_on_the_whole_superpod():
    spec = preset_spec("superpod-h100-full")
    cluster = build_cluster(spec, CATALOG)
    parts = with_cables(resolve_parts(spec, CATALOG), cluster, CATALOG)
    assert [f for check in RULES.values() for f in check(cluster, parts, spec) if f.severity != "info"] == []


@pytest.mark.parametrize(
    ("fabrics", "says"),
    [
        ([COMPUTE, OUT_OF_BAND, STORAGE], "write it after them"),
        ([COMPUTE, STORAGE, OUT_OF_BAND], 'name the fabric "in-band", which does not stand earlier'),
        ([COMPUTE, {**STORAGE, "purpose": "in-band", "uplinks": UPLINKS}], "which does not stand earlier"),
    ],
)
def test_fabrics_in_the_wrong_order_are_refused(fabrics: list[dict[str, Any]], says: str):
    with pytest.raises(SpecError, match=says):
        build(fabrics)


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        (
            {"uplinks": {**UPLINKS, "rate": "1 Gb/s"}},
            "uplinks run at 1 Gb/s, the ports of fabric .* at 100 Gb/s",
        ),
        (
            {"uplinks": {**UPLINKS, "links": 4000}},
            "sn2201 has 4 ports of 100 Gb/s left for uplinks, 4000 are",
        ),
        ({"uplinks": None, "leaf": {"ports_down": 20}}, "one tier of [0-9]+ leaves has no link"),
        ({"switch": "qm9700"}, "management ports are Ethernet"),
        ({"topology": "full-mesh"}, "management ports are Ethernet and need switches"),
    ],
)
def test_out_of_band_fabrics_that_cannot_be_built(changed: dict[str, Any], says: str):
    with pytest.raises(UnbuildableError, match=says) as refusal:
        build([COMPUTE, IN_BAND, {**OUT_OF_BAND, **changed}])
    assert refusal.value.nearest


def test_servers_that_nothing_connects_are_refused():
    box = {"name": "files", "model": {"gpus": 0, "nics": 1, "nic_rate": "400 Gb/s"}, "count": 2}
    servers = [{"name": "gpus", "model": "dgx-h100", "count": 4}, {**box, "purpose": "storage"}]
    with pytest.raises(SpecError, match='servers "files": no fabric connects them'):
        build([COMPUTE], servers)
    assert len(build([COMPUTE], [servers[0], {**servers[1], "fabrics": {}}]).gpus) == 32
