"""What is wired where: rails, planes, twin-port cages, managers, reserved ports, and the refusals."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gpufabric.catalog.load import load_catalog
from gpufabric.errors import PartError, SpecError, UnbuildableError
from gpufabric.records.cluster import Cluster, DeviceKind, Role
from gpufabric.records.cluster_spec import ClusterSpec
from gpufabric.topologies import build_cluster

CATALOG = load_catalog()


def build(
    model: Any, count: int | None, topology: str = "rail-optimized", switch: Any = "qm9790", **fabric: Any
) -> Cluster:
    switches = {} if switch is None else {"switch": switch}
    spec = {
        "servers": {"model": model, "count": count},
        "fabrics": {"topology": topology, **switches, **fabric},
    }
    return build_cluster(ClusterSpec.model_validate(spec), CATALOG)


def switches(cluster: Cluster) -> tuple[int, int, int]:
    roles = cluster.devices.role
    return tuple(int((roles == role).sum()) for role in (Role.LEAF, Role.SPINE, Role.CORE))


def generic(gpus: int = 8, nics: int = 8, rate: str = "400 Gb/s", ports: int = 1) -> dict[str, Any]:
    return {"gpus": gpus, "nics": nics, "nic_rate": rate, "nic_ports": ports}


def test_each_cage_of_a_dgx_h100_carries_two_rails_to_two_leaves():
    """DGX H100 user guide, table 6: cage 1 is GPUs 7 and 4, cage 2 is 6 and 5, cage 3 is 2 and 1, cage 4 is 3 and 0."""
    cluster = build("dgx-h100", 4)
    ports, links = cluster.ports, cluster.links
    first = ports.device[links.port_a] == 0
    rails = {(int(ports.cage[p]), int(ports.lane[p])): int(ports.rail[p]) for p in links.port_a[first]}
    assert rails == {
        (1, 1): 7, (1, 2): 4, (2, 1): 6, (2, 2): 5, (3, 1): 2, (3, 2): 1, (4, 1): 3, (4, 2): 0,
    }  # fmt: skip
    leaf_rail = cluster.devices.rail[ports.device[links.port_b[first]]]
    assert (leaf_rail == ports.rail[links.port_a[first]]).all()
    assert len(set(ports.device[links.port_b[first]])) == 8


def test_copper_to_a_dgx_cage_that_carries_two_rails_is_refused():
    with pytest.raises(
        UnbuildableError, match="2 ports of one osfp-flat cage go to different devices"
    ) as refusal:
        build("dgx-h100", 4, cables={"server_leaf": {"technology": "dac"}})
    assert "fibre" in refusal.value.nearest


def test_twin_port_copper_between_switches_carries_two_links_an_assembly():
    cluster = build("dgx-h100", 128, cables={"leaf_spine": {"technology": "dac", "length": "2 m"}})
    between = cluster.devices.kind[cluster.link_device_a] == DeviceKind.SWITCH
    assemblies = cluster.links.assembly[between]
    assert between.sum() == 1024
    assert len(np.unique(assemblies)) == 512
    assert {cluster.parts[p] for p in cluster.assemblies.part[assemblies]} == {"mcp4y10"}
    assert (cluster.assemblies.length_m[assemblies] == 2).all()
    ports, links = cluster.ports, cluster.links
    for end in (links.port_a, links.port_b):
        cages = np.stack([ports.device[end[between]], ports.cage[end[between]], assemblies])
        assert np.unique(cages, axis=1).shape[1] == 512


def test_a_splitter_serves_two_single_port_trays_from_one_leaf_cage():
    cluster = build("gb200-nvl72-tray", 36, cables={"server_leaf": {"technology": "dac", "length": "2 m"}})
    to_leaf = cluster.devices.role[cluster.link_device_b] == Role.LEAF
    lower = cluster.devices.role[cluster.link_device_a] == Role.SERVER
    assemblies = cluster.links.assembly[to_leaf & lower]
    assert (to_leaf & lower).sum() == 144
    assert len(np.unique(assemblies)) == 72
    assert {cluster.parts[p] for p in cluster.assemblies.part[assemblies]} == {"mcp7y00"}


def test_an_nvlink_domain_spans_the_eighteen_trays_of_a_rack():
    cluster = build("gb200-nvl72-tray", 36)
    assert (np.bincount(cluster.gpus.domain) == 72).all()


@pytest.mark.parametrize(
    ("count", "expected"),
    [
        (1, (8, 4, 0)),
        (32, (8, 4, 0)),
        (33, (16, 8, 0)),
        (256, (64, 32, 0)),
        (257, (72, 96, 64)),
        (512, (128, 128, 64)),
    ],
)
def test_tiers_spines_and_cores_follow_from_the_servers(count: int, expected: tuple[int, int, int]):
    cluster = build("dgx-h100", count, unit_servers=32)
    assert switches(cluster) == expected


@pytest.mark.parametrize(
    ("count", "topology", "expected", "uplinks"),
    [
        (8, "rail-optimized", (8, 1, 0), 64),
        (1, "rail-optimized", (8, 1, 0), 8),
        (9, "leaf-spine", (3, 2, 0), 72),
        (40, "multi-plane", (16, 8, 0), 320),
    ],
)
def test_a_small_cluster_buys_the_uplinks_that_it_needs(
    count: int, topology: str, expected: tuple[int, int, int], uplinks: int
):
    """Where no unit is named, uplinks follow from the servers that are there, not from those that a full leaf could take."""
    planes = {"planes": 8} if topology == "multi-plane" else {}
    cluster = build(generic(), count, topology, {"ports": 64, "rate": "400 Gb/s"}, **planes)
    between = cluster.devices.role[cluster.link_device_a] == Role.LEAF
    assert switches(cluster) == expected
    assert between.sum() == uplinks


def test_an_uplink_more_saves_half_the_spines():
    """31 uplinks have no divisor but 31; 32 need 16 spines for 32 leaves."""
    cluster = build(generic(), 97, "rail-optimized", {"ports": 64, "rate": "400 Gb/s"}, unit_servers=31)
    assert switches(cluster) == (32, 16, 0)


@pytest.mark.slow
def test_two_hundred_thousand_gpus_on_128_port_switches():
    """Packed leaves: 200,000 / 64 = 3,125; 49 pods of 64 spines; 32 cores for each spine position."""
    packed = build(generic(), 25_000, "fat-tree", {"ports": 128, "rate": "400 Gb/s"})
    assert switches(packed) == (3125, 3136, 2048)
    rails = build(generic(), 25_000, "rail-optimized", {"ports": 128, "rate": "400 Gb/s"})
    assert switches(rails) == (3128, 3136, 2048)


def test_uplinks_of_a_partial_unit_stay_those_of_a_full_one():
    cluster = build("dgx-h100", 31, unit_servers=32, managers={"count": 2, "links": 2})
    between = cluster.devices.role[cluster.link_device_a] == Role.LEAF
    assert between.sum() == 256


def test_managers_take_the_ports_of_the_missing_server():
    cluster = build("dgx-h100", 63, unit_servers=32, managers={"count": 2, "links": 2})
    devices, ports, links = cluster.devices, cluster.ports, cluster.links
    managed = devices.role[cluster.link_device_a] == Role.MANAGER
    leaves = cluster.link_device_b[managed]
    assert len(set(leaves)) == 4
    assert (devices.unit[leaves] == 1).all()
    assert {
        int(p)
        for p in zip(ports.cage[links.port_b[managed]] * 10 + ports.lane[links.port_b[managed]], strict=True)
        for p in p
    } == {162}


def test_managers_without_a_free_port_are_refused():
    with pytest.raises(UnbuildableError, match="4 leaf ports for 2 managers asked for, 0 free"):
        build("dgx-h100", 64, unit_servers=32, managers={"count": 2, "links": 2})


def test_reserved_ports_stay_free_on_every_switch():
    cluster = build(
        generic(),
        40,
        "fat-tree",
        {"ports": 16, "rate": "400 Gb/s"},
        leaf={"reserved_ports": 2},
        spine={"reserved_ports": 1},
    )
    ports, devices = cluster.ports, cluster.devices
    held = np.bincount(ports.device[ports.reserved], minlength=len(devices))
    assert (held[devices.role == Role.LEAF] == 2).all()
    assert (held[devices.role == Role.SPINE] == 1).all()
    linked = np.concatenate([cluster.links.port_a, cluster.links.port_b])
    assert not ports.reserved[linked].any()


@pytest.mark.parametrize(
    ("ratio", "down", "up"), [("1:1", 32, 32), ("2:1", 42, 21), ("3:1", 48, 16), ("4:3", 36, 27), (7, 56, 8)]
)
def test_a_leaf_splits_its_ports_by_the_ratio(ratio: Any, down: int, up: int):
    cluster = build(generic(1, 1), 4 * down, "leaf-spine", oversubscription=ratio)
    links = cluster.links
    from_servers = cluster.devices.role[cluster.link_device_a] == Role.SERVER
    assert np.bincount(cluster.link_device_b[from_servers]).max() == down
    assert np.bincount(cluster.link_device_a[~from_servers]).max() == up
    assert len(links) == 4 * (down + up)


def test_each_tier_can_have_a_ratio_of_its_own():
    cluster = build(generic(1, 1), 96 * 32, "fat-tree", tiers=3, spine={"oversubscription": "3:1"})
    spines = cluster.devices.role == Role.SPINE
    down = np.bincount(cluster.link_device_b, minlength=len(cluster.devices))[spines]
    up = np.bincount(cluster.link_device_a, minlength=len(cluster.devices))[spines]
    assert (down == 3 * up).all()


def test_mixed_speeds_split_a_cage_for_400g_below_and_use_it_whole_above():
    cluster = build("hgx-mi300x", 32, "leaf-spine", "sse-t8196", uplink_rate="800 Gb/s")
    ports = cluster.ports
    leaf = ports.device == int(np.flatnonzero(cluster.devices.role == Role.LEAF)[0])
    assert sorted(
        {(int(n), float(r)) for n, r in zip(ports.lanes_in_cage[leaf], ports.bytes_per_s[leaf], strict=True)}
    ) == [
        (1, 100e9),
        (2, 50e9),
    ]
    assert ports.cage[leaf].max() == 64


@pytest.mark.parametrize(
    ("model", "planes", "expected"),
    [("dgx-b300-spectrum", None, 2), (generic(), 8, 8), (generic(8, 8, "200 Gb/s", 2), 4, 4)],
)
def test_planes_are_separate_fabrics(model: Any, planes: int | None, expected: int):
    switch = "sn5600" if isinstance(model, str) else {"ports": 64, "rate": model["nic_rate"]}
    cluster = build(model, 40, "multi-plane", switch, planes=planes)
    assert cluster.fabrics[0].planes == expected
    ports, links = cluster.ports, cluster.links
    assert (ports.plane[links.port_a] == ports.plane[links.port_b]).all()
    on_switch = cluster.devices.kind[ports.device] == DeviceKind.SWITCH
    for device in np.unique(ports.device[on_switch]):
        assert len(np.unique(ports.plane[ports.device == device])) == 1
    assert len(np.unique(ports.plane)) == expected


def test_a_full_mesh_links_every_pair_equally_often():
    cluster = build(generic(), 5, "full-mesh", None)
    pairs = np.stack([cluster.link_device_a, cluster.link_device_b], axis=1)
    distinct, times = np.unique(pairs, axis=0, return_counts=True)
    assert len(distinct) == 10
    assert (times == 2).all()  # eight ports over four peers


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((generic(), 40, "full-mesh", None), "needs 39 ports a server and 780 cables; a server has 8"),
        ((generic(), 9, "single-switch"), "has 64 ports, 72 are needed; the largest infiniband switch"),
        (
            ("dgx-h100", 8, "rail-optimized", "qm8790"),
            "has no 400 Gb/s ports; its ports do 200 Gb/s, 100 Gb/s",
        ),
        (
            ("dgx-a100", 8, "rail-optimized", "sn2201"),
            "management ports only|has no 200 Gb/s ports|infiniband|ethernet",
        ),
        (("dgx-b300-xdr", 8, "rail-optimized", "sn5600"), "is ethernet, but NIC .* does infiniband only"),
        ((generic(1, 1), 5000, "leaf-spine"), "two tiers end at 64 leaves"),
    ],
)
def test_what_cannot_be_built_says_why_and_names_the_nearest(arguments: tuple[Any, ...], says: str):
    with pytest.raises(UnbuildableError, match=says) as refusal:
        build(*arguments)
    assert refusal.value.nearest


def test_three_tiers_end_where_a_core_runs_out_of_ports():
    with pytest.raises(UnbuildableError, match="three tiers end at 8 pods"):
        build(generic(1, 1), 129, "fat-tree", {"ports": 8, "rate": "400 Gb/s"})
    assert switches(build(generic(1, 1), 128, "fat-tree", {"ports": 8, "rate": "400 Gb/s"})) == (32, 32, 16)


def test_a_billion_servers_are_refused_by_the_description():
    with pytest.raises(ValueError, match="less than or equal to"):
        build(generic(), 10**9)


def test_more_gpus_than_are_wired_are_refused():
    with pytest.raises(UnbuildableError, match="8,000,000 GPUs are more than gpufabric wires"):
        build(generic(), 1_000_000)


def test_a_server_count_is_needed():
    with pytest.raises(SpecError, match="count is missing"):
        build(generic(), None)


def test_several_server_groups_share_one_fabric():
    spec = {
        "servers": [
            {"name": "old", "model": "dgx-h100", "count": 10},
            {"name": "new", "model": "dgx-b200", "count": 6},
        ],
        "fabrics": {"topology": "rail-optimized", "switch": "qm9790"},
    }
    cluster = build_cluster(ClusterSpec.model_validate(spec), CATALOG)
    assert len(cluster.gpus) == 128
    assert switches(cluster) == (8, 2, 0)


def test_a_second_fabric_takes_the_nics_that_the_servers_name_for_it():
    spec = {
        "servers": {
            "model": generic(8, 10),
            "count": 16,
            "fabrics": {"compute": [f"nic{i}" for i in range(8)], "storage": ["nic8", "nic9"]},
        },
        "fabrics": [
            {"name": "compute", "topology": "rail-optimized", "switch": {"ports": 32, "rate": "400 Gb/s"}},
            {
                "name": "storage",
                "topology": "leaf-spine",
                "switch": {"ports": 16, "rate": "400 Gb/s"},
                "oversubscription": "4:3",
            },
        ],
    }
    cluster = build_cluster(ClusterSpec.model_validate(spec), CATALOG)
    fabric = cluster.ports.fabric[cluster.links.port_a]
    server = cluster.devices.role[cluster.link_device_a] == Role.SERVER
    assert (fabric[server] == 0).sum() == 128
    assert (fabric[server] == 1).sum() == 32


@pytest.mark.parametrize(
    ("arguments", "more", "says", "nearest"),
    [
        (("dgx-h100", 512, "leaf-spine"), {}, "two tiers end at 64 leaves", "topology fat-tree"),
        (("dgx-h100", 8, "leaf-spine", "q3400-ra"), {}, "its ports do 800 Gb/s", "another switch"),
        (("dgx-h100", 8, "leaf-spine", "qm8790"), {}, "its ports do 200 Gb/s", "links of 200 Gb/s"),
        (("dgx-h100", 96, "leaf-spine"), {"leaf": {"count": 25}}, "the servers fill 24 leaves", "count: 24"),
        (
            (generic(), 4, "full-mesh", None),
            {"managers": {"count": 1, "links": 1}},
            "no switch for managers",
            "leaf-spine",
        ),
        (
            ("dgx-h100", 8, "leaf-spine"),
            {"leaf": {"ports_down": 63, "ports_up": 1}},
            "all go up or all go down",
            "down",
        ),
    ],
)
def test_the_advice_of_a_refusal_is_one_that_works(
    arguments: tuple[Any, ...], more: dict[str, Any], says: str, nearest: str
):
    with pytest.raises(UnbuildableError, match=says) as refusal:
        build(*arguments, **more)
    assert nearest in refusal.value.nearest


def test_a_slower_link_is_built_as_advised():
    cluster = build("dgx-h100", 8, "leaf-spine", "qm8790", link_rate="200 Gb/s")
    assert (cluster.links.bytes_per_s == 25e9).all()


def test_a_manager_of_a_part_that_does_not_exist():
    with pytest.raises(PartError, match='appliance "nope" is unknown'):
        build("dgx-h100", 8, managers={"count": 2, "part": "nope"})
    with pytest.raises(PartError, match="appliance"):
        build("dgx-h100", 8, managers={"count": 2, "part": "dgx-h100"})


@pytest.mark.parametrize("ratio", ["1:1", "2:1", "3:1", "7:3"])
@pytest.mark.parametrize("switch", ["ds5000", "sn5600"])
def test_an_eight_way_split_leaves_every_port_in_a_cage_of_the_switch(switch: str, ratio: str):
    cluster = build(
        generic(1, 1, "100 Gb/s"), 900, "leaf-spine", switch, uplink_rate="400 Gb/s", oversubscription=ratio
    )
    on_switch = cluster.devices.kind[cluster.ports.device] == DeviceKind.SWITCH
    assert cluster.ports.cage[on_switch].max() <= 64


@pytest.mark.parametrize("spine", [{"ports_down": 48}, {"ports_up": 60}], ids=["down", "up"])
def test_a_spine_is_never_given_more_ports_than_it_has(spine: dict[str, int]):
    spec = ClusterSpec.model_validate(
        {
            "servers": {"model": {"gpus": 1, "nics": 2, "nic_rate": "400 Gb/s"}, "count": 97},
            "fabrics": {"topology": "leaf-spine", "switch": "qm9790", "tiers": 3, "spine": spine},
        }
    )
    with pytest.raises(
        UnbuildableError, match=r"spine switch qm9790 can't hold .* nearest .* 32 ports down and 32 up"
    ):
        build_cluster(spec, load_catalog())
