"""Columns of a cluster while it is being wired, and the finished :class:`Cluster`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gpufabric.records.cluster import (
    UNKNOWN,
    Assemblies,
    Cluster,
    Devices,
    Fabric,
    Gpus,
    Links,
    Modules,
    Ports,
)

_DEVICE_COLUMNS: dict[str, Any] = {
    "kind": np.int8,
    "role": np.int8,
    "part": np.int32,
    "fabric": np.int16,
    "unit": np.int32,
    "pod": np.int32,
    "rack": np.int32,
    "plane": np.int16,
    "rail": np.int16,
    "index": np.int32,
}
_PORT_COLUMNS: dict[str, Any] = {
    "device": np.int32,
    "cage": np.int16,
    "lane": np.int16,
    "lanes_in_cage": np.int16,
    "nic": np.int16,
    "bytes_per_s": np.float64,
    "fabric": np.int16,
    "plane": np.int16,
    "rail": np.int16,
    "bond": np.int16,
    "reserved": np.bool_,
}
_LINK_COLUMNS: dict[str, Any] = {"port_a": np.int32, "port_b": np.int32, "bytes_per_s": np.float64}
_DEFAULTS: dict[str, Any] = {"lane": 1, "lanes_in_cage": 1, "reserved": False}


class _Table:
    """Equal-length columns that grow by blocks of rows."""

    def __init__(self, columns: dict[str, Any]) -> None:
        self._columns = columns
        self._blocks: dict[str, list[NDArray[Any]]] = {name: [] for name in columns}
        self.rows = 0

    def add(self, count: int, values: dict[str, ArrayLike]) -> NDArray[np.int32]:
        for name, dtype in self._columns.items():
            value = np.asarray(values.get(name, _DEFAULTS.get(name, UNKNOWN)))
            self._blocks[name].append(np.broadcast_to(value, (count,)).astype(dtype))
        first = self.rows
        self.rows += count
        return np.arange(first, self.rows, dtype=np.int32)

    def finish(self) -> dict[str, Any]:
        return {
            name: np.concatenate(self._blocks[name]) if self._blocks[name] else np.empty(0, dtype)
            for name, dtype in self._columns.items()
        }


class ClusterDraft:
    """A cluster under construction. Columns that are left out are unknown."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._devices = _Table(_DEVICE_COLUMNS)
        self._ports = _Table(_PORT_COLUMNS)
        self._links = _Table(_LINK_COLUMNS)
        self._part_ids: dict[str, int] = {}
        self._fabrics: list[Fabric] = []
        self._gpus: list[tuple[NDArray[np.int32], NDArray[np.int16], NDArray[np.int32]]] = []
        self._domains = 0

    def part(self, part_id: str | None) -> int:
        """Return the index of *part_id* in ``Cluster.parts``, -1 for None."""
        return UNKNOWN if part_id is None else self._part_ids.setdefault(part_id, len(self._part_ids))

    @property
    def device_kinds(self) -> NDArray[np.int8]:
        """Kind of each device added so far."""
        kinds: NDArray[np.int8] = self._devices.finish()["kind"]
        return kinds

    def add_fabric(self, fabric: Fabric) -> int:
        """Append *fabric* and return its index."""
        self._fabrics.append(fabric)
        return len(self._fabrics) - 1

    def replace_fabric(self, index: int, fabric: Fabric) -> None:
        """Put *fabric* in place of the one at *index*."""
        self._fabrics[index] = fabric

    def add_devices(self, count: int, **columns: ArrayLike) -> NDArray[np.int32]:
        """Append *count* devices; each column is a scalar or has *count* values. Return their indices."""
        return self._devices.add(count, columns)

    def add_ports(self, device: NDArray[np.int32], **columns: ArrayLike) -> NDArray[np.int32]:
        """Append one port a row of *device* and return their indices."""
        return self._ports.add(len(device), {"device": device, **columns})

    def add_links(self, port_a: NDArray[np.int32], port_b: NDArray[np.int32], bytes_per_s: ArrayLike) -> None:
        """Append links between equally many ports; ``port_a`` is on the lower tier."""
        self._links.add(len(port_a), {"port_a": port_a, "port_b": port_b, "bytes_per_s": bytes_per_s})

    def add_gpus(self, hosts: NDArray[np.int32], per_host: int, domain_servers: int) -> None:
        """Append *per_host* GPUs for each host, *domain_servers* consecutive hosts to a scale-up domain."""
        domain = self._domains + np.arange(len(hosts), dtype=np.int32) // domain_servers
        self._domains = int(domain[-1]) + 1
        local = np.tile(np.arange(per_host, dtype=np.int16), len(hosts))
        self._gpus.append((np.repeat(hosts, per_host), local, np.repeat(domain, per_host)))

    def finish(self) -> Cluster:
        """Return the cluster, with every link still without an assembly."""
        links = self._links.finish()
        gpus = [np.concatenate(column) for column in zip(*self._gpus, strict=True)]
        return Cluster(
            name=self._name,
            parts=tuple(self._part_ids),
            fabrics=tuple(self._fabrics),
            devices=Devices(**self._devices.finish()),
            ports=Ports(**self._ports.finish()),
            links=Links(**links, assembly=np.full(len(links["port_a"]), UNKNOWN, np.int32)),
            assemblies=Assemblies(np.empty(0, np.int32), np.empty(0, np.float64)),
            modules=Modules(np.empty(0, np.int32), np.empty(0, np.int16), np.empty(0, np.int32)),
            gpus=Gpus(*gpus),
        )
