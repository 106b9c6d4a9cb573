"""The places of a job → the network ports by which any two of its GPUs reach each other."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gpufabric.collectives.channel_ports import MAX_CHANNELS, job_links, own_ports
from gpufabric.collectives.job_wiring import JobWiring
from gpufabric.errors import UnbuildableError, printable
from gpufabric.kernels.sorted_groups import SortedGroups, find_groups, group_rows
from gpufabric.records.schedule import Edges


@dataclass(frozen=True, slots=True)
class Cables:
    """Cables between servers without a switch: ``exit_port`` and ``entry_port`` of each, grouped by node · N + node."""

    groups: SortedGroups
    exit_port: NDArray[np.int32]
    entry_port: NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class GpuPorts:
    """Ports of the GPUs of a job. K channels, n places.

    Attributes
    ----------
    job : JobWiring
    port : int32 array, (K, n)
        Port of each GPU for each channel: beside the GPU, or, where no port is, one of its node's in turn; -1 within one node.
    cables : Cables, optional
        Given where servers are cabled to each other; then these say the ports.
    relayed : bool
        A message leaves its node by the port of the GPU there that stands on the receiver's rail: NCCL's PXN.
    """

    job: JobWiring
    port: NDArray[np.int32]
    cables: Cables | None
    relayed: bool = False

    @property
    def channels(self) -> int:
        """Number of channels: ports of a GPU that can be used side by side."""
        return len(self.port)

    def edges(
        self, sender: NDArray[np.integer], receiver: NDArray[np.integer], channel: int | NDArray[np.integer]
    ) -> Edges:
        """Return the edges between pairs of places; *channel* is one for all or one a pair.

        Raises
        ------
        UnbuildableError
            If servers are cabled to each other and two that need it are not.
        """
        apart = self.job.node[sender] != self.job.node[receiver]
        if self.cables is None:
            leaves = self._relay(sender, receiver) if self.relayed else sender
            exits = np.where(apart, self.port[channel, leaves], -1).astype(np.int32)
            entries = np.where(apart, self.port[channel, receiver], -1).astype(np.int32)
        else:
            exits, entries = (np.full(len(apart), -1, np.int32) for _ in range(2))
            pick = np.broadcast_to(np.asarray(channel), len(apart))[apart] + self.job.local[sender][apart]
            exits[apart], entries[apart] = cable_ports(
                self.job, self.cables, self.job.node[sender][apart], self.job.node[receiver][apart], pick
            )
        return Edges(self.job.gpu[sender], self.job.gpu[receiver], exits, entries)

    def _relay(self, sender: NDArray[np.integer], receiver: NDArray[np.integer]) -> NDArray[np.int64]:
        """Return the places in the senders' nodes that stand on the receivers' rails."""
        nodes, node = self.job.nodes, self.job.node[sender]
        place: NDArray[np.int64] = nodes.first[node] + self.job.local[receiver] % nodes.size[node]
        return place


def lay_gpu_ports(job: JobWiring) -> GpuPorts:
    """Return the ports of the GPUs of a job.

    Raises
    ------
    UnbuildableError
        If a node has no port.
    """
    if len(job.nodes) == 1:
        return GpuPorts(job, np.full((1, len(job.gpu)), -1, np.int32), None)
    linked, _, direct = job_links(job.cluster, job.nodes, job.fabric)
    if direct.any():
        return GpuPorts(job, np.full((1, len(job.gpu)), -1, np.int32), job_cables(job))
    node, port = own_ports(job.cluster, job.inside, job.nodes, linked)
    return GpuPorts(job, _spread_ports(job, node, port), None)


def check_all_pairs(ports: GpuPorts) -> None:
    """Refuse an exchange of all with all over servers that are cabled to each other, but not each to each.

    Raises
    ------
    UnbuildableError
    """
    if ports.cables is None:
        return
    count = len(ports.job.nodes)
    start, end = np.divmod(ports.cables.groups.key, count)
    reached = np.bincount(start[start != end], minlength=count)
    if (reached < count - 1).any():
        lonely = int(reached.argmin())
        other = np.delete(np.arange(count), lonely)
        cable_ports(ports.job, ports.cables, np.full(count - 1, lonely), other, 0)


def _spread_ports(job: JobWiring, port_node: NDArray[np.int64], port: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return the ports of GPUs plane by plane where each GPU is on several: a message can't change planes on its way."""
    place_of_gpu = np.full(len(job.inside.gpu_pcie) + 1, -1, np.int64)
    place_of_gpu[job.gpu] = np.arange(len(job.gpu))
    place = np.where(job.inside.port_gpu[port] >= 0, place_of_gpu[job.inside.port_gpu[port]], -1)
    plane = np.maximum(job.cluster.ports.plane[port], 0).astype(np.int64)
    names = np.unique(plane)
    pairs = np.unique(place[place >= 0] * (int(names[-1]) + 1) + plane[place >= 0])
    most = np.bincount(pairs // (int(names[-1]) + 1)).max(initial=0)
    # A plane that a whole node has lost is of no use to the job.
    shared = [p for p in names if len(np.unique(port_node[plane == p])) == len(job.nodes)]
    if most < len(names) or len(names) == 1 or not shared:
        return _ports_in_turn(job, port_node, port, place)
    return np.concatenate(
        [_ports_in_turn(job, port_node[on], port[on], place[on]) for on in (plane == p for p in shared)]
    )[:MAX_CHANNELS]


def _ports_in_turn(
    job: JobWiring, port_node: NDArray[np.int64], port: NDArray[np.int32], place: NDArray[np.int64]
) -> NDArray[np.int32]:
    own, beside = group_rows(port_node), group_rows(place)
    first, held = find_groups(beside, np.arange(len(job.gpu)))
    channels = min(int(held[held > 0].min(initial=MAX_CHANNELS)), MAX_CHANNELS) if held.any() else 1
    node_first, node_held = find_groups(own, job.node)
    chosen = np.empty((channels, len(job.gpu)), np.int32)
    for channel in range(channels):
        instead = own.row[node_first + (job.local * channels + channel) % node_held]
        mine = beside.row[np.minimum(first + channel, len(beside.row) - 1)]
        chosen[channel] = port[np.where(held > 0, mine, instead)]
    return chosen


def job_cables(job: JobWiring) -> Cables | None:
    """Return the cables between the servers of a job, None where switches stand between them."""
    here, there, direct = job_links(job.cluster, job.nodes, job.fabric)
    if not direct.any():
        return None
    here, there = here[direct], there[direct]
    start = job.nodes.node_of_device[job.cluster.ports.device[here]]
    end = job.nodes.node_of_device[job.cluster.ports.device[there]]
    known = end >= 0
    return Cables(group_rows((start * len(job.nodes) + end)[known]), here[known], there[known])


def cable_ports(
    job: JobWiring,
    cables: Cables,
    start: NDArray[np.int64],
    end: NDArray[np.int64],
    pick: NDArray[np.integer] | int,
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return the ports of cable number *pick* (counted round) from each node *start* to *end*.

    Raises
    ------
    UnbuildableError
        If there is none.
    """
    first, count = find_groups(cables.groups, start * len(job.nodes) + end)
    if (count == 0).any():
        lost = int(np.flatnonzero(count == 0)[0])
        raise UnbuildableError(
            f"cluster {printable(job.cluster.name)}: nodes {start[lost]} and {end[lost]} exchange data and have no direct link",
            "a full mesh, or a fabric with switches",
        )
    row = cables.groups.row[first + pick % count]
    return cables.exit_port[row], cables.entry_port[row]
