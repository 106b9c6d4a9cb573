"""A job's nodes and the wiring → rates of the cuts around each node and each part of the fabric."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gpufabric.kernels.connected_components import connected_components
from gpufabric.records.cluster import Cluster, Role
from gpufabric.records.graph import Graph, VertexKind


def node_rates(cluster: Cluster, node_of_device: NDArray[np.int64], fabric: int) -> NDArray[np.float64]:
    """Return the rate of all linked ports of each node in one fabric, one direction.

    Parameters
    ----------
    cluster : Cluster
    node_of_device : int64 array, one a device
        Node that a server belongs to, -1 for none.
    fabric : int
        Index of the fabric.

    Returns
    -------
    float64 array, one a node, bytes/s
    """
    ports = np.concatenate([cluster.links.port_a, cluster.links.port_b])
    rates = np.tile(cluster.links.bytes_per_s, 2)
    node = node_of_device[cluster.ports.device[ports]]
    mine = (node >= 0) & (cluster.ports.fabric[ports] == fabric)
    count = int(node_of_device.max(initial=-1)) + 1
    return np.bincount(node[mine], rates[mine], minlength=count).astype(np.float64)


def smallest_part_rate(cluster: Cluster, node_of_device: NDArray[np.int64]) -> float:
    """Return the least rate out of a part of the fabric that holds some of the job's servers, but not all.

    Returns
    -------
    float, bytes/s
        Infinite when the whole job lies in one part.
    """
    return float(part_cuts(cluster, node_of_device)[0].min(initial=np.inf))


def part_cuts(
    cluster: Cluster, node_of_device: NDArray[np.int64], node_ranks: NDArray[np.int64] | None = None
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return the rate out of each part of the fabric that holds some of the job's servers, but not all, and its ranks.

    Parts are what stays connected when all links above the leaves are taken out, and above the spines. Servers of one node
    (one scale-up domain) count as connected.

    Parameters
    ----------
    cluster : Cluster
    node_of_device : int64 array, one a device
        Node that a server belongs to, -1 for none.
    node_ranks : int64 array, one a node, optional
        Ranks of each node; one when left out.

    Returns
    -------
    rates : float64 array, bytes/s
    ranks : int64 array
    """
    role = cluster.devices.role
    a, b = cluster.link_device_a, cluster.link_device_b
    top = np.maximum(role[a], role[b])
    in_fabric = top <= Role.CORE
    in_job = np.flatnonzero(node_of_device >= 0)
    chain = in_job[np.argsort(node_of_device[in_job], kind="stable")]
    same = node_of_device[chain[1:]] == node_of_device[chain[:-1]]
    leads = chain[np.append(True, ~same)] if len(chain) else chain
    rates: list[NDArray[np.float64]] = [np.empty(0)]
    ranks: list[NDArray[np.int64]] = [np.empty(0, np.int64)]
    for tier in (Role.LEAF, Role.SPINE):
        within = top <= tier
        part = connected_components(
            len(role),
            np.concatenate([a[within], chain[:-1][same]]),
            np.concatenate([b[within], chain[1:][same]]),
        )
        counted = None if node_ranks is None else node_ranks[node_of_device[leads]]
        held = np.bincount(part[leads], counted, minlength=len(role)).astype(np.int64)
        some = np.flatnonzero(held)
        if len(some) > 1:
            above = in_fabric & ~within
            leaving = np.bincount(
                np.concatenate([part[a[above]], part[b[above]]]),
                np.tile(cluster.links.bytes_per_s[above], 2),
                minlength=len(role),
            )
            rates.append(leaving[some].astype(np.float64))
            ranks.append(held[some])
    return np.concatenate(rates), np.concatenate(ranks)


def gpu_rates(graph: Graph, gpus: NDArray[np.integer]) -> NDArray[np.float64]:
    """Return the rate of each GPU of a job to its peers: its scale-up links, or its PCIe link without any.

    Of links from GPU to GPU only those between GPUs of the job count: libraries pass nothing through others.

    Parameters
    ----------
    graph : Graph
        At the level of GPUs.
    gpus : integer array
        GPUs of the job.

    Returns
    -------
    float64 array, one a GPU of *gpus*, bytes/s, one direction
    """
    kind, mine = graph.vertex_kind, np.zeros(graph.vertices, np.bool_)
    at = graph.gpu_vertex[gpus]
    mine[at] = True
    links = np.flatnonzero(mine[graph.link_from])
    start, end, rates = graph.link_from[links], kind[graph.link_to[links]], graph.bytes_per_s[links]
    direct = end == VertexKind.GPU
    used = ~direct | mine[graph.link_to[links]]
    start, end, rates, direct = start[used], end[used], rates[used], direct[used]
    to_peer = (end == VertexKind.SCALE_UP) | direct
    scale_up = np.bincount(start[to_peer], rates[to_peer], minlength=graph.vertices)
    other = np.bincount(start[~to_peer], rates[~to_peer], minlength=graph.vertices)
    return np.asarray(np.where(scale_up[at] > 0, scale_up[at], other[at]), np.float64)
