"""Hand-made clusters for what people look at: folded Clos, full mesh, single switch; the wiring is spelled out here."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from gpufabric.records.cluster import (
    Assemblies,
    Cluster,
    DeviceKind,
    Devices,
    Fabric,
    Gpus,
    Links,
    Modules,
    Ports,
    Role,
)

PARTS = ("box-8g", "sw-64", "sw-128", "fibre-a", "optic-flat", "optic-finned", "mgr-box")
RATE = 50e9  # 400 Gb/s


@dataclass(frozen=True)
class Clos:
    """Sizes of a rail-optimized Clos: per plane, every leaf has ``up`` links, spread equally over the spines of its pod."""

    units: int = 2
    servers: int = 4
    last_unit_servers: int | None = None
    rails: int = 8
    up: int = 4
    spines: int = 4
    pods: int = 1
    cores: int = 0
    planes: int = 1
    managers: int = 0


class _Rows:
    def __init__(self) -> None:
        self.device: list[dict[str, Any]] = []
        self.port: list[np.ndarray] = []
        self.link: list[np.ndarray] = []
        self.ports = 0
        self.used: dict[int, int] = {}

    def add(self, **columns: int) -> int:
        self.device.append(columns)
        return len(self.device) - 1

    def join(self, a: int, b: int, count: int, plane: int = -1, rail: int = -1) -> None:
        block = []
        for device in (a, b):
            first = self.used.get(device, 0)
            self.used[device] = first + count
            numbers = np.arange(first, first + count)
            switch = self.device[device]["kind"] == DeviceKind.SWITCH
            block.append(
                np.stack([
                    np.full(count, device), numbers // 2 + 1, numbers % 2 + 1, np.full(count, 2),
                    np.full(count, -1) if switch else numbers, np.full(count, plane), np.full(count, rail),
                ])
            )  # fmt: skip
        self.port += block
        self.link.append(np.stack([np.arange(count) + self.ports, np.arange(count) + self.ports + count]))
        self.ports += 2 * count

    def finish(self, fabric: Fabric, gpus_per_server: int) -> Cluster:
        columns = {
            name: np.array([row.get(name, -1) for row in self.device], dtype)
            for name, dtype in (
                ("kind", np.int8), ("role", np.int8), ("part", np.int32), ("fabric", np.int16), ("unit", np.int32),
                ("pod", np.int32), ("rack", np.int32), ("plane", np.int16), ("rail", np.int16), ("index", np.int32),
            )
        }  # fmt: skip
        port = np.concatenate(self.port, axis=1) if self.port else np.zeros((7, 0), int)
        link = np.concatenate(self.link, axis=1) if self.link else np.zeros((2, 0), int)
        count = port.shape[1]
        small = port.astype(np.int16)
        ports = Ports(
            port[0].astype(np.int32), small[1], small[2], small[3], small[4], np.full(count, RATE),
            np.zeros(count, np.int16), small[5], small[6], np.full(count, -1, np.int16), np.zeros(count, bool),
        )  # fmt: skip
        links = Links(
            link[0].astype(np.int32), link[1].astype(np.int32), np.full(link.shape[1], RATE),
            np.arange(link.shape[1], dtype=np.int32),
        )  # fmt: skip
        cages = np.unique(port[:2], axis=1)
        switch = columns["kind"][cages[0]] == DeviceKind.SWITCH
        modules = Modules(
            cages[0].astype(np.int32), cages[1].astype(np.int16), np.where(switch, 5, 4).astype(np.int32)
        )
        hosts = np.flatnonzero(columns["role"] == Role.SERVER).astype(np.int32)
        return Cluster(
            name="example",
            parts=PARTS,
            fabrics=(fabric,),
            devices=Devices(**columns),
            ports=ports,
            links=links,
            assemblies=Assemblies(
                np.full(link.shape[1], 3, np.int32), np.where(np.arange(link.shape[1]) % 2 == 0, 10.0, 20.0)
            ),
            modules=modules,
            gpus=Gpus(
                np.repeat(hosts, gpus_per_server),
                np.tile(np.arange(gpus_per_server, dtype=np.int16), len(hosts)),
                np.repeat(np.arange(len(hosts), dtype=np.int32), gpus_per_server),
            ),
        )


def clos(**sizes: Any) -> Cluster:
    """Build a rail-optimized Clos of two tiers (no cores) or three."""
    s = Clos(**sizes)
    rows = _Rows()
    units_per_pod = -(-s.units // s.pods)
    servers: list[list[int]] = []
    for unit in range(s.units):
        count = s.last_unit_servers if unit == s.units - 1 and s.last_unit_servers else s.servers
        first = sum(map(len, servers))
        servers.append([
            rows.add(kind=DeviceKind.SERVER, role=Role.SERVER, part=0, unit=unit, index=first + i, rack=(first + i) // 4)
            for i in range(count)
        ])  # fmt: skip
    for plane in range(s.planes):
        _wire_plane(rows, s, servers, plane, units_per_pod)
    leaf = next(i for i, d in enumerate(rows.device) if d["role"] == Role.LEAF)
    for manager in range(s.managers):
        device = rows.add(kind=DeviceKind.MANAGER, role=Role.MANAGER, part=6, index=manager)
        rows.join(device, leaf, 2)
    tiers = 1 if not s.spines else 3 if s.cores else 2
    return rows.finish(Fabric("compute", "rail-optimized", "infiniband", s.planes, tiers, "adaptive"), 8)


def _wire_plane(rows: _Rows, s: Clos, servers: list[list[int]], plane: int, units_per_pod: int) -> None:
    switch = {"kind": DeviceKind.SWITCH, "fabric": 0, "plane": plane}
    spines = [
        [
            rows.add(**switch, role=Role.SPINE, part=1, pod=pod if s.cores else -1, index=pod * s.spines + i)
            for i in range(s.spines)
        ]
        for pod in range(s.pods)
    ]
    cores = [rows.add(**switch, role=Role.CORE, part=2, index=i) for i in range(s.cores)]
    for unit, hosts in enumerate(servers):
        pod = unit // units_per_pod
        for rail in range(s.rails):
            leaf = rows.add(
                **switch,
                role=Role.LEAF,
                part=1,
                unit=unit,
                pod=pod if s.cores else -1,
                rail=rail,
                index=unit * s.rails + rail,
            )
            for host in hosts:
                rows.join(host, leaf, 1, plane, rail)
            for spine in spines[pod]:
                rows.join(leaf, spine, s.up // s.spines, plane)
    for group in spines:
        for spine in group:
            for core in cores:
                rows.join(spine, core, units_per_pod * s.rails * s.up // s.spines // s.cores, plane)


def single_switch(servers: int = 8, links: int = 8) -> Cluster:
    rows = _Rows()
    hosts = [
        rows.add(kind=DeviceKind.SERVER, role=Role.SERVER, part=0, unit=0, index=i) for i in range(servers)
    ]
    switch = rows.add(kind=DeviceKind.SWITCH, role=Role.LEAF, part=1, fabric=0, index=0)
    for host in hosts:
        rows.join(host, switch, links)
    return rows.finish(Fabric("compute", "single-switch", "ethernet", 1, 1, "ecmp"), 8)


def full_mesh(servers: int = 8) -> Cluster:
    rows = _Rows()
    hosts = [rows.add(kind=DeviceKind.SERVER, role=Role.SERVER, part=0, index=i) for i in range(servers)]
    for a in hosts:
        for b in hosts[a + 1 :]:
            rows.join(a, b, 1)
    return rows.finish(Fabric("compute", "full-mesh", "ethernet", 1, 1, "ecmp"), 8)


@pytest.fixture
def make_clos():
    return clos


@pytest.fixture
def make_single_switch():
    return single_switch


@pytest.fixture
def make_full_mesh():
    return full_mesh


@pytest.fixture
def renamed():
    """Return a function that gives a cluster's devices names, as a read fabric has them."""

    def rename(cluster: Cluster, names: tuple[str, ...]) -> Cluster:
        return replace(cluster, devices=replace(cluster.devices, names=names))

    return rename
