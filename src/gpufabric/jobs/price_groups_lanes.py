"""Groups that work at the same time → the edges of all their rings, and the bytes over each."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gpufabric.collectives.channel_ports import MAX_CHANNELS
from gpufabric.collectives.inside_order import rotated
from gpufabric.collectives.job_nodes import JobNodes
from gpufabric.errors import UnbuildableError, printable
from gpufabric.kernels.expand_ranges import expand_ranges
from gpufabric.kernels.sorted_groups import SortedGroups, find_groups, group_rows
from gpufabric.records.cluster import Cluster
from gpufabric.records.graph import Inside
from gpufabric.records.schedule import Edges

_SLOTS = 1 << 32


@dataclass(frozen=True, slots=True)
class GroupNodes:
    """Groups cut at the borders of scale-up domains: M *parts*, each the ranks of one group in one domain.

    Attributes
    ----------
    parts : JobNodes
        Their GPUs, part by part and group by group; ``node_of_device`` is empty, as a server may have parts of several groups.
    group : int64 array, M
    count : int64 array, one a group
        Parts of it.
    """

    parts: JobNodes
    group: NDArray[np.int64]
    count: NDArray[np.int64]


def cut_groups(cluster: Cluster, gpu: NDArray[np.int32]) -> GroupNodes:
    """Return groups cut into parts, in the order in which the ranks of each group first meet its domains.

    Parameters
    ----------
    cluster : Cluster
    gpu : int32 array, (G, n)
        GPUs of each group in the order of its ranks.
    """
    groups, size = gpu.shape
    domain = cluster.gpus.domain[gpu].astype(np.int64)
    key = (domain + np.arange(groups)[:, None] * (int(domain.max(initial=0)) + 1)).ravel()
    _, first, inverse = np.unique(key, return_index=True, return_inverse=True)
    turn = np.argsort(first, kind="stable")
    place = np.empty(len(first), np.int64)
    place[turn] = np.arange(len(first))
    part = place[inverse.ravel()]
    held = np.bincount(part, minlength=len(first)).astype(np.int64)
    group = first[turn] // size
    ordered = gpu.ravel()[np.argsort(part, kind="stable")].astype(np.int32)
    nodes = JobNodes(ordered, np.cumsum(held) - held, held, np.empty(0, np.int64))
    return GroupNodes(nodes, group, np.bincount(group, minlength=groups).astype(np.int64))


@dataclass(frozen=True, slots=True)
class GpuDoors:
    """Linked network ports of one fabric by the GPU that they stand beside, and by domain for GPUs without one.

    Attributes
    ----------
    port : int32 array
        Ports, those of one domain in rising order.
    by_gpu, by_domain : SortedGroups
        Rows of ``port``.
    slot : int64 array
        What is alike for ports in the same place of different domains: tray, rail and plane.
    """

    port: NDArray[np.int32]
    by_gpu: SortedGroups
    by_domain: SortedGroups
    slot: NDArray[np.int64]


def find_doors(cluster: Cluster, inside: Inside, fabric: int) -> GpuDoors:
    """Return the linked ports of servers with GPUs in a fabric."""
    ports, gpus = cluster.ports, cluster.gpus
    domain_of = np.full(len(cluster.devices), -1, np.int64)
    domain_of[gpus.host] = gpus.domain
    linked = np.unique(np.concatenate([cluster.links.port_a, cluster.links.port_b]))
    keep = (ports.fabric[linked] == fabric) & (domain_of[ports.device[linked]] >= 0)
    port = linked[keep].astype(np.int32)
    domain = domain_of[ports.device[port]]
    first = np.full(int(gpus.domain.max(initial=0)) + 1, np.iinfo(np.int64).max)
    np.minimum.at(first, gpus.domain, gpus.host.astype(np.int64))
    tray = np.minimum(ports.device[port] - first[domain], 2**12 - 1)
    rail = np.where(ports.rail[port] >= 0, ports.rail[port], ports.nic[port]).astype(np.int64)
    plane = np.maximum(ports.plane[port], 0).astype(np.int64)
    slot = (tray * 2**12 + np.clip(rail, 0, 2**12 - 1)) * 2**8 + plane
    return GpuDoors(port, group_rows(inside.port_gpu[port]), group_rows(domain), slot)


def part_ports(
    cluster: Cluster, doors: GpuDoors, cut: GroupNodes
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the ports of every part: part, ascending, and row of ``doors.port``.

    The ports beside its GPUs, else the first of its domain's, as a collective of that group alone has it.

    Raises
    ------
    UnbuildableError
        If a part that has to leave its domain has no port.
    """
    parts = cut.parts
    part = np.repeat(np.arange(len(parts)), parts.size)
    first, held = find_groups(doors.by_gpu, parts.gpu)
    at, owner = expand_ranges(first, held)
    own_part, own_row = part[owner], doors.by_gpu.row[at]
    has = np.bincount(own_part, minlength=len(parts)) > 0
    away = np.flatnonzero(~has & (cut.count[cut.group] > 1))
    begin, any_held = find_groups(doors.by_domain, cluster.gpus.domain[parts.gpu[parts.first[away]]])
    if (any_held == 0).any():
        lost = int(away[np.flatnonzero(any_held == 0)[0]])
        raise UnbuildableError(
            f"cluster {printable(cluster.name)}: part {lost} of a group has no linked port in the fabric",
            "a job whose servers are all cabled",
        )
    stand_in = doors.by_domain.row[begin]
    found = np.concatenate([own_part, away]), np.concatenate([own_row, stand_in])
    order = np.lexsort((doors.slot[found[1]], found[0]))
    return found[0][order], found[1][order]


@dataclass(frozen=True, slots=True)
class GroupEdges:
    """Messages of all groups. E rows.

    Attributes
    ----------
    edges : Edges
    share : float64 array, E
        Bytes of each per byte of the message of its group.
    channel : int64 array, E
    """

    edges: Edges
    share: NDArray[np.float64]
    channel: NDArray[np.int64]


def ring_edges(cluster: Cluster, doors: GpuDoors, cut: GroupNodes) -> GroupEdges:
    """Return the edges of the rings of all groups, each with a channel a rail and plane that all its parts have.

    A part has a channel of each rail beside its GPUs that the whole group shares; where parts have none in common, each its own
    ports in turn. Inside a part, a channel starts at the GPU beside its port. A ring moves one byte over each edge per byte of
    the message and channel; what an operation moves more often is the caller's factor.

    Raises
    ------
    UnbuildableError
        As :func:`part_ports` does.
    """
    parts = cut.parts
    ports = _channel_ports(cluster, doors, cut)
    channels = np.where(cut.count > 1, 0, np.minimum(parts_of_first(cut), MAX_CHANNELS))
    np.maximum.at(channels, cut.group[ports.part], ports.channel + 1)
    found: list[GroupEdges] = []
    for channel in range(int(channels.max(initial=0))):
        alive = channels[cut.group] > channel
        entry = np.full(len(parts), -1, np.int64)
        mine = ports.channel == channel
        entry[ports.part[mine]] = ports.port[mine]
        start = np.full(len(parts), channel, np.int64)
        start[ports.part[mine]] = ports.start[mine]
        found.append(_closed(cut, alive, entry, start % parts.size, channel, channels))
    return _joined(found)


def parts_of_first(cut: GroupNodes) -> NDArray[np.int64]:
    """Return the GPUs of the first part of every group: int64, one a group."""
    lead = np.searchsorted(cut.group, np.arange(len(cut.count)))
    size: NDArray[np.int64] = cut.parts.size[lead]
    return size


@dataclass(frozen=True, slots=True)
class _ChannelPorts:
    """Rows: port of a part for a channel, and the position in the part of the GPU beside it."""

    part: NDArray[np.int64]
    channel: NDArray[np.int64]
    port: NDArray[np.int64]
    start: NDArray[np.int64]


def _channel_ports(cluster: Cluster, doors: GpuDoors, cut: GroupNodes) -> _ChannelPorts:
    part, row = part_ports(cluster, doors, cut)
    away = cut.count[cut.group[part]] > 1
    part, row = part[away], row[away]
    group, slot = cut.group[part], doors.slot[row]
    # Two ports of a part in one slot are told apart by their number within it.
    same = np.flatnonzero((np.diff(part, prepend=-1) != 0) | (np.diff(slot, prepend=-1) != 0))
    twin = np.arange(len(part)) - np.repeat(same, np.diff(np.append(same, len(part))))
    names, key = np.unique(slot * 64 + np.minimum(twin, 63), return_inverse=True)
    key = group * max(len(names), 1) + key.ravel()
    seen, inverse, times = np.unique(key, return_inverse=True, return_counts=True)
    common = (
        (times == cut.count[seen // max(len(names), 1)])[inverse.ravel()]
        if len(key)
        else np.zeros(0, np.bool_)
    )
    shares = np.zeros(len(cut.count), np.bool_)
    shares[group[common]] = True
    # A group without a rail in common takes as many ports of each part as that with fewest has.
    held = np.bincount(part, minlength=len(cut.group))
    least = np.full(len(cut.count), MAX_CHANNELS, np.int64)
    np.minimum.at(least, cut.group[held > 0], held[held > 0])
    begin = np.cumsum(held) - held
    position = np.arange(len(part)) - begin[part]
    keep = np.where(shares[group], common, position < least[group])
    part, row = part[keep], row[keep]
    held = np.bincount(part, minlength=len(cut.group))
    begin = np.cumsum(held) - held
    channel = np.arange(len(part)) - begin[part]
    few = channel < MAX_CHANNELS
    part, row, channel = part[few], row[few], channel[few]
    return _ChannelPorts(part, channel, doors.port[row].astype(np.int64), _position(doors, cut, part, row))


def _position(
    doors: GpuDoors, cut: GroupNodes, part: NDArray[np.int64], row: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return the position in its part of the GPU that each port stands beside; 0 where it is none of the part."""
    owner = np.full(len(doors.port), -1, np.int64)
    owner[doors.by_gpu.row] = np.repeat(doors.by_gpu.key, np.diff(doors.by_gpu.first))
    gpu = cut.parts.gpu.astype(np.int64)
    of = np.repeat(np.arange(len(cut.parts)), cut.parts.size)
    places = group_rows(of * _SLOTS + gpu)
    first, held = find_groups(places, part * _SLOTS + np.maximum(owner[row], 0))
    at = places.row[np.minimum(first, max(len(places.row) - 1, 0))]
    return np.where((held > 0) & (owner[row] >= 0), at - cut.parts.first[part], 0)


def _closed(
    cut: GroupNodes,
    alive: NDArray[np.bool_],
    port: NDArray[np.int64],
    start: NDArray[np.int64],
    channel: int,
    channels: NDArray[np.int64],
) -> GroupEdges:
    """Return the closed order of every group that has this channel: parts one after the other, round to the first."""
    parts = cut.parts
    order = rotated(parts, start)
    of = np.repeat(np.arange(len(parts)), parts.size)
    # The part that follows: the next one of the group, and after its last the first.
    lead = np.searchsorted(cut.group, np.arange(len(cut.count)))
    after = np.arange(len(parts)) + 1
    ends = np.append(cut.group[1:] != cut.group[:-1], True)
    after[ends] = lead[cut.group[ends]]
    last = parts.first + parts.size - 1
    receiver = np.append(order[1:], order[:1])
    receiver[last] = order[parts.first[after]]
    exits, entries = (np.full(len(order), -1, np.int64) for _ in range(2))
    apart = cut.count[cut.group] > 1
    exits[last[apart]], entries[last[apart]] = port[apart], port[after[apart]]
    keep = alive[of] & (order != receiver)
    edges = Edges(*(column[keep].astype(np.int32) for column in (order, receiver, exits, entries)))
    share = 1.0 / channels[cut.group[of[keep]]]
    return GroupEdges(edges, share, np.full(len(edges), channel))


def _joined(found: list[GroupEdges]) -> GroupEdges:
    columns = [
        np.concatenate([getattr(one.edges, name) for one in found])
        for name in ("sender", "receiver", "exit_port", "entry_port")
    ]
    return GroupEdges(
        Edges(*columns),
        np.concatenate([one.share for one in found]),
        np.concatenate([one.channel for one in found]),
    )
