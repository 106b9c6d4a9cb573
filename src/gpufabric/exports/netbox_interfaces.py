"""Parts and the ports in use → the interfaces of NetBox device types, with names that cables end on.

A type lists the ports of every cage as it is used; cages that no device of the type uses are listed unsplit. Where devices of one
part and different roles split a cage differently, each role is a type of its own.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from math import isnan

import numpy as np
from numpy.typing import NDArray

from gpufabric.exports.interface_names import NamingStyle, interface_names
from gpufabric.records.cluster import MANAGEMENT_CAGE, Cluster, DeviceKind
from gpufabric.records.export_target import ExportSource
from gpufabric.records.names import port_names
from gpufabric.records.parts import AnyPart, ServerPart, SwitchPart
from gpufabric.units import gbps

_INFINIBAND = {800: "infiniband-xdr", 400: "infiniband-ndr", 200: "infiniband-hdr", 100: "infiniband-edr"}
_ETHERNET = {
    ("osfp-finned", 800): "800gbase-x-osfp",
    ("osfp-finned", 400): "400gbase-x-osfp",
    ("osfp-flat", 800): "800gbase-x-osfp",
    ("osfp-flat", 400): "400gbase-x-osfp-rhs",
    ("qsfp112", 400): "400gbase-x-qsfp112",
    ("qsfp-dd", 800): "800gbase-x-qsfpdd",
    ("qsfp-dd", 400): "400gbase-x-qsfpdd",
    ("qsfp-dd", 200): "200gbase-x-qsfpdd",
    ("qsfp-dd", 100): "100gbase-x-qsfpdd",
    ("qsfp56", 200): "200gbase-x-qsfp56",
    ("qsfp28", 100): "100gbase-x-qsfp28",
    ("sfp28", 25): "25gbase-x-sfp28",
    ("rj45", 1): "1000base-t",
    ("rj45", 10): "10gbase-t",
}
_OTHER, _MANAGEMENT = "other", "1000base-t"


@dataclass(frozen=True, slots=True)
class NetboxInterface:
    """One interface of a device type, in NetBox's words."""

    name: str
    type: str
    management: bool = False


def netbox_port_names(source: ExportSource) -> NDArray[np.object_]:
    """Return the name of every port in NetBox: that of the NOS on switches and of RDMA on servers, or of the cabling plan."""
    cluster = source.cluster
    if source.option("names", "system") == "plan":
        return port_names(cluster, None, source.parts)
    names = interface_names(cluster, "rdma", source.parts)
    on_switch = cluster.devices.kind[cluster.ports.device] == DeviceKind.SWITCH
    networks = [fabric.network for fabric in cluster.fabrics]
    fabric = cluster.devices.fabric[cluster.ports.device]
    styles: tuple[tuple[str, NamingStyle], ...] = (("ethernet", "cumulus"), ("infiniband", "nvos"))
    for network, style in styles:
        here = np.isin(fabric, [row for row, own in enumerate(networks) if own == network])
        mine = on_switch & (here | ((fabric < 0) & (network == "ethernet")))
        names[mine] = interface_names(cluster, style, source.parts)[mine]
    return names


def splits_differ(cluster: Cluster, devices: NDArray[np.int64]) -> bool:
    """Say whether a cage is split differently on two of these devices."""
    rows = np.flatnonzero(np.isin(cluster.ports.device, devices))
    pairs = np.stack([cluster.ports.cage[rows], cluster.ports.lanes_in_cage[rows]], axis=1)
    unique = np.unique(pairs, axis=0)
    return len(np.unique(unique[:, 0])) < len(unique)


def interfaces_of(
    source: ExportSource, devices: NDArray[np.int64], part: AnyPart | None, names: NDArray[np.object_]
) -> list[NetboxInterface]:
    """Return the interfaces of the type that *devices* have.

    Parameters
    ----------
    source
    devices
        All devices of the type.
    part
        Their part; None when it is not known.
    names
        Name of every port of the cluster.
    """
    ports = source.cluster.ports
    rows = np.flatnonzero(np.isin(ports.device, devices))
    keys = np.stack([ports.cage[rows], ports.lane[rows]], axis=1)
    _, first = np.unique(keys, axis=0, return_index=True)
    connectors = _connectors(part)
    listed = [
        NetboxInterface(names[row], *_type(source.cluster, int(row), connectors)) for row in rows[first]
    ]
    used = set(np.unique(ports.cage[rows]).tolist())
    if isinstance(part, SwitchPart):
        listed += _unused(part, used, source)
    if MANAGEMENT_CAGE not in used and isinstance(part, SwitchPart | ServerPart):
        listed.append(NetboxInterface("eth0", _MANAGEMENT, management=True))
    return sorted(listed, key=lambda one: (not one.management, _by_numbers(one.name)))


def _by_numbers(name: str) -> list[tuple[int, str]]:
    """Return a key that sorts names by their numbers: ``mlx5_2`` before ``mlx5_10``."""
    return [(int(part), "") if part.isdigit() else (-1, part) for part in re.split(r"([0-9]+)", name)]


def _type(cluster: Cluster, row: int, connectors: dict[int, str]) -> tuple[str, bool]:
    ports = cluster.ports
    cage, rate = int(ports.cage[row]), gbps(float(ports.bytes_per_s[row]))
    if cage == MANAGEMENT_CAGE:
        return _MANAGEMENT, True
    fabric = int(ports.fabric[row])
    network = cluster.fabrics[fabric].network if fabric >= 0 else "ethernet"
    return _type_word(network, rate, connectors.get(cage, "")), False


def _type_word(network: str, gigabits_per_s: float, connector: str) -> str:
    if isnan(gigabits_per_s):
        return _OTHER
    if network == "infiniband":
        return _INFINIBAND.get(round(gigabits_per_s), _OTHER)
    return _ETHERNET.get((connector, round(gigabits_per_s)), _OTHER)


def _unused(part: SwitchPart, used: set[int], source: ExportSource) -> list[NetboxInterface]:
    """Return the ports of cages that no device uses, in the mode that they are delivered in."""
    listed, cage = [], 0
    plan = source.option("names", "system") == "plan"
    for group in part.cages:
        for _ in range(group.count if group.purpose == "fabric" else 0):
            cage += 1
            if cage in used:
                continue
            mode = group.modes[0]
            word = _type_word(part.network, gbps(mode.port_bytes_per_s), group.connector or "")
            lanes = range(1, mode.ports + 1)
            listed += [NetboxInterface(_name(part, cage, lane, (mode.ports, plan)), word) for lane in lanes]
    return listed


def _name(part: SwitchPart, cage: int, lane: int, how: tuple[int, bool]) -> str:
    ports, plan = how
    if plan:
        return f"{cage}/{lane}" if ports > 1 else str(cage)
    if part.network == "infiniband":
        return f"sw{cage}p{lane}"
    return f"swp{cage}s{lane - 1}" if ports > 1 else f"swp{cage}"


def _connectors(part: AnyPart | None) -> dict[int, str]:
    """Return the connector of each cage of a part."""
    if isinstance(part, ServerPart):
        return {
            cage: group.connector or ""
            for group in part.cages
            for cage in range(group.first, group.first + group.count)
        }
    found: dict[int, str] = {}
    for group in part.cages if isinstance(part, SwitchPart) else ():
        if group.purpose == "fabric":
            start = len(found) + 1
            found |= dict.fromkeys(range(start, start + group.count), group.connector or "")
    return found
