"""Ports → the names that network operating systems, Linux and RDMA give them.

========  ==============================================================  =========================================
style     port of a switch                                                port of a server
========  ==============================================================  =========================================
cumulus   ``swp5``; split in two ``swp5s0``, ``swp5s1``                   ``eth3``: the third, by NIC and lane
nvos      ``sw5p1``: cage 5, port 1; one port a cage too                  ``eth3``
sonic     ``Ethernet32``: the number of its first SerDes lane, from 0     ``eth3``
linux     ``eth3``: the third data port in use, by cage and lane          ``eth3``
rdma      ``eth3``                                                        ``mlx5_2``: as its part says, else counted
========  ==============================================================  =========================================

``eth0`` is the management port. Real servers name interfaces after PCI places, which a design does not know: ``ethN`` and
``mlx5_N`` hold where nothing renames them.

Sources, read 2026-12-01: Cumulus Linux, switch port attributes and breakout ports
(https://docs.nvidia.com/networking-ethernet-software/cumulus-linux/Layer-1-and-Switch-Ports/Interface-Configuration-and-Management/);
NVOS, interfaces (https://docs.nvidia.com/networking/display/nvidianvosusermanualv25024); SONiC, port naming by lanes
(https://github.com/sonic-net/SONiC/wiki/Configuration, PORT).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from gpufabric.records.cluster import MANAGEMENT_CAGE, Cluster, DeviceKind
from gpufabric.records.part_lookup import PartLookup
from gpufabric.records.parts import NicPort, ServerPart, SwitchPart

NamingStyle = Literal["cumulus", "nvos", "sonic", "linux", "rdma"]
MANAGEMENT_NAME = "eth0"
# SerDes lanes of a cage, by its connector: SFF-8024 names one, four or eight.
_SERDES_LANES = {"sfp28": 1, "rj45": 1, "qsfp28": 4, "qsfp56": 4, "qsfp112": 4}
_MOST_LANES = 8
_ADAPTER = re.compile(r"mlx5_[0-9]{1,3}")
_Rows = NDArray[np.int64]


def interface_names(
    cluster: Cluster, style: NamingStyle, parts: PartLookup | None = None, as_found: bool = True
) -> NDArray[np.object_]:
    """Return the name of every port in one style.

    Parameters
    ----------
    cluster
    style
    parts
        Parts by id: how many SerDes lanes the cages of a switch have, for ``sonic``, and what a server calls its adapters. Eight
        lanes, and adapters counted, where it is not known.
    as_found
        Whether a cluster that was read from files keeps its own names.

    Returns
    -------
    object array of str, P
        Unique within a device.
    """
    ports = cluster.ports
    names = np.empty(len(ports), dtype=object)
    if ports.names is not None and as_found:
        names[:] = ports.names
        return names
    on_switch = cluster.devices.kind[ports.device] == DeviceKind.SWITCH
    managed = ports.cage == MANAGEMENT_CAGE
    ends = np.flatnonzero(~on_switch & ~managed)
    if style == "rdma":
        _rdma(cluster, parts, names, ends)
    else:
        _fill(names, ends, [port_ranks(cluster) + 1], "eth{}")
    rows = np.flatnonzero(on_switch & ~managed)
    _SWITCH_STYLES[style](cluster, parts, names, rows)
    names[managed] = MANAGEMENT_NAME
    return names


def port_ranks(cluster: Cluster) -> NDArray[np.int64]:
    """Return which data port of its device each port is, from 0 by NICs, cages and lanes; -1 for management ports."""
    ports = cluster.ports
    data = np.flatnonzero(ports.cage != MANAGEMENT_CAGE)
    order = data[np.lexsort((ports.lane[data], ports.cage[data], ports.nic[data], ports.device[data]))]
    device = ports.device[order]
    rank = np.full(len(ports), -1, np.int64)
    rank[order] = np.arange(len(order)) - np.searchsorted(device, device)
    return rank


def _fill(names: NDArray[np.object_], rows: _Rows, columns: list[NDArray[np.integer]], text: str) -> None:
    """Write ``text`` with the numbers of *columns* into *rows*; each text is made once."""
    numbers = np.stack([column[rows].astype(np.int64) for column in columns], axis=1)
    unique, code = np.unique(numbers, axis=0, return_inverse=True)
    made = np.empty(len(unique), dtype=object)
    made[:] = [text.format(*row) for row in unique.tolist()]
    names[rows] = made[code.ravel()]


def _rdma(cluster: Cluster, parts: PartLookup | None, names: NDArray[np.object_], rows: _Rows) -> None:
    """Name ports of servers as their part does, else by their place among its ports: the driver counts unused ones too."""
    ports = cluster.ports
    _fill(names, rows, [port_ranks(cluster)], "mlx5_{}")
    part_of = cluster.devices.part[ports.device[rows]]
    for part in np.unique(part_of[part_of >= 0]).tolist():
        server = parts.get(cluster.parts[part]) if parts else None
        if not isinstance(server, ServerPart):
            continue
        own = {(port.cage, port.lane): name for name, port in _adapter_ports(server)}
        mine = rows[part_of == part]
        keys = np.stack([ports.cage[mine], ports.lane[mine]], axis=1)
        unique, code = np.unique(keys, axis=0, return_inverse=True)
        for number, (cage, lane) in enumerate(unique.tolist()):
            if (cage, lane) in own:
                names[mine[code.ravel() == number]] = own[cage, lane]


def _adapter_ports(server: ServerPart) -> list[tuple[str, NicPort]]:
    """Return the ports of a server's NICs with the name of each: its NIC's, where that is one of the driver, else a number."""
    ports = [(nic, port) for nic in server.nics for port in nic.ports]
    named = all(_ADAPTER.fullmatch(nic.name) and len(nic.ports) == 1 for nic, _ in ports)
    return [(nic.name if named else f"mlx5_{rank}", port) for rank, (nic, port) in enumerate(ports)]


def _linux(cluster: Cluster, parts: PartLookup | None, names: NDArray[np.object_], rows: _Rows) -> None:
    _fill(names, rows, [port_ranks(cluster) + 1], "eth{}")


def _cumulus(cluster: Cluster, parts: PartLookup | None, names: NDArray[np.object_], rows: _Rows) -> None:
    ports = cluster.ports
    whole = ports.lanes_in_cage[rows] == 1
    _fill(names, rows[whole], [ports.cage], "swp{}")
    _fill(names, rows[~whole], [ports.cage, ports.lane - 1], "swp{}s{}")


def _nvos(cluster: Cluster, parts: PartLookup | None, names: NDArray[np.object_], rows: _Rows) -> None:
    ports = cluster.ports
    _fill(names, rows, [ports.cage, np.maximum(ports.lane, 1)], "sw{}p{}")


def _sonic(cluster: Cluster, parts: PartLookup | None, names: NDArray[np.object_], rows: _Rows) -> None:
    ports = cluster.ports
    number = np.zeros(len(ports), np.int64)
    part_of = cluster.devices.part[ports.device[rows]]
    for part in np.unique(part_of).tolist():
        mine = rows[part_of == part]
        first, width = _serdes_lanes(parts.get(cluster.parts[part]) if parts and part >= 0 else None)
        cage = ports.cage[mine].astype(np.int64)
        known = np.minimum(cage, len(first)) - 1
        beyond = np.maximum(cage - len(first), 0) * _MOST_LANES
        step = width[known] // np.maximum(ports.lanes_in_cage[mine], 1)
        number[mine] = first[known] + beyond + (np.maximum(ports.lane[mine], 1) - 1) * np.maximum(step, 1)
    _fill(names, rows, [number], "Ethernet{}")


def _serdes_lanes(part: object) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the first SerDes lane of each cage of a switch, and how many lanes it has."""
    groups = part.cages if isinstance(part, SwitchPart) else ()
    width = [
        _SERDES_LANES.get(group.connector or "", _MOST_LANES)
        for group in groups
        if group.purpose == "fabric"
        for _ in range(group.count)
    ] or [_MOST_LANES]
    lanes = np.array(width, np.int64)
    return np.cumsum(lanes) - lanes, lanes


_SWITCH_STYLES: dict[
    NamingStyle, Callable[[Cluster, PartLookup | None, NDArray[np.object_], _Rows], None]
] = {"cumulus": _cumulus, "nvos": _nvos, "sonic": _sonic, "linux": _linux, "rdma": _linux}
