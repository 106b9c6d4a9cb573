"""The nodes of a job → its lanes: for each channel the order of the GPUs, and the ports that it enters and leaves nodes by."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gpufabric.collectives.channel_ports import MAX_CHANNELS, ChannelPorts, choose_ports
from gpufabric.collectives.inside_order import mesh_cycles, rotated, zigzag
from gpufabric.collectives.job_wiring import JobWiring
from gpufabric.collectives.uneven_mesh import Links, ring_orders, way_orders
from gpufabric.records.cluster import Cluster
from gpufabric.records.graph import Inside


@dataclass(frozen=True, slots=True)
class Lane:
    """A way of one channel through all GPUs of a job.

    A node is what NCCL takes for one: the GPUs of a job that share a scale-up domain.

    Attributes
    ----------
    order : int32 array, n
        GPUs of the cluster, node by node.
    node_first : int64 array, N
        Position in ``order`` of the first GPU of each node; ascending, the first is 0.
    exit_port, entry_port : int32 arrays, N
        Ports of the cluster by which a ring leaves node *k* for node *k + 1*, and by which it enters node *k*; empty when
        there is one node.
    rail : int
        Rail of the ports (-1 when the lane stays inside one node or mixes rails).
    direct : bool
        The ports are cabled to those of the next node, so that they lead nowhere else.
    """

    order: NDArray[np.int32]
    node_first: NDArray[np.int64]
    exit_port: NDArray[np.int32]
    entry_port: NDArray[np.int32]
    rail: int
    direct: bool = False


def lay_lanes(job: JobWiring) -> list[Lane]:
    """Return the lanes of a job, as NCCL lays channels over rails.

    Nodes follow each other in the order of the ranks. Lane *c* enters a node by its rail at the GPU beside that NIC, visits
    all GPUs of the node and leaves by the same rail (the last GPU hands over to the GPU beside the NIC first: NCCL's PXN). Where
    GPUs are meshed it leaves by the NIC beside the last GPU, as RCCL does. One node: closed orders inside. Where the mesh is
    uneven, orders follow its links and a lane leaves by the NIC that it came in by, as NCCL's rings do on such servers.

    Raises
    ------
    UnbuildableError
        If a node has no port for it.
    """
    meshed = job.scale_up.kind == "mesh"
    if len(job.nodes) == 1:
        return _inside_lanes(job, meshed)
    ports = choose_ports(job.cluster, job.inside, job.nodes, job.fabric)
    return _fabric_lanes(job, ports, meshed)


def _inside_lanes(job: JobWiring, meshed: bool) -> list[Lane]:
    nodes, count = job.nodes, len(job.gpu)
    closed = ring_orders(_pair_links(job, 0)) if job.scale_up.pair_links and count > 2 else ()
    if closed:
        orders = [nodes.gpu[list(cycle)] for cycle in closed]
    elif meshed and count > 2 and not job.scale_up.pair_links:
        orders = [nodes.gpu[cycle] for cycle in mesh_cycles(count)]
    else:
        starts = range(min(count, MAX_CHANNELS))
        orders = [rotated(nodes, np.array([start], np.int64)) for start in starts]
    none = np.empty(0, np.int32)
    return [Lane(order, nodes.first, none, none, -1) for order in orders]


def _fabric_lanes(job: JobWiring, ports: ChannelPorts, meshed: bool) -> list[Lane]:
    nodes, inside = job.nodes, job.inside
    local = np.full(len(inside.gpu_pcie) + 1, -1, np.int64)
    local[nodes.gpu] = job.local
    last = nodes.first + nodes.size - 1
    beside = local[inside.port_gpu[ports.entry_port]]
    starts = np.where(beside >= 0, beside, np.arange(len(beside))[:, None] % nodes.size)
    uneven = _uneven_orders(job, starts, ports) if job.scale_up.pair_links else None
    lanes = []
    for c, start in enumerate(starts):
        entry, leave, rail = ports.entry_port[c], ports.exit_port[c], int(ports.rail[c])
        order = uneven[c] if uneven is not None else (zigzag if meshed else rotated)(nodes, start)
        if meshed and uneven is None and not ports.direct:
            choice = ports.exit_port[_same_plane(job.cluster, ports, c)]
            leave = _beside_last(order[last], inside, choice, leave)
            rail = rail if np.array_equal(leave, entry) else -1
        lanes.append(Lane(order, nodes.first, leave, entry, rail, ports.direct))
    return lanes


def _uneven_orders(job: JobWiring, starts: NDArray[np.int64], ports: ChannelPorts) -> NDArray[np.int32]:
    """Return the GPUs node by node for each channel, each node's in an order that follows its links: (channels, n).

    It ends at a GPU on the PCIe switch of the NIC that the channel leaves by, where the links allow.
    """
    nodes = job.nodes
    pcie = job.inside.port_pcie[ports.exit_port]
    orders = np.empty((len(starts), len(nodes.gpu)), np.int32)
    for node, (first, size) in enumerate(zip(nodes.first.tolist(), nodes.size.tolist(), strict=True)):
        own = job.inside.gpu_pcie[nodes.gpu[first : first + size]]
        ends = tuple(frozenset(np.flatnonzero(own == near).tolist()) for near in pcie[:, node])
        ways = way_orders(_pair_links(job, node), tuple(starts[:, node].tolist()), ends)
        orders[:, first : first + size] = nodes.gpu[first + np.array(ways)]
    return orders


def _pair_links(job: JobWiring, node: int) -> Links:
    """Return the links between the GPUs of a node that are in the job, in the order of its places."""
    first, size = int(job.nodes.first[node]), int(job.nodes.size[node])
    local = job.cluster.gpus.local[job.gpu[first : first + size]].tolist()
    return tuple(tuple(job.scale_up.pair_links[a][b] for b in local) for a in local)


def _same_plane(cluster: Cluster, ports: ChannelPorts, channel: int) -> NDArray[np.bool_]:
    plane = cluster.ports.plane[ports.exit_port[:, 0]]
    return np.asarray(plane == plane[channel])


def _beside_last(
    last_gpu: NDArray[np.int32], inside: Inside, choice: NDArray[np.int32], own: NDArray[np.int32]
) -> NDArray[np.int32]:
    """Return the port of *choice* beside the last GPU of each node; the channel's own where none stands there."""
    port_of_gpu = np.full(len(inside.gpu_pcie) + 1, -1, np.int64)
    port_of_gpu[inside.port_gpu[choice.ravel()]] = choice.ravel()
    port_of_gpu[-1] = -1
    found = port_of_gpu[last_gpu]
    return np.where(found >= 0, found, own).astype(np.int32)
