"""Names of devices and ports."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpufabric.catalog.load import load_catalog
from gpufabric.errors import InputError
from gpufabric.formats.cluster_yaml import parse_cluster_spec
from gpufabric.records.cluster import Assemblies, Cluster, Devices, Fabric, Gpus, Links, Modules, Ports
from gpufabric.records.cluster_spec import ClusterSpec
from gpufabric.records.names import device_names, device_rows, port_names
from gpufabric.topologies import build_cluster, resolve_parts

LABEL = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?")
NONE = np.empty(0, np.int32)


def designed(count: int, **fabric: Any) -> Cluster:
    spec = ClusterSpec.model_validate({"servers": {"model": "dgx-h100", "count": count}, "fabrics": fabric})
    return build_cluster(spec, load_catalog())


def only_devices(columns: dict[str, list[int]], fabrics: tuple[Fabric, ...]) -> Cluster:
    devices = Devices(**{name: np.array(column, np.int32) for name, column in columns.items()})
    ports = Ports(*(NONE for _ in range(11)))
    return Cluster(
        "c",
        (),
        fabrics,
        devices,
        ports,
        Links(NONE, NONE, NONE, NONE),
        Assemblies(NONE, NONE),
        Modules(NONE, NONE, NONE),
        Gpus(NONE, NONE, NONE),
    )


@st.composite
def any_devices(draw: Any) -> Cluster:
    fabrics = tuple(
        Fabric(name, "fat-tree", "ethernet", draw(st.integers(1, 3)), 2, "ecmp")
        for name in draw(
            st.lists(st.from_regex(r"[A-Za-z0-9._\-]{1,40}", fullmatch=True), min_size=1, max_size=4)
        )
    )
    count = draw(st.integers(1, 40))
    ranges = {
        "kind": (0, 3),
        "role": (-1, 5),
        "part": (-1, 1),
        "fabric": (-1, len(fabrics) - 1),
        "unit": (-1, 12),
        "pod": (-1, 2),
        "rack": (-1, 1),
        "plane": (-1, 2),
        "rail": (-1, 10),
        "index": (-1, 5),
    }
    columns = {
        key: draw(st.lists(st.integers(*bounds), min_size=count, max_size=count))
        for key, bounds in ranges.items()
    }
    return only_devices(columns, fabrics)


@given(any_devices())
def test_any_devices_get_names_that_are_unique_legal_and_lead_back(cluster: Cluster) -> None:
    names = device_names(cluster).tolist()
    assert len(set(names)) == len(names)
    assert all(LABEL.fullmatch(name) for name in names)
    assert device_rows(cluster, names).tolist() == list(range(len(names)))


def test_rail_optimized_names_say_unit_and_rail() -> None:
    managers = {"count": 2, "links": 1}
    cluster = designed(63, topology="rail-optimized", switch="qm9790", managers=managers)
    names = set(device_names(cluster).tolist())
    assert {
        "su01-srv01",
        "su02-srv31",
        "leaf-su01-r1",
        "leaf-su02-r8",
        "spine-01",
        "mgr-01",
        "mgr-02",
    } <= names


def test_planes_pods_and_larger_units_are_told_apart() -> None:
    three = designed(24, topology="fat-tree", switch={"ports": 16, "rate": "400 Gb/s"}, tiers=3)
    names = set(device_names(three).tolist())
    assert {"leaf-pod01-01", "spine-pod03-08", "core-01"} <= names
    planes = designed(4, topology="multi-plane", switch="qm9790", planes=8)
    assert {"leaf-p1-01", "leaf-p8-01"} <= set(device_names(planes).tolist())
    two_a_rail = designed(40, topology="rail-optimized", switch="qm9790", unit_servers=40)
    assert {"leaf-su01-r1-01", "leaf-su01-r1-02"} <= set(device_names(two_a_rail).tolist())


def test_names_sort_in_the_order_of_their_numbers() -> None:
    names = [
        n for n in device_names(designed(130, topology="leaf-spine", switch="qm9790")) if n.startswith("srv")
    ]
    assert names[0] == "srv001"
    assert sorted(names) == names


def test_switches_of_a_second_fabric_begin_with_its_name() -> None:
    fabrics = tuple(
        Fabric(name, "fat-tree", "ethernet", 1, 2, "ecmp") for name in ("compute", "Storage_A", "storage-a")
    )
    row = {
        "kind": 1,
        "role": 1,
        "part": 0,
        "unit": -1,
        "pod": -1,
        "rack": -1,
        "plane": -1,
        "rail": -1,
        "index": 0,
    }
    columns = {key: [value] * 3 for key, value in row.items()} | {"fabric": [0, 1, 2]}
    assert device_names(only_devices(columns, fabrics)).tolist() == [
        "leaf-01",
        "storage-a-leaf-01",
        "storage-a-3-leaf-01",
    ]


def test_ports_bear_cage_and_lane_and_the_label_of_the_chassis() -> None:
    spec = ClusterSpec.model_validate(
        {
            "servers": {"model": "dgx-h100", "count": 4},
            "fabrics": {"topology": "rail-optimized", "switch": "qm9790"},
        }
    )
    cluster = build_cluster(spec, load_catalog())
    first = cluster.links.port_a[:1]
    assert re.fullmatch(r"cage[1-4]/[12]", port_names(cluster, first)[0])
    assert re.fullmatch(r"osfp[1-4]/[12]", port_names(cluster, first, resolve_parts(spec, load_catalog()))[0])
    assert re.fullmatch(r"\d+/[12]", port_names(cluster, cluster.links.port_b[:1])[0])


def test_a_cage_that_is_not_split_has_no_lane() -> None:
    cluster = designed(2, topology="single-switch", switch={"ports": 16, "rate": "400 Gb/s"})
    assert port_names(cluster, cluster.links.port_b)[0] == "1"


def test_port_names_are_unique_within_their_device() -> None:
    cluster = designed(40, topology="rail-optimized", switch="qm9790")
    names = port_names(cluster)
    pairs = set(zip(cluster.ports.device.tolist(), names.tolist(), strict=True))
    assert len(pairs) == len(cluster.ports)


def test_a_read_cluster_keeps_its_names() -> None:
    cluster = designed(1, topology="single-switch", switch="qm9790")
    real = ("host a", "SW;1")
    read = replace(
        cluster,
        devices=replace(cluster.devices, names=real),
        ports=replace(cluster.ports, names=tuple(f"eth{i}" for i in range(len(cluster.ports)))),
    )
    assert tuple(device_names(read)) == real
    assert device_names(read, np.array([1])).tolist() == ["SW;1"]
    assert port_names(read, np.array([2])).tolist() == ["eth2"]


def test_an_unknown_name_is_refused_with_the_nearest() -> None:
    cluster = designed(8, topology="leaf-spine", switch="qm9790")
    with pytest.raises(InputError, match=r'device "srv99" is not in cluster cluster; .*Did you mean'):
        device_rows(cluster, ["srv01", "srv99"])


def test_a_fabric_with_room_for_a_hundred_units_has_their_digits_from_the_start(catalog):
    text = (
        "servers: {{model: dgx-h100, count: {count}}}\n"
        "fabrics: {{topology: rail-optimized, switch: sn5600, unit_servers: 2{room}}}\n"
    )
    now = build_cluster(
        parse_cluster_spec(text.format(count=4, room=", grow_to_units: 120"), "x.yaml"), catalog
    )
    later = build_cluster(parse_cluster_spec(text.format(count=240, room=""), "x.yaml"), catalog)
    assert "su001-srv01" in device_names(now)
    assert set(device_names(now)) <= set(device_names(later))
