"""Cages and lanes → the numbers that InfiniBand switches and forwarding tables give to ports."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gpufabric.records.cluster import MANAGEMENT_CAGE, Cluster, DeviceKind


def port_numbers(cluster: Cluster) -> NDArray[np.int32]:
    """Return the number of each port within its device.

    A switch counts cage by cage, and as many ports a cage as its most divided one has: with two ports a cage, cage 5 lane 2 is
    port 10. Each port of a server is an adapter of its own, as the operating system shows it, and has number 1.

    Returns
    -------
    int32 array, P
        0 for management ports.
    """
    ports = cluster.ports
    lanes = np.ones(len(cluster.devices), np.int32)
    np.maximum.at(lanes, ports.device, np.maximum(ports.lanes_in_cage, ports.lane).astype(np.int32))
    counted = (ports.cage.astype(np.int32) - 1) * lanes[ports.device] + np.maximum(ports.lane, 1)
    switch = cluster.devices.kind[ports.device] == DeviceKind.SWITCH
    return np.where(ports.cage == MANAGEMENT_CAGE, 0, np.where(switch, counted, 1)).astype(np.int32)
