"""Ports → the names that Linux and network operating systems give their interfaces.

Switch ports are called as Cumulus Linux and SONiC do it: ``swp5s1`` is the second part of the split cage 5
(https://docs.nvidia.com/networking-ethernet-software/cumulus-linux/Layer-1-and-Switch-Ports/Interface-Configuration-and-Management/
Switch-Port-Attributes/), ``Ethernet36`` the port whose first electrical lane is number 36
(https://github.com/sonic-net/SONiC/blob/master/doc/sonic-port-name.md); both read 2026-11.
Interfaces of servers are ours to name: ``rail3`` or, with several planes, ``rail3p2``.
"""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

from gpufabric.errors import InputError, printable
from gpufabric.records.cluster import MANAGEMENT_CAGE, Cluster, DeviceKind
from gpufabric.records.names import device_names
from gpufabric.records.part_set import PartSet
from gpufabric.records.port_cages import cage_connectors

LONGEST = 15  # IFNAMSIZ of Linux is 16 with the closing zero
_LANES = {"sfp": 1, "rj45": 1, "qsfp-dd": 8, "qsfp": 4, "osfp": 8}
_COMMON_LANES = 8


def linux_interfaces(cluster: Cluster, ports: NDArray[np.integer]) -> list[str]:
    """Return the name of the interface of each port: on switches as Cumulus Linux does it, on servers by rail and plane.

    Parameters
    ----------
    cluster
        Names of ports that were read from files are kept as far as Linux allows them.
    ports
        Rows of ``cluster.ports``.

    Raises
    ------
    InputError
        If two ports of a device get the same name.
    """
    on_switch = cluster.devices.kind[cluster.ports.device[ports]] == DeviceKind.SWITCH
    if cluster.ports.names is not None:
        found = [_legal(cluster.ports.names[port]) for port in ports.tolist()]
    else:
        found = [
            _switch_port(cage, lane, lanes)
            for cage, lane, lanes in zip(
                cluster.ports.cage[ports].tolist(),
                cluster.ports.lane[ports].tolist(),
                cluster.ports.lanes_in_cage[ports].tolist(),
                strict=True,
            )
        ]
        ends = np.flatnonzero(~on_switch)
        for at, name in zip(ends.tolist(), _end_names(cluster, ports[ends]), strict=True):
            found[at] = name
    _refuse_twice(cluster, ports, found)
    return found


def sonic_interfaces(cluster: Cluster, ports: NDArray[np.integer], parts: PartSet) -> list[str]:
    """Return the name that SONiC gives each switch port: its first lane, where every cage has as many as its connector.

    Raises
    ------
    InputError
        If two ports of a switch get the same name.
    """
    lanes = cage_lanes(cluster, ports, parts)
    first = (cluster.ports.cage[ports].astype(np.int64) - 1) * lanes + (
        cluster.ports.lane[ports] - 1
    ) * lanes // np.maximum(cluster.ports.lanes_in_cage[ports], 1)
    found = [f"Ethernet{number}" for number in first.tolist()]
    _refuse_twice(cluster, ports, found)
    return found


def cage_lanes(cluster: Cluster, ports: NDArray[np.integer], parts: PartSet) -> NDArray[np.int64]:
    """Return how many electrical lanes the cage of each port has; 8 where its connector is not known."""
    names, table = cage_connectors(cluster, parts)
    lanes = np.array([_connector_lanes(name) for name in names], np.int64)
    device = cluster.ports.device[ports]
    cages = np.clip(cluster.ports.cage[ports], 0, table.shape[1] - 1)
    found: NDArray[np.int64] = lanes[table[cluster.devices.part[device], cages]]
    # A cage that is split into more ports than its connector has lanes is not what its part says.
    most: NDArray[np.int64] = np.maximum(found, cluster.ports.lanes_in_cage[ports]).astype(np.int64)
    return most


def _connector_lanes(connector: str) -> int:
    for start, lanes in _LANES.items():
        if connector.startswith(start):
            return lanes
    return _COMMON_LANES


def _switch_port(cage: int, lane: int, lanes: int) -> str:
    if cage == MANAGEMENT_CAGE:
        return "eth0"
    return f"swp{cage}" if lanes <= 1 else f"swp{cage}s{lane - 1}"


def _end_names(cluster: Cluster, ports: NDArray[np.integer]) -> list[str]:
    table = cluster.ports
    words = [_word(index, fabric.name) for index, fabric in enumerate(cluster.fabrics)]
    several = [fabric.planes > 1 for fabric in cluster.fabrics]
    found = []
    order = np.lexsort((table.lane, table.cage, table.device))
    first = np.searchsorted(table.device[order], np.arange(len(cluster.devices)))
    position = np.empty(len(table), np.int64)
    position[order] = np.arange(len(order)) - first[table.device[order]]
    for fabric, rail, plane, number in zip(
        table.fabric[ports].tolist(),
        table.rail[ports].tolist(),
        table.plane[ports].tolist(),
        position[ports].tolist(),
        strict=True,
    ):
        if rail < 0 or fabric < 0:
            found.append(f"{words[fabric] if fabric > 0 else 'net'}{number + 1}")
        else:
            found.append(f"{words[fabric]}{rail + 1}" + (f"p{plane + 1}" if several[fabric] else ""))
    return found


def _word(index: int, name: str) -> str:
    word = re.sub(r"[^a-z]", "", name.lower())[:7]
    return "rail" if index == 0 else word or f"fab{index + 1}n"


def _legal(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9._-]", "_", name)[:LONGEST] or "_"


def _refuse_twice(cluster: Cluster, ports: NDArray[np.integer], names: list[str]) -> None:
    owners = cluster.ports.device[ports].tolist()
    seen: set[tuple[int, str]] = set()
    for device, name in zip(owners, names, strict=True):
        if (device, name) in seen:
            owner = printable(str(device_names(cluster, np.array([device]))[0]))
            raise InputError(
                f'{owner}: two of its ports would be interface "{printable(name)}"; names of interfaces have at most '
                f"{LONGEST} letters, digits, dots and dashes; give its ports names that differ in them"
            )
        seen.add((device, name))
