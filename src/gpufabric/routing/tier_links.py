"""The wiring of a cluster → its links tier by tier, looked up by switch, by neighbour and by part of the fabric."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gpufabric.errors import InputError, UnbuildableError, printable
from gpufabric.kernels.connected_components import connected_components
from gpufabric.kernels.sorted_groups import SortedGroups, find_groups, group_rows
from gpufabric.records.cluster import Cluster, Role
from gpufabric.records.flows import PortEdges
from gpufabric.records.graph import Graph
from gpufabric.records.names import device_names
from gpufabric.records.tiers import joins_fabrics
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
    port_link : int64 array, P
        Link that each port is on, -1 for none.
    up : SortedGroups
        Links of the cluster by their lower switch; links to servers are not among them.
    down_to_switch, down_to_pod : SortedGroups
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
    port_link: NDArray[np.int64]
    up: SortedGroups
    down_to_switch: SortedGroups
    down_to_pod: SortedGroups
    pod: NDArray[np.int64]
    plane: NDArray[np.int64]
    climb: Climb
    devices: int

    def links_to(
        self, groups: SortedGroups, upper: NDArray[np.integer], target: NDArray[np.integer]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return start and size of the groups of links from each upper switch to each target switch or pod."""
        return find_groups(groups, upper.astype(np.int64) * self.devices + target)


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
    switch = (role >= Role.LEAF) & (role <= Role.CORE)
    between = switch[a] & switch[b] & ~joins_fabrics(cluster)
    level = between & (role[a] == role[b])
    if level.any() or (role < 0).any():
        what = (
            f"{counted(int(level.sum()), 'link')} between switches of one tier"
            if level.any()
            else "devices of unknown role"
        )
        raise InputError(
            f"cluster {printable(cluster.name)}: routing needs tiers of switches, servers below ({what} found); "
            "allowed are one to three tiers; recognise the roles first or choose another topology"
        )
    flip = between & (role[a] > role[b])
    lower, upper = np.where(flip, b, a), np.where(flip, a, b)
    rows = np.flatnonzero(between)
    leaf_rows = rows[role[lower[rows]] == Role.LEAF]
    pod = connected_components(devices, lower[leaf_rows], upper[leaf_rows])
    plane = connected_components(devices, lower[rows], upper[rows])
    port_link = np.full(len(cluster.ports), -1, np.int64)
    port_link[cluster.links.port_a] = np.arange(len(a))
    port_link[cluster.links.port_b] = np.arange(len(a))
    pair = upper[rows].astype(np.int64) * devices
    up = _of_rows(rows, lower[rows])
    return TierLinks(
        lower=lower,
        upper=upper,
        port_link=port_link,
        up=up,
        down_to_switch=_of_rows(rows, pair + lower[rows]),
        down_to_pod=_of_rows(rows, pair + pod[lower[rows]]),
        pod=pod,
        plane=plane,
        climb=_climb(
            up.row,
            lower,
            upper,
            pod,
            np.where((a != lower)[:, None], graph.cable_link[:, ::-1], graph.cable_link),
        ),
        devices=devices,
    )


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


@dataclass(frozen=True, slots=True)
class EdgeEnds:
    """Where each edge enters and leaves the fabric. E rows.

    ``exit_link`` and ``entry_link`` are the links of its two ports and ``exit_side`` and ``entry_side`` the columns of
    ``Graph.cable_link`` that go the edge's way. ``source`` and ``target`` are the switches (or servers) at their far ends and
    ``turn`` says where the way turns down again: 0 at a shared switch or on a direct cable, 1 at a spine, 2 at a core.
    """

    exit_link: NDArray[np.int64]
    entry_link: NDArray[np.int64]
    exit_side: NDArray[np.int64]
    entry_side: NDArray[np.int64]
    source: NDArray[np.int32]
    target: NDArray[np.int32]
    turn: NDArray[np.int8]


def find_ends(cluster: Cluster, tiers: TierLinks, edges: PortEdges) -> EdgeEnds:
    """Return where each edge enters and leaves the fabric.

    Raises
    ------
    UnbuildableError
        If a port has no link, or no way leads from one to the other.
    """
    exit_link, entry_link = tiers.port_link[edges.exit_port], tiers.port_link[edges.entry_port]
    if (exit_link < 0).any() or (entry_link < 0).any():
        raise UnbuildableError(
            "a network port that the collective uses has no link; cable it or leave its server out"
        )
    ports = cluster.links
    exit_side = (ports.port_b[exit_link] == edges.exit_port).astype(np.int64)
    entry_side = (ports.port_a[entry_link] == edges.entry_port).astype(np.int64)
    far = np.stack([cluster.link_device_b, cluster.link_device_a], axis=1)
    source, target = far[exit_link, exit_side], far[entry_link, 1 - entry_side]
    direct = (exit_link == entry_link) & (exit_side == entry_side)
    turn = np.full(len(source), 3, np.int8)
    turn[tiers.plane[source] == tiers.plane[target]] = 2
    turn[tiers.pod[source] == tiers.pod[target]] = 1
    turn[(source == target) | direct] = 0
    if (turn == 3).any():
        lost = int(np.flatnonzero(turn == 3)[0])
        servers = device_names(cluster, cluster.ports.device[[edges.exit_port[lost], edges.entry_port[lost]]])
        raise UnbuildableError(
            f"cluster {printable(cluster.name)}: {int((turn == 3).sum()):,} messages of the collective have no way through the "
            f"fabric (the first is from {printable(servers[0])} to {printable(servers[1])}: their switches are not connected)",
            "a fabric whose planes or rails are joined by spines, or ranks in an order that keeps each rail together",
        )
    return EdgeEnds(exit_link, entry_link, exit_side, entry_side, source, target, turn)


def end_cables(graph: Graph, ends: EdgeEnds) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Return the directed links of the cables at the ends of each edge, and the edge of each of them.

    A direct cable between two servers counts once.
    """
    first = graph.cable_link[ends.exit_link, ends.exit_side]
    last = graph.cable_link[ends.entry_link, ends.entry_side]
    other = np.flatnonzero(last != first)
    return np.concatenate([first, last[other]]), np.concatenate([np.arange(len(first)), other])
