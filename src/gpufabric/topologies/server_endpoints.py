"""Server groups → the server ports that one fabric must connect."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from gpufabric.errors import SpecError, UnbuildableError, did_you_mean
from gpufabric.records.cluster_spec import ClusterSpec, FabricSpec, ServerGroup
from gpufabric.records.parts import InsideNic, NicPart, ServerPart

_GROUP_SERVES = {"storage": "storage", "management": "in-band"}


@dataclass(frozen=True, slots=True)
class Endpoints:
    """Server ports of one fabric, server by server. E rows.

    Attributes
    ----------
    server : int32, device index
    position : int32, position of the server among all servers of the fabric, from 0
    nic, cage, lane, lanes_in_cage : int16, as in ``Ports``
    rail, plane : int16; rail -1 where the server part names none
    bond : int16
        Ports of one server with the same non-negative bond act as one interface.
    nic_bytes_per_s : float64, rate that the NIC port can do
    """

    server: NDArray[np.int32]
    position: NDArray[np.int32]
    nic: NDArray[np.int16]
    cage: NDArray[np.int16]
    lane: NDArray[np.int16]
    lanes_in_cage: NDArray[np.int16]
    rail: NDArray[np.int16]
    plane: NDArray[np.int16]
    bond: NDArray[np.int16]
    nic_bytes_per_s: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.server)

    def take(self, rows: NDArray[np.intp]) -> Endpoints:
        """Return the given rows in the given order."""
        return Endpoints(*(getattr(self, f.name)[rows] for f in fields(self)))

    @property
    def servers(self) -> int:
        """Number of servers."""
        return int(self.position[-1]) + 1 if len(self) else 0


@dataclass(frozen=True, slots=True)
class PlacedGroup:
    """A server group with its part and the devices that it became."""

    spec: ServerGroup
    part: ServerPart
    devices: NDArray[np.int32]


def home_fabrics(spec: ClusterSpec) -> dict[str, str]:
    """Return for each purpose the name of the first fabric that has it."""
    return {fabric.purpose: fabric.name for fabric in reversed(spec.fabrics)}


def fabric_nics(group: PlacedGroup, fabric: FabricSpec, homes: Mapping[str, str]) -> list[int]:
    """Return the indices of the NICs of a group that serve *fabric*.

    Where the group does not name them, a NIC of a compute server serves the first fabric of its own purpose, and every NIC of a
    storage or management server the first storage or in-band fabric.

    Raises
    ------
    SpecError
        If the group names a NIC that the server does not have.
    """
    nics = group.part.nics
    if group.spec.fabrics is None:
        if homes[fabric.purpose] != fabric.name:
            return []
        serves = _GROUP_SERVES.get(group.spec.purpose)
        return [i for i, nic in enumerate(nics) if (serves or nic.purpose) == fabric.purpose]
    wanted = group.spec.fabrics.get(fabric.name, ())
    known = {nic.name: i for i, nic in enumerate(nics)}
    for name in wanted:
        if name not in known:
            raise SpecError(
                f'servers "{group.spec.name}": fabrics.{fabric.name} names NIC "{name}", which {group.part.id} does not have; '
                f"it has {', '.join(known)}.{did_you_mean(name, known)}"
            )
    return [known[name] for name in wanted]


def collect_endpoints(
    groups: list[PlacedGroup], fabric: FabricSpec, homes: Mapping[str, str], nic_parts: dict[str, NicPart]
) -> Endpoints:
    """Return all server ports of *fabric*, server by server, NIC by NIC.

    Raises
    ------
    SpecError
        If no server has a NIC for this fabric.
    """
    blocks = []
    position = 0
    for group in groups:
        chosen = fabric_nics(group, fabric, homes)
        if chosen:
            blocks.append(_group_endpoints(group, chosen, position, nic_parts))
            position += len(group.devices)
    if not blocks:
        raise SpecError(
            f'fabric "{fabric.name}": no server group has a NIC for it; '
            f"name the NICs under servers: fabrics: {{{fabric.name}: [...]}}"
        )
    return Endpoints(*(np.concatenate([getattr(b, f.name) for b in blocks]) for f in fields(Endpoints)))


def _group_endpoints(
    group: PlacedGroup, chosen: list[int], position: int, nic_parts: dict[str, NicPart]
) -> Endpoints:
    cage_ports = {c.first + i: c.ports for c in group.part.cages for i in range(c.count)}
    rows = [(n, port) for n in chosen for port in group.part.nics[n].ports]
    if any(port.rail is None for _, port in rows):
        rows = sorted(rows, key=lambda row: (row[1].cage, row[1].lane))
    count, per_server = len(group.devices), len(rows)

    def column(values: list[int]) -> NDArray[np.int16]:
        return np.tile(np.array(values, np.int16), count)

    return Endpoints(
        server=np.repeat(group.devices, per_server),
        position=np.repeat(np.arange(position, position + count, dtype=np.int32), per_server),
        nic=column([n for n, _ in rows]),
        cage=column([port.cage for _, port in rows]),
        lane=column([port.lane for _, port in rows]),
        lanes_in_cage=column([cage_ports.get(port.cage, 1) for _, port in rows]),
        rail=column([-1 if port.rail is None else port.rail for _, port in rows]),
        plane=column([port.plane for _, port in rows]),
        bond=np.full(count * per_server, -1, np.int16),
        nic_bytes_per_s=np.tile(
            np.array([_port_rate(group.part, group.part.nics[n], nic_parts) for n, _ in rows]), count
        ),
    )


def _port_rate(server: ServerPart, nic: InsideNic, nic_parts: dict[str, NicPart]) -> float:
    part = nic_parts.get(nic.part)
    if part is None:
        raise UnbuildableError(
            f"{server.id}: the rate of NIC {nic.name} ({nic.part}) is unknown; add the NIC part to the catalogue"
        )
    share = part.total_bytes_per_s / len(nic.ports) if part.total_bytes_per_s else part.port_bytes_per_s
    return min(part.port_bytes_per_s, share) if len(nic.ports) > 1 else part.port_bytes_per_s
