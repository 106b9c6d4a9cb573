"""Cables of a cluster → their plugs, one row each: of which cable and end, where it goes, and the plugs at the far end."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpufabric.records.cluster import Cluster

CABLE, CORD, TRUNK = range(3)
KINDS = ("cable", "cord", "trunk")
_Rows = NDArray[np.integer[Any]]


@dataclass(frozen=True, slots=True)
class Plugs:
    """Plugs, ordered by cable and side. E rows, integers but for ``length_m``.

    Attributes
    ----------
    kind
        A whole cable; a patch cord between a device and the panel of its rack; a trunk between the panels of two racks.
    assembly
        Number of the cable; of a cord that of the trunk it leads to.
    side
        0 at the lower tier, 1 at the upper.
    number, of
        Which of the plugs of this cable on this side, from 0, and how many there are.
    link
        A link that goes over it.
    port
        The first port it serves; of a trunk the port at the end of ``link``, in whose rack its panel is.
    lanes
        How many ports it serves; 0 for a trunk, which ends in no port.
    far, far_count
        Row of the first plug on the other side, and how many are there; they follow each other.
    part
        Index into ``cluster.parts``, -1 unknown.
    length_m
        NaN unknown.
    """

    kind: _Rows
    assembly: _Rows
    side: _Rows
    number: _Rows
    of: _Rows
    link: _Rows
    port: _Rows
    lanes: _Rows
    far: _Rows
    far_count: _Rows
    part: _Rows
    length_m: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.kind)


def cable_plugs(cluster: Cluster) -> Plugs:
    """Return the plugs of all cables: whole cables first, then the cords and trunks of links over patch panels."""
    patched = np.zeros(len(cluster.links), bool)
    patched[cluster.jumpers.link] = True
    has_cable = cluster.links.assembly >= 0
    direct = _direct(cluster, np.flatnonzero(has_cable & ~patched))
    cords = _cords(cluster, len(direct))
    trunks = _trunks(cluster, np.flatnonzero(has_cable & patched), len(direct) + len(cords))
    blocks = (direct, cords, trunks)
    return Plugs(*(np.concatenate([getattr(block, f.name) for block in blocks]) for f in fields(Plugs)))


def _direct(cluster: Cluster, links: _Rows) -> Plugs:
    ports = cluster.ports
    cable = np.tile(cluster.links.assembly[links], 2)
    side = np.repeat(np.array([0, 1], np.int64), len(links))
    port = np.concatenate([cluster.links.port_a[links], cluster.links.port_b[links]])
    order = np.lexsort((ports.lane[port], ports.cage[port], ports.device[port], side, cable))
    cable, side, port, link = cable[order], side[order], port[order], np.tile(links, 2)[order]
    new = np.ones(len(cable), bool)
    if len(cable):
        new[1:] = cable[1:] != cable[:-1]
    for column in (side, ports.device[port], ports.cage[port]):
        new[1:] |= column[1:] != column[:-1]
    starts = np.flatnonzero(new)
    lanes = np.diff(starts, append=len(cable))
    cable, side, port, link = cable[starts], side[starts], port[starts], link[starts]
    half = cable.astype(np.int64) * 2 + side
    per_half = np.bincount(half, minlength=2 * len(cluster.assemblies))
    first = np.concatenate([[0], np.cumsum(per_half)[:-1]])
    return Plugs(
        kind=np.full(len(cable), CABLE),
        assembly=cable,
        side=side,
        number=np.arange(len(cable)) - first[half],
        of=per_half[half],
        link=link,
        port=port,
        lanes=lanes,
        far=first[half ^ 1],
        far_count=per_half[half ^ 1],
        part=cluster.assemblies.part[cable],
        length_m=cluster.assemblies.length_m[cable],
    )


def _cords(cluster: Cluster, offset: int) -> Plugs:
    """Return the cords of links over patch panels: the lower one of a link, then the upper one."""
    jumpers = cluster.jumpers
    link = jumpers.link.astype(np.int64)
    side = np.arange(len(link)) % 2
    return _pairs(cluster, CORD, (link, side, offset), (jumpers.part, jumpers.length_m))


def _trunks(cluster: Cluster, links: _Rows, offset: int) -> Plugs:
    trunk, first = np.unique(cluster.links.assembly[links], return_index=True)
    link = np.repeat(links[first], 2).astype(np.int64)
    side = np.arange(len(link)) % 2
    made_of = np.repeat(cluster.assemblies.part[trunk], 2), np.repeat(cluster.assemblies.length_m[trunk], 2)
    return _pairs(cluster, TRUNK, (link, side, offset), made_of)


def _pairs(
    cluster: Cluster, kind: int, where: tuple[_Rows, _Rows, int], made_of: tuple[_Rows, NDArray[np.float64]]
) -> Plugs:
    """Return plugs that come in pairs, the two ends of *link* one after the other."""
    link, side, offset = where
    count = len(link)
    ends = cluster.links.port_a[link], cluster.links.port_b[link]
    ones = np.ones(count, np.int64)
    return Plugs(
        kind=np.full(count, kind),
        assembly=cluster.links.assembly[link],
        side=side,
        number=np.zeros(count, np.int64),
        of=ones,
        link=link,
        port=np.where(side == 0, *ends),
        lanes=ones if kind == CORD else np.zeros(count, np.int64),
        far=offset + (np.arange(count) ^ 1),
        far_count=ones,
        part=made_of[0] if count else np.empty(0, np.int32),
        length_m=made_of[1],
    )
