"""The nodes of a job and their network ports → the ports that each channel of a ring leaves and enters by."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gpufabric.collectives.job_nodes import JobNodes
from gpufabric.errors import UnbuildableError, printable
from gpufabric.records.cluster import Cluster, DeviceKind
from gpufabric.records.graph import Inside

# NCCL's MAXCHANNELS (src/include/device.h of NCCL 2.20, read 2026-11; RCCL's is the same or larger).
MAX_CHANNELS = 32
_RAILS = 1 << 20
_TRAYS = 1 << 20
_PLANES = 1 << 8


@dataclass(frozen=True, slots=True)
class ChannelPorts:
    """Ports of the cluster for each channel (row) and node (column), and the rail of each channel (-1 when mixed).

    ``direct`` says that the ports are cabled to those of the next node, so that no other port can stand in for them.
    """

    exit_port: NDArray[np.int32]
    entry_port: NDArray[np.int32]
    rail: NDArray[np.int64]
    direct: bool


def choose_ports(cluster: Cluster, inside: Inside, nodes: JobNodes, fabric: int) -> ChannelPorts:
    """Return the ports of each channel.

    One channel a rail and plane: it leaves and enters every node by the same rail, as NCCL does with ``NCCL_CROSS_NIC=0``. Only
    ports whose NIC stands beside a GPU of the job take part; where nodes have no rail in common, each uses its own ports in
    turn. Between servers that are cabled directly, a channel uses one cable to the next node.

    Parameters
    ----------
    cluster, inside
        The wiring and the neighbours of its ports.
    nodes : JobNodes
        Two or more.
    fabric : int
        Index of the fabric whose ports carry the collective.

    Raises
    ------
    UnbuildableError
        If a node has no port, or two direct neighbours in the ring no cable.
    """
    linked, far, direct = job_links(cluster, nodes, fabric)
    if direct.any():
        return _direct_ports(cluster, nodes, linked[direct], far[direct])
    return _rail_ports(cluster, inside, nodes, linked)


def job_links(
    cluster: Cluster, nodes: JobNodes, fabric: int
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.bool_]]:
    """Return the linked ports of the job's servers in a fabric, the ports at the other ends, and which of these no switch has."""
    linked = np.concatenate([cluster.links.port_a, cluster.links.port_b])
    far = np.concatenate([cluster.links.port_b, cluster.links.port_a])
    mine = (cluster.ports.fabric[linked] == fabric) & (
        nodes.node_of_device[cluster.ports.device[linked]] >= 0
    )
    linked, far = linked[mine], far[mine]
    order = np.argsort(linked, kind="stable")
    linked, far = linked[order], far[order]
    return linked, far, cluster.devices.kind[cluster.ports.device[far]] != DeviceKind.SWITCH


def _direct_ports(
    cluster: Cluster, nodes: JobNodes, here: NDArray[np.int32], there: NDArray[np.int32]
) -> ChannelPorts:
    count = len(nodes)
    start = nodes.node_of_device[cluster.ports.device[here]]
    end = nodes.node_of_device[cluster.ports.device[there]]
    key = np.where(end >= 0, start * count + end, -1)
    order = np.argsort(key, kind="stable")
    key, here, there = key[order], here[order], there[order]
    step = np.arange(count)
    wanted = step * count + (step + 1) % count
    begin, stop = np.searchsorted(key, wanted), np.searchsorted(key, wanted, side="right")
    channels = int((stop - begin).min())
    if channels == 0:
        lost = int(np.flatnonzero(stop == begin)[0])
        raise UnbuildableError(
            f"cluster {printable(cluster.name)}: nodes {lost} and {(lost + 1) % count} follow each other in the ring and have "
            "no direct link",
            "a full mesh, or a fabric with switches",
        )
    rows = begin + np.arange(min(channels, MAX_CHANNELS))[:, None]
    exits, entries = here[rows], np.roll(there[rows], 1, axis=1)
    return ChannelPorts(exits, entries, np.full(len(exits), -1, np.int64), direct=True)


def _rail_ports(cluster: Cluster, inside: Inside, nodes: JobNodes, ports: NDArray[np.int32]) -> ChannelPorts:
    node, ports = own_ports(cluster, inside, nodes, ports)
    count = len(nodes)
    held = np.bincount(node, minlength=count)
    key = _slot_keys(cluster, nodes, node, ports)
    order = np.lexsort((ports, key, node))
    node, ports, key = node[order], ports[order], key[order]
    # Two NICs of a node on one rail are told apart by their number within it.
    same = np.flatnonzero(np.diff(node * (key.max() + 1) + key, prepend=-1))
    key = key * _PLANES + np.arange(len(key)) - np.repeat(same, np.diff(np.append(same, len(key))))
    names, times = np.unique(key, return_counts=True)
    common = names[times == count]
    if len(common):
        chosen = common[_spread(len(common))]
        picked = ports[np.isin(key, chosen)].reshape(count, len(chosen)).T
        rail = cluster.ports.rail[picked[:, 0]].astype(np.int64)
    else:
        begin = np.cumsum(held) - held
        picked = ports[begin + _spread(int(held.min()))[:, None]]
        rail = np.full(len(picked), -1, np.int64)
    return ChannelPorts(picked, picked, rail, direct=False)


def own_ports(
    cluster: Cluster, inside: Inside, nodes: JobNodes, ports: NDArray[np.int32]
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Return the ports that a node may use and their nodes: those beside a GPU of the job, else the node's first one.

    Raises
    ------
    UnbuildableError
        If a node has none of *ports*.
    """
    in_job = np.zeros(len(cluster.gpus) + 1, np.bool_)
    in_job[nodes.gpu] = True
    beside = in_job[inside.port_gpu[ports]] & (inside.port_gpu[ports] >= 0)
    node: NDArray[np.int64] = nodes.node_of_device[cluster.ports.device[ports]]
    held = np.bincount(node, minlength=len(nodes))
    if (held == 0).any():
        lost = int(np.flatnonzero(held == 0)[0])
        raise UnbuildableError(
            f"cluster {printable(cluster.name)}: node {lost} of the job has no linked port in the fabric",
            "a job whose servers are all cabled",
        )
    has_own = np.bincount(node, beside, minlength=len(nodes)) > 0
    _, first = np.unique(node, return_index=True)
    stands_in = np.zeros(len(ports), np.bool_)
    stands_in[first] = True
    keep = beside | (stands_in & ~has_own[node])
    return node[keep], ports[keep]


def _slot_keys(
    cluster: Cluster, nodes: JobNodes, node: NDArray[np.int64], ports: NDArray[np.int32]
) -> NDArray[np.int64]:
    """Return what is alike for ports in the same place of different nodes: server within the node, rail, plane."""
    table, server = cluster.ports, cluster.ports.device[ports].astype(np.int64)
    first_server = np.full(len(nodes), np.iinfo(np.int64).max)
    np.minimum.at(first_server, node, server)
    rail = np.where(table.rail[ports] >= 0, table.rail[ports], table.nic[ports]).astype(np.int64)
    tray = np.minimum(server - first_server[node], _TRAYS - 1)
    key: NDArray[np.int64] = (tray * _RAILS + np.maximum(rail, 0)) * _PLANES + np.maximum(
        table.plane[ports], 0
    )
    return key


def _spread(count: int) -> NDArray[np.int64]:
    """Return up to ``MAX_CHANNELS`` of *count* positions, evenly spread."""
    if count <= MAX_CHANNELS:
        return np.arange(count)
    return np.arange(MAX_CHANNELS) * count // MAX_CHANNELS
