"""A subnet → the descriptions that its nodes give of themselves."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gpufabric.graphs.cluster_subnet import LaidSubnet
from gpufabric.records.cluster import Cluster
from gpufabric.records.names import device_names, port_names


def discovered_names(cluster: Cluster, laid: LaidSubnet) -> tuple[str, ...]:
    """Return the descriptions that nodes give of themselves: ``server mlx5_3``, ``MF0;switch:MODEL/U1``."""
    hosts: list[str] = device_names(cluster).tolist()
    names = []
    rank = adapter_ranks(cluster)
    own = {
        f"{hosts[device]}:{port}": row
        for row, (device, port) in enumerate(
            zip(cluster.ports.device.tolist(), port_names(cluster).tolist(), strict=True)
        )
    }
    for name, is_switch, device in zip(
        laid.subnet.names, laid.subnet.is_switch.tolist(), laid.device.tolist(), strict=True
    ):
        if is_switch:
            part = int(cluster.devices.part[device])
            model = cluster.parts[part].upper() if part >= 0 else "switch"
            names.append(f"MF0;{hosts[device]}:{model}/U1")
        else:
            names.append(f"{hosts[device]} mlx5_{int(rank[own[name]])}")
    return tuple(names)


def adapter_ranks(cluster: Cluster) -> NDArray[np.int64]:
    """Return which adapter of its device each port is, from 0, in the order of cages and lanes."""
    ports = cluster.ports
    order = np.lexsort((ports.lane, ports.cage, ports.device))
    device = ports.device[order]
    rank = np.empty(len(ports), np.int64)
    rank[order] = np.arange(len(ports)) - np.searchsorted(device, device)
    return rank
