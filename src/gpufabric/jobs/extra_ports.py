"""A cluster and what stands in it beside the design → the cluster with more ports, links or devices at the ends of its tables."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpufabric.records.cluster import NO_JUMPERS, UNKNOWN, Cluster, Links
from gpufabric.records.names import device_names, port_names
from gpufabric.records.part_lookup import PartLookup


@dataclass(frozen=True, slots=True)
class ExtraPort:
    """A port that the design does not use: its device, cage, lane, into how many lanes the cage is split, rate and name."""

    device: int
    cage: int
    lane: int
    lanes_in_cage: int
    bytes_per_s: float
    name: str


def with_own_names(cluster: Cluster, parts: PartLookup | None = None) -> Cluster:
    """Return the cluster with its names written down, so that they stay when rows are added or taken away."""
    return replace(
        cluster,
        devices=replace(cluster.devices, names=tuple(device_names(cluster).tolist())),
        ports=replace(cluster.ports, names=tuple(port_names(cluster, parts=parts).tolist())),
    )


def add_device(cluster: Cluster, like: int, name: str) -> Cluster:
    """Return the cluster with one more device, of the kind and part of another one and of no role, unit or rack.

    Parameters
    ----------
    cluster
        With names of its own.
    like
        Row of the other one.
    name
    """
    devices = cluster.devices
    kept = {"kind", "part", "fabric"}
    added: dict[str, Any] = {
        f.name: np.append(
            getattr(devices, f.name), getattr(devices, f.name)[like] if f.name in kept else UNKNOWN
        ).astype(getattr(devices, f.name).dtype)
        for f in fields(devices)
        if f.name not in {"names", "where"}
    }
    names = (*(devices.names or ()), name)
    return replace(cluster, devices=replace(devices, names=names, **added))


def add_ports(cluster: Cluster, extra: list[ExtraPort]) -> Cluster:
    """Return the cluster with more ports; each is of the fabric, plane and rail of its device.

    Parameters
    ----------
    cluster
        Where it has names of its own, the new ports get theirs too.
    extra
    """
    if not extra:
        return cluster
    ports, devices = cluster.ports, cluster.devices
    rows = np.array([port.device for port in extra], np.int64)
    unknown = np.full(len(extra), UNKNOWN)
    added: dict[str, NDArray[Any]] = {
        "device": rows,
        "cage": np.array([port.cage for port in extra]),
        "lane": np.array([port.lane for port in extra]),
        "lanes_in_cage": np.array([port.lanes_in_cage for port in extra]),
        "nic": unknown,
        "bytes_per_s": np.array([port.bytes_per_s for port in extra]),
        "fabric": devices.fabric[rows],
        "plane": devices.plane[rows],
        "rail": devices.rail[rows],
        "bond": unknown,
        "reserved": np.zeros(len(extra), np.bool_),
    }
    grown = {
        name: np.concatenate([getattr(ports, name), values]).astype(getattr(ports, name).dtype)
        for name, values in added.items()
    }
    names = None if ports.names is None else (*ports.names, *(port.name for port in extra))
    return replace(cluster, ports=replace(ports, names=names, **grown))


def with_links(
    cluster: Cluster,
    ends: tuple[NDArray[np.int64], NDArray[np.int64]],
    rate: NDArray[np.float64],
    assembly: NDArray[np.int64],
) -> Cluster:
    """Return the cluster with these links and no others; patch cords are left out.

    Parameters
    ----------
    cluster
    ends
        Ports at the lower and at the upper end of each link.
    rate
        Bytes/s.
    assembly
        Rows of ``cluster.assemblies``; -1 unknown.
    """
    links = Links(ends[0].astype(np.int32), ends[1].astype(np.int32), rate, assembly.astype(np.int32))
    return replace(cluster, links=links, jumpers=NO_JUMPERS)
