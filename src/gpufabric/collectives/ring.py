"""An all-reduce → its ring schedule, as NCCL lays rings over rails."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gpufabric.collectives.channel_ports import MAX_CHANNELS, ChannelPorts, choose_ports
from gpufabric.collectives.inside_order import mesh_cycles, rotated, zigzag
from gpufabric.collectives.job_nodes import JobNodes, group_nodes
from gpufabric.errors import InputError
from gpufabric.records.cluster import Cluster
from gpufabric.records.collective import Collective, Phase, RingChannel, Schedule
from gpufabric.records.graph import Inside


def plan(
    collective: Collective, cluster: Cluster, inside: Inside, meshed: bool = False, fabric: int = 0
) -> Schedule:
    """Return the ring schedule of an all-reduce.

    Nodes follow each other in the order of the ranks. Channel *c* enters a node by its rail at the GPU beside that NIC, visits
    all GPUs of the node and leaves by the same rail (the last GPU hands over to the GPU beside the NIC first: NCCL's PXN). Where
    GPUs are meshed it leaves by the NIC beside the last GPU, as RCCL does. One node: rings inside only. Each channel carries an
    equal part of the buffer: n - 1 steps of reduce-scatter and n - 1 of all-gather, each of 1/n of the part.

    Parameters
    ----------
    collective : Collective
        ``all_reduce`` over two or more ranks.
    cluster, inside
        The wiring, and the neighbours of its ports as the GPU-level graph has them.
    meshed : bool
        GPUs of a node have direct links only, no scale-up switch.
    fabric : int
        Index of the fabric whose ports carry the collective.

    Returns
    -------
    Schedule

    Raises
    ------
    InputError
        If the operation is another, or a GPU has two ranks.
    UnbuildableError
        If a node has no port for it.

    Notes
    -----
    Patarasu and Yuan, Bandwidth optimal all-reduce algorithms for clusters of workstations, 2009.
    """
    if collective.op != "all_reduce":
        raise InputError(f'operation "{collective.op}" has no ring schedule yet; known: all_reduce')
    gpus = collective.gpus
    if len(np.unique(gpus)) != len(gpus):
        raise InputError("ranks: two ranks share a GPU; give each rank its own GPU")
    nodes = group_nodes(cluster, gpus)
    if len(nodes) == 1:
        channels = _inside_channels(nodes, meshed)
    else:
        channels = _fabric_channels(
            cluster, nodes, choose_ports(cluster, inside, nodes, fabric), inside, meshed
        )
    ranks = len(gpus)
    step_bytes = collective.size_bytes / (ranks * len(channels))
    phases = (
        Phase("reduce-scatter", ranks - 1, step_bytes, reduces=True),
        Phase("all-gather", ranks - 1, step_bytes, reduces=False),
    )
    return Schedule("ring", tuple(channels), phases)


def _inside_channels(nodes: JobNodes, meshed: bool) -> list[RingChannel]:
    count = len(nodes.gpu)
    if meshed and count > 2:
        orders = [nodes.gpu[cycle] for cycle in mesh_cycles(count)]
    else:
        starts = range(min(count, MAX_CHANNELS))
        orders = [rotated(nodes, np.array([start], np.int64)) for start in starts]
    none = np.empty(0, np.int32)
    return [RingChannel(order, nodes.first, none, none, -1) for order in orders]


def _fabric_channels(
    cluster: Cluster, nodes: JobNodes, ports: ChannelPorts, inside: Inside, meshed: bool
) -> list[RingChannel]:
    place = np.full(len(inside.gpu_pcie) + 1, -1, np.int64)
    place[nodes.gpu] = np.arange(len(nodes.gpu)) - np.repeat(nodes.first, nodes.size)
    last = nodes.first + nodes.size - 1
    channels = []
    for c in range(len(ports.rail)):
        entry, leave, rail = ports.entry_port[c], ports.exit_port[c], int(ports.rail[c])
        beside = place[inside.port_gpu[entry]]
        start = np.where(beside >= 0, beside, c % nodes.size)
        order = (zigzag if meshed else rotated)(nodes, start)
        if meshed and not ports.direct:
            leave = _beside_last(order[last], inside, ports.exit_port[_same_plane(cluster, ports, c)], leave)
            rail = rail if np.array_equal(leave, entry) else -1
        channels.append(RingChannel(order, nodes.first, leave, entry, rail))
    return channels


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
