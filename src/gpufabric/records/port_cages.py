"""Ports → the cages they lie in: their connectors, and the transceivers in them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpufabric.records.cluster import MANAGEMENT_CAGE, UNKNOWN, Cluster
from gpufabric.records.part_set import PartSet


def cage_connectors(cluster: Cluster, parts: PartSet) -> tuple[tuple[str, ...], NDArray[np.int64]]:
    """Return the connector of every cage of every part of a cluster.

    Returns
    -------
    names : tuple of str
        Connectors; the first is empty and stands for a connector that is not known. A management port is RJ45 on every device.
    table : int64 array, (parts + 1, cages + 1)
        ``table[part, cage]`` is the index into *names*. Cages of a switch are numbered on from group to group. The last row is
        for devices without a part.
    """
    names = [""]
    most = max(int(cluster.ports.cage.max(initial=0)), int(cluster.modules.cage.max(initial=0)))
    table = np.zeros((len(cluster.parts) + 1, most + 1), np.int64)

    def number(connector: str | None) -> int:
        if connector and connector not in names:
            names.append(connector)
        return names.index(connector) if connector else 0

    for index, part_id in enumerate(cluster.parts):
        if part_id in parts.switches:
            first = 1
            for group in parts.switches[part_id].cages:
                table[index, first : first + group.count] = number(group.connector)
                first += group.count
        for cage in parts.servers[part_id].cages if part_id in parts.servers else ():
            table[index, cage.first : cage.first + cage.count] = number(cage.connector)
    if (cluster.ports.cage == MANAGEMENT_CAGE).any():
        table[:, MANAGEMENT_CAGE] = number("rj45")
    return tuple(names), table


def port_modules(cluster: Cluster, rows: NDArray[np.integer[Any]]) -> NDArray[np.int32]:
    """Return for each port of *rows* the part of the transceiver in its cage, -1 without one."""
    modules, ports = cluster.modules, cluster.ports
    if not len(modules):
        return np.full(len(rows), UNKNOWN, np.int32)
    key = modules.device.astype(np.int64) << 16 | modules.cage
    order = np.argsort(key, kind="stable")
    wanted = ports.device[rows].astype(np.int64) << 16 | ports.cage[rows]
    at = np.minimum(np.searchsorted(key, wanted, sorter=order), len(key) - 1)
    row = order[at]
    return np.where(key[row] == wanted, modules.part[row], UNKNOWN).astype(np.int32)


def cabled_lengths_m(cluster: Cluster) -> NDArray[np.float64]:
    """Return how long the cable of each link is, patch cords included; NaN where it is unknown. L, float64."""
    assembly = cluster.links.assembly
    length = np.append(cluster.assemblies.length_m, np.nan)[assembly]
    cords = np.bincount(cluster.jumpers.link, weights=cluster.jumpers.length_m, minlength=len(assembly))
    return np.asarray(length + cords, np.float64)
