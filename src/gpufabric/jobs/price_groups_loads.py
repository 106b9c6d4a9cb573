"""Messages of groups that work at the same time → what they all put on each link."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from gpufabric.collectives.fixed_steps import pick_edges
from gpufabric.graphs.inside_paths import gpu_to_gpu
from gpufabric.jobs.edge_loads import JobRoutes, port_loads
from gpufabric.jobs.price_groups_lanes import GpuDoors, GroupEdges, GroupNodes, part_ports
from gpufabric.kernels.expand_ranges import expand_ranges
from gpufabric.kernels.hash_mix import hash_mix
from gpufabric.records.cluster import Cluster
from gpufabric.records.flows import LinkLoads, PortEdges
from gpufabric.records.schedule import Edges

_AT_ONCE = 1 << 20
# 44 bits of a mark are kept, so that the sum over the GPUs of a domain is exact in a float64.
_SUMMED = 20


def group_loads(
    routes: JobRoutes, messages: Iterator[GroupEdges], group_of_gpu: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return the bytes on every directed link, per byte of each group's message: float64, one a link.

    Parameters
    ----------
    routes : JobRoutes
        Of all ranks.
    messages
        In pieces.
    group_of_gpu : int64 array, one a GPU of the cluster
        -1 for those of no group. A NIC beside a GPU of another group is reached over PCIe, as by a collective of one group alone.
    """
    total = np.zeros(routes.wiring.graph.links)
    alone = replace(routes, gates=np.zeros_like(routes.gates))
    for found in messages:
        for begin in range(0, len(found.edges), _AT_ONCE):
            rows = slice(begin, begin + _AT_ONCE)
            edges = Edges(
                found.edges.sender[rows],
                found.edges.receiver[rows],
                found.edges.exit_port[rows],
                found.edges.entry_port[rows],
            )
            for loads in _loads((routes, alone), edges, found.share[rows], found.channel[rows], group_of_gpu):
                np.add.at(total, loads.link, loads.weight)
    return total


def _loads(
    ways: tuple[JobRoutes, JobRoutes],
    edges: Edges,
    share: NDArray[np.float64],
    channel: NDArray[np.int64],
    group_of_gpu: NDArray[np.int64],
) -> Iterator[LinkLoads]:
    routes = ways[0]
    wiring = routes.wiring
    through = edges.exit_port >= 0
    within = ~through
    if within.any():
        links, row = gpu_to_gpu(
            wiring.graph, wiring.inside, wiring.index, edges.sender[within], edges.receiver[within]
        )
        yield LinkLoads(links.astype(np.int32), share[within][row])
    if not through.any():
        return
    sent, part, number = pick_edges(edges, through), share[through], channel[through]
    for gpu, port, outwards in (
        (sent.sender, sent.exit_port, True),
        (sent.receiver, sent.entry_port, False),
    ):
        beside = wiring.inside.port_gpu[port]
        shared = (beside >= 0) & (group_of_gpu[beside] == group_of_gpu[gpu])
        for rows, way in ((shared, ways[0]), (~shared, ways[1])):
            if rows.any():
                yield from port_loads(way, gpu[rows], port[rows], part[rows], outwards)
    key = (sent.exit_port.astype(np.int64) << 32) ^ (sent.entry_port.astype(np.int64) << 8) ^ number
    yield routes.route(PortEdges(sent.exit_port, sent.entry_port, key, part), routes.seed)


def exchange_edges(cluster: Cluster, doors: GpuDoors, cut: GroupNodes, relayed: bool) -> Iterator[GroupEdges]:
    """Give what all groups send between their parts in an exchange of all with all, about a million messages at a time.

    Parameters
    ----------
    cluster, doors, cut
    relayed : bool
        A part puts together what it has for one GPU and sends it from the GPU on that one's rail (NCCL's PXN); otherwise every
        pair of GPUs has a message.

    Raises
    ------
    UnbuildableError
        If a part that has to leave its domain has no port.
    """
    parts = cut.parts
    door = _door_of_gpu(cluster, doors, cut)
    lead = np.searchsorted(cut.group, np.arange(len(cut.count)))
    ranks = np.bincount(cut.group, parts.size, minlength=len(cut.count)).astype(np.int64)
    of = np.repeat(np.arange(len(parts)), parts.size)
    for rows in _pieces(ranks[cut.group[of]] if not relayed else cut.count[cut.group[of]]):
        # Receivers by place; each gets from every other part of its group.
        place = np.arange(rows.start, rows.stop)
        own = of[place]
        group = cut.group[own]
        source, owner = expand_ranges(lead[group], cut.count[group])
        apart = source != own[owner]
        source, owner = source[apart], owner[apart]
        receiver = place[owner]
        each = 1.0 / ranks[cut.group[source]]
        if relayed:
            local = receiver - parts.first[of[receiver]]
            sender = parts.first[source] + local % parts.size[source]
            share = each * parts.size[source]
        else:
            sender, held = expand_ranges(parts.first[source], parts.size[source])
            receiver, share = receiver[held], each[held]
        edges = Edges(
            parts.gpu[sender],
            parts.gpu[receiver],
            door[sender].astype(np.int32),
            door[receiver].astype(np.int32),
        )
        yield GroupEdges(edges, share, np.zeros(len(edges), np.int64))


def send_edges(cluster: Cluster, doors: GpuDoors, cut: GroupNodes, gpu: NDArray[np.int32]) -> GroupEdges:
    """Return a message from every rank to the next of its group, the last to the first; *gpu* as :func:`cut_groups` takes it."""
    door = np.full(len(cluster.gpus) + 1, -1, np.int64)
    door[cut.parts.gpu] = _door_of_gpu(cluster, doors, cut)
    sender, receiver = gpu.ravel(), np.roll(gpu, -1, axis=1).ravel()
    apart = cluster.gpus.domain[sender] != cluster.gpus.domain[receiver]
    edges = Edges(
        sender.astype(np.int32),
        receiver.astype(np.int32),
        np.where(apart, door[sender], -1).astype(np.int32),
        np.where(apart, door[receiver], -1).astype(np.int32),
    )
    return GroupEdges(edges, np.ones(len(edges)), np.zeros(len(edges), np.int64))


def _door_of_gpu(cluster: Cluster, doors: GpuDoors, cut: GroupNodes) -> NDArray[np.int64]:
    """Return a port for each place: the one beside the GPU, else one of its part's in turn; -1 where the group stays inside."""
    part, row = part_ports(cluster, doors, cut)
    parts = cut.parts
    of = np.repeat(np.arange(len(parts)), parts.size)
    local = np.arange(len(of)) - parts.first[of]
    held = np.bincount(part, minlength=len(parts))
    begin = np.cumsum(held) - held
    door = np.full(len(of), -1, np.int64)
    some = held[of] > 0
    door[some] = doors.port[row[begin[of[some]] + local[some] % held[of[some]]]]
    own = np.full(len(cluster.gpus) + 1, -1, np.int64)
    keys = np.repeat(doors.by_gpu.key, np.diff(doors.by_gpu.first))
    known = keys >= 0
    own[keys[known][::-1]] = doors.port[doors.by_gpu.row[known][::-1]]
    mine = own[parts.gpu]
    return np.where(mine >= 0, mine, door)


def _pieces(weight: NDArray[np.int64]) -> Iterator[slice]:
    """Give slices of rows whose weights sum to about a million."""
    total = np.cumsum(weight)
    begin = 0
    while begin < len(weight):
        passed = int(total[begin - 1]) if begin else 0
        end = max(begin + 1, int(np.searchsorted(total, passed + _AT_ONCE, side="right")))
        yield slice(begin, end)
        begin = end


def distinct_domains(cluster: Cluster, gpu: NDArray[np.int32]) -> NDArray[np.intp]:
    """Return the groups of one scale-up domain of each kind, where no group leaves its domain: rows of *gpu*.

    Domains whose GPUs are shared out alike carry the same, and nothing of it leaves them.
    """
    groups, size = gpu.shape
    flat, position = gpu.ravel(), np.tile(np.arange(size), groups)
    domain = cluster.gpus.domain[flat].astype(np.int64)
    group = np.repeat(np.arange(groups), size)
    domains = int(domain.max(initial=0)) + 1
    first_gpu, first_group = (np.full(domains, np.iinfo(np.int64).max) for _ in range(2))
    np.minimum.at(first_gpu, domain, flat.astype(np.int64))
    np.minimum.at(first_group, domain, group)
    stand = (flat - first_gpu[domain]) * 2**40 + (group - first_group[domain]) * 2**20 + position
    part = cluster.devices.part[cluster.gpus.host[flat]].astype(np.int64)
    mark = hash_mix(stand ^ (part << 52), 0) >> np.uint64(_SUMMED)
    kind = np.bincount(domain, mark.astype(np.float64), minlength=domains)
    held = np.unique(domain)
    _, first = np.unique(kind[held], return_index=True)
    chosen = np.zeros(domains, np.bool_)
    chosen[held[first]] = True
    return np.flatnonzero(chosen[domain[::size]])
