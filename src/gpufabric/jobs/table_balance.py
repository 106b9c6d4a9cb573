"""Forwarding tables on a wiring → who reaches whom, over how many links, and how evenly."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpufabric.kernels.shortest_ways import bundle_links, hop_distances
from gpufabric.records.cluster import Cluster, DeviceKind, Role
from gpufabric.records.flows import LinkLoads, PortEdges
from gpufabric.records.graph import Graph
from gpufabric.routing.edge_ends import index_ports
from gpufabric.routing.forwarding_tables import BoundTables, follow_tables

SHIFTS = 64
_BLOCK_CELLS = 1 << 22
_CROSSING = 1  # one message on a link has it for itself


@dataclass(frozen=True, slots=True)
class LinkShare:
    """How many end ports are reached over each link of one kind and direction, such as leaf → spine."""

    way: str
    links: int
    least: int
    mean: float
    most: int


@dataclass(frozen=True, slots=True)
class ShiftLoads:
    """Messages on the fullest link between switches when every end port sends to the one *n* further on.

    ``clean_share`` is the share of shifts in which no two messages meet on a link between switches.
    """

    shifts: int
    mean_fullest: float
    worst_fullest: int
    clean_share: float


@dataclass(frozen=True, slots=True)
class TableBalance:
    """What forwarding tables do.

    Attributes
    ----------
    pairs, unreachable, longer : int
        Pairs of a switch with end ports and an end port; those without a way; those whose way is longer than the shortest.
    most_hops, most_shortest_hops : int
        Links between switches on the longest way, and on the longest of the shortest ways.
    links_per_destination : float
        Links between switches that lead to one end port from anywhere, the mean over all end ports.
    shares : tuple of LinkShare
    shifts : ShiftLoads
        Of the tables.
    static_shifts : ShiftLoads or None
        Of d-mod-k on the same wiring; None where there are no tiers.
    """

    pairs: int
    unreachable: int
    longer: int
    most_hops: int
    most_shortest_hops: int
    links_per_destination: float
    shares: tuple[LinkShare, ...]
    shifts: ShiftLoads
    static_shifts: ShiftLoads | None

    def to_dict(self) -> dict[str, Any]:
        """Return the balance as plain JSON values."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class EndPorts:
    """End ports of a subnet, switch by switch: port, the switch that it hangs on, and its LID."""

    port: NDArray[np.int64]
    switch: NDArray[np.int64]
    lid: NDArray[np.int64]


def end_ports(cluster: Cluster, bound: BoundTables) -> EndPorts:
    """Return the end ports that have a LID, in the order of their switches."""
    port_link = index_ports(cluster)
    ports = np.flatnonzero((bound.port_lid >= 0) & (port_link >= 0))
    a, b = cluster.link_device_a[port_link[ports]], cluster.link_device_b[port_link[ports]]
    switch = np.where(a == cluster.ports.device[ports], b, a)
    order = np.lexsort((port_link[ports], switch))
    return EndPorts(
        ports[order], switch[order].astype(np.int64), bound.port_lid[ports[order]].astype(np.int64)
    )


def table_balance(
    cluster: Cluster,
    bound: BoundTables,
    links: NDArray[np.int64],
    static: Callable[[PortEdges], LinkLoads] | None,
    graph: Graph,
) -> TableBalance:
    """Follow every pair of a switch and an end port through the tables, then shift permutations.

    Parameters
    ----------
    cluster, bound
    links : int64 array
        Links of the subnet.
    static
        Routes messages by d-mod-k on the same wiring, to compare with; None to leave it out.
    graph
        Fabric-level graph of *cluster*.
    """
    ends = end_ports(cluster, bound)
    sources = np.unique(ends.switch)
    used = np.zeros((len(cluster.links), 2), np.int64)
    counts = {"unreachable": 0, "longer": 0, "most": 0, "shortest": 0, "links": 0}
    step = max(1, _BLOCK_CELLS // max(len(sources), len(cluster.links) * 2))
    for begin in range(0, len(ends.port), step):
        block = slice(begin, begin + step)
        lids, targets = ends.lid[block], ends.switch[block]
        width = len(lids)
        ways = follow_tables(
            cluster,
            bound,
            np.repeat(sources, width),
            np.tile(targets, len(sources)),
            np.tile(lids, len(sources)),
        )
        hops = ways.hops.reshape(len(sources), width)
        least = _least_hops(cluster, links, targets)[:, sources].T
        crossed = np.zeros((len(cluster.links) * 2, width), np.bool_)
        crossed[ways.link * 2 + ways.side, ways.message % width] = True
        used += crossed.sum(axis=1).reshape(-1, 2)
        counts["links"] += int(crossed.sum())
        counts["unreachable"] += int((hops < 0).sum())
        counts["longer"] += int((hops > least).sum())
        counts["most"] = max(counts["most"], int(hops.max(initial=0)))
        counts["shortest"] = max(counts["shortest"], int(least.max(initial=0)))
    edges = [_shift(ends, n) for n in _shift_sizes(len(ends.port))]
    return TableBalance(
        pairs=len(sources) * len(ends.port),
        unreachable=counts["unreachable"],
        longer=counts["longer"],
        most_hops=counts["most"],
        most_shortest_hops=counts["shortest"],
        links_per_destination=counts["links"] / max(1, len(ends.port)),
        shares=_shares(cluster, links, used),
        shifts=_shift_loads([_table_fullest(cluster, bound, ends, edge) for edge in edges]),
        static_shifts=None
        if static is None
        else _shift_loads([_fullest(cluster, graph, static(edge)) for edge in edges]),
    )


def _least_hops(cluster: Cluster, links: NDArray[np.int64], targets: NDArray[np.int64]) -> NDArray[np.int16]:
    """Return the links between switches on a shortest way from each device to each target; (T, D)."""
    switch = cluster.devices.kind == DeviceKind.SWITCH
    a, b = cluster.link_device_a[links], cluster.link_device_b[links]
    between = switch[a] & switch[b]
    start, end = np.concatenate([a[between], b[between]]), np.concatenate([b[between], a[between]])
    bundles, _ = bundle_links(len(switch), start, end)
    different, row = np.unique(targets, return_inverse=True)
    return hop_distances(bundles, different)[row]


def _shares(cluster: Cluster, links: NDArray[np.int64], used: NDArray[np.int64]) -> tuple[LinkShare, ...]:
    role, kind = cluster.devices.role, cluster.devices.kind
    ends = np.stack([cluster.link_device_a[links], cluster.link_device_b[links]], axis=1)
    ends = ends[(kind[ends] == DeviceKind.SWITCH).all(axis=1)]
    rows = links[
        (kind[cluster.link_device_a[links]] == DeviceKind.SWITCH)
        & (kind[cluster.link_device_b[links]] == DeviceKind.SWITCH)
    ]
    pairs = np.concatenate([role[ends], role[ends[:, ::-1]]])
    loads = np.concatenate([used[rows, 0], used[rows, 1]])
    shares = []
    for pair in np.unique(pairs, axis=0):
        load = loads[(pairs == pair).all(axis=1)]
        way = " → ".join(Role.NAMES[tier] if tier >= 0 else "switch" for tier in pair.tolist())
        shares.append(LinkShare(way, len(load), int(load.min()), float(load.mean()), int(load.max())))
    return tuple(shares)


def _shift_sizes(ports: int) -> list[int]:
    """Return up to 64 shifts, evenly spread over all."""
    return (
        np.unique(np.linspace(1, ports - 1, min(SHIFTS, ports - 1)).astype(np.int64)).tolist()
        if ports > 1
        else []
    )


def _shift(ends: EndPorts, by: int) -> PortEdges:
    entry = np.roll(ends.port, -by)
    return PortEdges(
        ends.port.astype(np.int32), entry.astype(np.int32), np.arange(len(entry), dtype=np.int64)
    )


def _table_fullest(cluster: Cluster, bound: BoundTables, ends: EndPorts, edges: PortEdges) -> int:
    position = np.zeros(len(cluster.ports), np.int64)
    position[ends.port] = np.arange(len(ends.port))
    at = position[edges.entry_port]
    ways = follow_tables(cluster, bound, ends.switch, ends.switch[at], ends.lid[at])
    return int(np.bincount(ways.link * 2 + ways.side, minlength=1).max())


def _fullest(cluster: Cluster, graph: Graph, loads: LinkLoads) -> int:
    switch = cluster.devices.kind[graph.vertex_device] == DeviceKind.SWITCH
    between = switch[graph.link_from[loads.link]] & switch[graph.link_to[loads.link]]
    load = np.bincount(loads.link[between], loads.weight[between], minlength=1)
    return int(np.rint(load.max()))


def _shift_loads(fullest: list[int]) -> ShiftLoads:
    found = np.array(fullest, np.int64)
    if not len(found):
        return ShiftLoads(0, 0.0, 0, 1.0)
    return ShiftLoads(len(found), float(found.mean()), int(found.max()), float((found <= _CROSSING).mean()))
