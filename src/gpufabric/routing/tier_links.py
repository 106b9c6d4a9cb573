"""The wiring of a cluster → its links tier by tier, looked up by switch, by neighbour and by part of the fabric."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gpufabric.errors import InputError, printable
from gpufabric.kernels.connected_components import connected_components
from gpufabric.kernels.sorted_groups import PairGroups, SortedGroups, find_pairs, group_rows, index_pairs
from gpufabric.records.cluster import Cluster, Role
from gpufabric.records.flows import PortEdges
from gpufabric.records.graph import Graph
from gpufabric.records.tiers import joins_fabrics
from gpufabric.routing.edge_ends import EdgeEnds, find_edge_ends, index_ports, refuse_lost
from gpufabric.units import counted


@dataclass(frozen=True, slots=True)
class Climb:
    """Links between switches as the messages of many flows climb and descend them. U rows, all in one order.

    Attributes
    ----------
    lower, upper : int32 arrays, U
        Switches at the ends.
    pod : int64 array, U
        Pod of the lower switch.
    up_link, down_link : int32 arrays, U
        Directed links of the graph that lead upwards and downwards.
    leaf_share : float64 array, U
        Part of what leaves the lower switch upwards that this link carries when all links share evenly.
    core_share : float64 array, U
        The same for what enters the pod from the cores; 0 on leaf-spine links.
    """

    lower: NDArray[np.int32]
    upper: NDArray[np.int32]
    pod: NDArray[np.int64]
    up_link: NDArray[np.int32]
    down_link: NDArray[np.int32]
    leaf_share: NDArray[np.float64]
    core_share: NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class TierLinks:
    """Links between switches, seen from below and from above. D devices, P ports.

    Attributes
    ----------
    lower, upper : int32 arrays, L
        Device at each end of each link of the cluster; ``upper`` is nearer the core.
    up_and_down : int32 array, (L, 2)
        Directed links of the graph that lead upwards and downwards on each link of the cluster.
    port_link : int64 array, P
        Link that each port is on, -1 for none.
    up : SortedGroups
        Links of the cluster by their lower switch; links to servers are not among them.
    up_first : int64 array, D + 1
        ``up.row[up_first[d] : up_first[d + 1]]`` are those of device *d*.
    down_to_switch, down_to_pod : PairGroups
        The same links by (upper, lower) switch, and by (upper switch, pod of the lower one).
    pod : int64 array, D
        Equal for leaves that reach each other over a spine: the component of the leaf-spine links.
    plane : int64 array, D
        Equal for switches that reach each other at all.
    climb : Climb
        The links of ``up`` with their neighbourhood.
    devices : int
    """

    lower: NDArray[np.int32]
    upper: NDArray[np.int32]
    up_and_down: NDArray[np.int32]
    port_link: NDArray[np.int64]
    up: SortedGroups
    up_first: NDArray[np.int64]
    down_to_switch: PairGroups
    down_to_pod: PairGroups
    pod: NDArray[np.int64]
    plane: NDArray[np.int64]
    climb: Climb
    devices: int

    def links_up(self, lower: NDArray[np.integer]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return start and size of the groups of links from each lower switch upwards."""
        first = self.up_first[lower]
        return first, self.up_first[lower + 1] - first

    def links_to(
        self, pairs: PairGroups, upper: NDArray[np.integer], target: NDArray[np.integer]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return start and size of the groups of links from each upper switch to each target switch or pod."""
        return find_pairs(pairs, upper, target)


def index_tiers(cluster: Cluster, graph: Graph) -> TierLinks:
    """Return the links of *cluster* tier by tier; *graph* is a graph of it, fabric or GPU level.

    Raises
    ------
    InputError
        If roles of switches are unknown, or two switches of one tier are linked (no up/down fabric).
    """
    devices = len(cluster.devices)
    role = cluster.devices.role
    a, b = cluster.link_device_a, cluster.link_device_b
    what = why_no_tiers(cluster)
    if what:
        raise InputError(
            f"cluster {printable(cluster.name)}: routing needs tiers of switches, servers below ({what} found); "
            "allowed are one to three tiers; recognise the roles first or choose another topology"
        )
    between = _between_switches(cluster)
    flip = between & (role[a] > role[b])
    lower, upper = np.where(flip, b, a), np.where(flip, a, b)
    rows = np.flatnonzero(between)
    leaf_rows = rows[role[lower[rows]] == Role.LEAF]
    pod = connected_components(devices, lower[leaf_rows], upper[leaf_rows])
    plane = connected_components(devices, lower[rows], upper[rows])
    pair = upper[rows].astype(np.int64) * devices
    up = _of_rows(rows, lower[rows])
    up_and_down = np.where((a != lower)[:, None], graph.cable_link[:, ::-1], graph.cable_link)
    return TierLinks(
        lower=lower,
        upper=upper,
        up_and_down=up_and_down,
        port_link=index_ports(cluster),
        up=up,
        up_first=np.searchsorted(lower[up.row], np.arange(devices + 1)).astype(np.int64),
        down_to_switch=index_pairs(_of_rows(rows, pair + lower[rows]), devices),
        down_to_pod=index_pairs(_of_rows(rows, pair + pod[lower[rows]]), devices),
        pod=pod,
        plane=plane,
        climb=_climb(up.row, lower, upper, pod, up_and_down),
        devices=devices,
    )


def why_no_tiers(cluster: Cluster) -> str:
    """Return what keeps messages of *cluster* from going up and down tiers of switches; empty when they can."""
    role = cluster.devices.role
    level = _between_switches(cluster) & (role[cluster.link_device_a] == role[cluster.link_device_b])
    if level.any():
        return f"{counted(int(level.sum()), 'link')} between switches of one tier"
    return "devices of unknown role" if (role < 0).any() else ""


def _between_switches(cluster: Cluster) -> NDArray[np.bool_]:
    role = cluster.devices.role
    switch = (role >= Role.LEAF) & (role <= Role.CORE)
    between: NDArray[np.bool_] = switch[cluster.link_device_a] & switch[cluster.link_device_b]
    return between & ~joins_fabrics(cluster)


def _climb(
    links: NDArray[np.int64],
    lower: NDArray[np.int32],
    upper: NDArray[np.int32],
    pod: NDArray[np.int64],
    up_and_down: NDArray[np.int32],
) -> Climb:
    low, high = lower[links], upper[links]
    # Only a spine has links below it and a link above it.
    has_below = np.zeros(len(pod), np.bool_)
    has_below[high] = True
    from_core = has_below[low]
    width = np.bincount(pod[low[from_core]], minlength=len(pod))
    return Climb(
        lower=low,
        upper=high,
        pod=pod[low],
        up_link=up_and_down[links, 0],
        down_link=up_and_down[links, 1],
        leaf_share=1.0 / np.bincount(low, minlength=len(pod))[low],
        core_share=np.where(from_core, 1.0 / np.maximum(width[pod[low]], 1), 0.0),
    )


def _of_rows(rows: NDArray[np.intp], key: NDArray[np.integer]) -> SortedGroups:
    groups = group_rows(key)
    return SortedGroups(groups.key, groups.first, rows[groups.row].astype(np.int64))


def find_ends(cluster: Cluster, tiers: TierLinks, edges: PortEdges) -> tuple[EdgeEnds, NDArray[np.int8]]:
    """Return where each edge enters and leaves the fabric, and where its way turns down again.

    Returns
    -------
    ends : EdgeEnds
    turn : int8 array, E
        0 at a shared switch or on a direct cable, 1 at a spine, 2 at a core.

    Raises
    ------
    UnbuildableError
        If a port has no link, or no way leads from one to the other.
    """
    ends = find_edge_ends(cluster, tiers.port_link, edges)
    turn = np.full(len(ends.source), 3, np.int8)
    turn[tiers.plane[ends.source] == tiers.plane[ends.target]] = 2
    turn[tiers.pod[ends.source] == tiers.pod[ends.target]] = 1
    turn[(ends.source == ends.target) | ends.direct] = 0
    refuse_lost(cluster, edges, turn == 3)
    return ends, turn
