"""Device roles → how high each device stands; links → which fabric each belongs to."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gpufabric.records.cluster import Cluster, DeviceKind, Role


def device_tiers(cluster: Cluster) -> NDArray[np.int8]:
    """Return the height of each device: 0 for servers and other endpoints, 1 leaf, 2 spine, 3 core, -1 unknown.

    Returns
    -------
    int8 array, D
    """
    role = cluster.devices.role
    is_switch = (role >= Role.LEAF) & (role <= Role.CORE)
    is_endpoint = np.isin(role, (Role.SERVER, Role.MANAGER, Role.STORAGE, Role.PDU))
    return np.where(is_switch, role, np.where(is_endpoint, 0, -1)).astype(np.int8)


def link_fabrics(cluster: Cluster) -> NDArray[np.int16]:
    """Return for each link the index of its fabric: that of its lower port, else of its upper one, else -1.

    Returns
    -------
    int16 array, L
    """
    lower = cluster.ports.fabric[cluster.links.port_a]
    return np.where(lower >= 0, lower, cluster.ports.fabric[cluster.links.port_b])


def joins_fabrics(cluster: Cluster) -> NDArray[np.bool_]:
    """Return for each link whether it joins switches of different fabrics: management ports, uplinks into another fabric.

    Such a link belongs to no tier of either fabric, whatever the roles of its ends.

    Returns
    -------
    bool array, L
    """
    devices = cluster.devices
    a, b = cluster.link_device_a, cluster.link_device_b
    switches = (devices.kind[a] == DeviceKind.SWITCH) & (devices.kind[b] == DeviceKind.SWITCH)
    different: NDArray[np.bool_] = switches & (devices.fabric[a] != devices.fabric[b])
    return different
