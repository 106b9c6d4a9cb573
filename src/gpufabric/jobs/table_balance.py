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
from gpufabric.records.names import device_names, port_names
from gpufabric.routing.edge_ends import index_ports
from gpufabric.routing.forwarding_tables import BoundTables, follow_tables

SHIFTS = 64
SHOWN = 5
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
class HotLink:
    """A link between switches on which messages of shift permutations meet: in how many shifts, and how many at worst."""

    link: str
    shifts: int
    worst: int


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
    least_links_per_destination, most_links_per_destination : int
        The same of the end port with fewest and with most.
    lost_pairs : tuple of str
        The first pairs without a way.
    shares : tuple of LinkShare
    hot_links : tuple of HotLink
        Links that are shared in most shifts, those first.
    links_ever_shared : int
        Directed links on which two messages meet in any of the shifts.
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
    least_links_per_destination: int
    most_links_per_destination: int
    lost_pairs: tuple[str, ...]
    shares: tuple[LinkShare, ...]
    hot_links: tuple[HotLink, ...]
    links_ever_shared: int
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
    led = np.zeros(len(ends.port), np.int64)
    longer, most, shortest = 0, 0, 0
    lost: list[str] = []
    unreachable = 0
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
        led[block] = crossed.sum(axis=0)
        unreachable += int((hops < 0).sum())
        if len(lost) < SHOWN:
            source, column = np.nonzero(hops < 0)
            lost += _pair_names(cluster, sources[source[:SHOWN]], ends.port[block][column[:SHOWN]])
        longer += int((hops > least).sum())
        most, shortest = max(most, int(hops.max(initial=0))), max(shortest, int(least.max(initial=0)))
    edges = [_shift(ends, n) for n in _shift_sizes(len(ends.port))]
    loads = _ShiftedLoads(cluster)
    for edge in edges:
        loads.take(_table_loads(cluster, bound, ends, edge))
    return TableBalance(
        pairs=len(sources) * len(ends.port),
        unreachable=unreachable,
        longer=longer,
        most_hops=most,
        most_shortest_hops=shortest,
        links_per_destination=float(led.mean()) if len(led) else 0.0,
        least_links_per_destination=int(led.min(initial=led.max(initial=0))),
        most_links_per_destination=int(led.max(initial=0)),
        lost_pairs=tuple(lost[:SHOWN]),
        shares=_shares(cluster, links, used),
        hot_links=loads.hot_links(),
        links_ever_shared=loads.ever_shared,
        shifts=_shift_loads(loads.fullest),
        static_shifts=None
        if static is None
        else _shift_loads([_fullest(cluster, graph, static(edge)) for edge in edges]),
    )


class _ShiftedLoads:
    """What messages of one shift after the other do on every directed link between switches."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._shared = np.zeros(2 * len(cluster.links), np.int64)
        self._worst = np.zeros(2 * len(cluster.links), np.int64)
        self.fullest: list[int] = []

    def take(self, load: NDArray[np.int64]) -> None:
        """Take the messages on each directed link in one shift."""
        self.fullest.append(int(load.max(initial=0)))
        self._shared += load > _CROSSING
        np.maximum(self._worst, load, out=self._worst)

    @property
    def ever_shared(self) -> int:
        """Return how many directed links were shared in any shift."""
        return int((self._shared > 0).sum())

    def hot_links(self) -> tuple[HotLink, ...]:
        """Return those that were shared most often, and of equal ones those with most messages first."""
        rows = np.lexsort((-self._worst, -self._shared))[: min(SHOWN, self.ever_shared)]
        return tuple(
            HotLink(
                _way_name(self._cluster, row >> 1, row & 1), int(self._shared[row]), int(self._worst[row])
            )
            for row in rows.tolist()
        )


def _way_name(cluster: Cluster, link: int, side: int) -> str:
    ports = np.array([cluster.links.port_a[link], cluster.links.port_b[link]])[:: -1 if side else 1]
    names = device_names(cluster, cluster.ports.device[ports]) + ":" + port_names(cluster, ports)
    return f"{names[0]} → {names[1]}"


def _pair_names(cluster: Cluster, switches: NDArray[np.int64], ports: NDArray[np.int64]) -> list[str]:
    ends = device_names(cluster, cluster.ports.device[ports]) + ":" + port_names(cluster, ports)
    return [f"{a} → {b}" for a, b in zip(device_names(cluster, switches), ends, strict=True)]


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


def _table_loads(cluster: Cluster, bound: BoundTables, ends: EndPorts, edges: PortEdges) -> NDArray[np.int64]:
    position = np.zeros(len(cluster.ports), np.int64)
    position[ends.port] = np.arange(len(ends.port))
    at = position[edges.entry_port]
    ways = follow_tables(cluster, bound, ends.switch, ends.switch[at], ends.lid[at])
    return np.bincount(ways.link * 2 + ways.side, minlength=2 * len(cluster.links))


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
