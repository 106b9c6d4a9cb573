"""Ports → the names of their interfaces in configuration files, fit for Linux."""

from __future__ import annotations

import re
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from gpufabric.errors import InputError, printable
from gpufabric.exports.interface_names import interface_names
from gpufabric.records.cluster import Cluster
from gpufabric.records.names import device_names
from gpufabric.records.part_set import PartSet
from gpufabric.records.port_cages import cage_connectors

LONGEST = 15  # IFNAMSIZ of Linux is 16 with the closing zero
LINUX_NAME = re.compile(rf"^[A-Za-z0-9][A-Za-z0-9._-]{{0,{LONGEST - 1}}}$")
_LANES = {"sfp": 1, "rj45": 1, "qsfp-dd": 8, "qsfp": 4, "osfp": 8}
_COMMON_LANES = 8


def routed_interfaces(
    cluster: Cluster, style: Literal["cumulus", "sonic"] = "cumulus", parts: PartSet | None = None
) -> NDArray[np.object_]:
    """Return the name of the interface of every port: that of Cumulus Linux or SONiC on switches, ``ethN`` on servers.

    Parameters
    ----------
    cluster
        One that was read from files keeps the names that are in them.
    style
    parts
        For ``sonic``, which counts electrical lanes.

    Returns
    -------
    object array of str, P

    Raises
    ------
    InputError
        If a name is too long for Linux or has other characters, or a device has one twice.
    """
    names = interface_names(cluster, style, parts)
    if cluster.ports.names is None:
        return names
    seen: set[tuple[int, str]] = set()
    for device, name in zip(cluster.ports.device.tolist(), names.tolist(), strict=True):
        if (device, name) in seen or not LINUX_NAME.match(name):
            owner = printable(str(device_names(cluster, np.array([device]))[0]))
            why = "stands twice" if (device, name) in seen else "is no name of an interface of Linux"
            raise InputError(
                f'{owner}: port "{printable(name)}" {why}; 1 to {LONGEST} letters, digits, dots, dashes and underscores are '
                "allowed, each name once a device; rename the port"
            )
        seen.add((device, name))
    return names


def cage_lanes(cluster: Cluster, ports: NDArray[np.integer], parts: PartSet) -> NDArray[np.int64]:
    """Return how many electrical lanes the cage of each port has; 8 where its connector is not known."""
    names, table = cage_connectors(cluster, parts)
    lanes = np.array([_connector_lanes(name) for name in names], np.int64)
    device = cluster.ports.device[ports]
    cages = np.clip(cluster.ports.cage[ports], 0, table.shape[1] - 1)
    found: NDArray[np.int64] = lanes[table[cluster.devices.part[device], cages]]
    return found


def _connector_lanes(connector: str) -> int:
    return next((lanes for start, lanes in _LANES.items() if connector.startswith(start)), _COMMON_LANES)
