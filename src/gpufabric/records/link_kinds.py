"""Which two tiers, and which fabric, each link of a cluster joins: counted from the wiring, never assumed."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gpufabric.records.cluster import Cluster, Role

LINK_KINDS = ("server_leaf", "leaf_spine", "spine_core", "server_server", "other")
SERVER_LEAF, LEAF_SPINE, SPINE_CORE, SERVER_SERVER, OTHER = range(5)


def link_kinds(cluster: Cluster) -> NDArray[np.int8]:
    """Return for each link an index into :data:`LINK_KINDS`.

    Links to managers and storage servers, between switches of one tier, and with an end of unknown role are ``other``.

    Returns
    -------
    int8 array, L
    """
    role_a = cluster.devices.role[cluster.link_device_a]
    role_b = cluster.devices.role[cluster.link_device_b]
    lower, upper = np.minimum(role_a, role_b), np.maximum(role_a, role_b)
    kinds = np.full(len(lower), OTHER, np.int8)
    for kind, role in ((SERVER_LEAF, Role.SERVER), (LEAF_SPINE, Role.LEAF), (SPINE_CORE, Role.SPINE)):
        kinds[(lower == role) & (upper == role + 1)] = kind
    kinds[(lower == Role.SERVER) & (upper == Role.SERVER)] = SERVER_SERVER
    return kinds


def link_fabrics(cluster: Cluster) -> NDArray[np.int16]:
    """Return for each link the index of its fabric: that of its lower port, else of its upper one, else -1.

    Returns
    -------
    int16 array, L
    """
    lower = cluster.ports.fabric[cluster.links.port_a]
    return np.where(lower >= 0, lower, cluster.ports.fabric[cluster.links.port_b])


def device_tiers(cluster: Cluster) -> NDArray[np.int8]:
    """Return the height of each device: 0 for servers, storage and managers, 1 leaf, 2 spine, 3 core, -1 unknown.

    Returns
    -------
    int8 array, D
    """
    role = cluster.devices.role
    is_switch = (role >= Role.LEAF) & (role <= Role.CORE)
    is_endpoint = (role == Role.SERVER) | (role == Role.MANAGER) | (role == Role.STORAGE)
    return np.where(is_switch, role, np.where(is_endpoint, 0, -1)).astype(np.int8)
