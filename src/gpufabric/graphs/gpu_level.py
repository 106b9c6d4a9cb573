"""Cluster → graph that shows the inside of every server: GPUs, PCIe switches, NICs, scale-up switches."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gpufabric.errors import PartError
from gpufabric.graphs.directed_links import DirectedLinks, first_links, sort_links
from gpufabric.graphs.fabric_level import cable_block
from gpufabric.graphs.server_template import DOMAIN, HOST, ServerTemplate, make_template
from gpufabric.records.cluster import Cluster, DeviceKind
from gpufabric.records.graph import Graph, Inside, VertexKind
from gpufabric.records.parts import ServerPart
from gpufabric.units import counted


@dataclass(frozen=True, slots=True)
class _Placed:
    """A template, the servers that it stands for, and the first inside vertex of each of them."""

    template: ServerTemplate
    devices: NDArray[np.int32]
    first_vertex: NDArray[np.int64]
    domain_vertex: NDArray[np.int64]

    def vertices(
        self, local: NDArray[np.int32], rows: NDArray[np.intp] | slice = slice(None)
    ) -> NDArray[np.int64]:
        """Return the graph's vertices of template vertices, for the servers *rows*: shape (servers, len(local))."""
        inside = self.first_vertex[rows][:, None] + local
        outside = np.where(local == HOST, self.devices[rows][:, None], self.domain_vertex[rows][:, None])
        return np.where(local >= 0, inside, outside)


def build_gpu_graph(
    cluster: Cluster, server_parts: Mapping[str, ServerPart], latency_s: NDArray[np.float64]
) -> tuple[Graph, Inside]:
    """Return the graph whose first vertices are the devices of *cluster*, followed by the insides of the servers.

    Links inside a server have latency 0: the latencies that NCCL publishes for a hop contain them.

    Parameters
    ----------
    cluster : Cluster
    server_parts : mapping of part id to ServerPart
        Parts of all servers that have GPUs.
    latency_s : float64 array, (L, 2)
        As :func:`gpufabric.graphs.link_latency.link_latencies` returns them.

    Raises
    ------
    PartError
        If a server with GPUs has a part that is not in *server_parts*, or other than its part's number of GPUs.
    InputError
        If the cluster is too large for the graph's indices.
    """
    placed, vertices = _place(cluster, server_parts)
    port_vertex, port_pcie, port_gpu = _ports(cluster, placed)
    ports = cluster.links.port_a, cluster.links.port_b
    blocks = [_inside_block(p) for p in placed]
    inside_links = sum(len(b.start) for b in blocks)
    blocks.append(cable_block(cluster, latency_s, port_vertex[ports[0]], port_vertex[ports[1]]))
    links, place = sort_links(blocks, vertices)
    kind, device, gpu_vertex = _vertex_columns(cluster, placed, vertices)
    graph = Graph(
        first_out=first_links(links, vertices),
        link_from=links.start,
        link_to=links.end,
        bytes_per_s=links.bytes_per_s,
        latency_s=links.latency_s,
        vertex_device=device,
        vertex_kind=kind,
        cable_link=place[inside_links:].reshape(2, -1).T.astype(np.int32),
        gpu_vertex=gpu_vertex,
    )
    out, back, gpu_pcie = _gpu_columns(cluster, placed, place)
    return graph, Inside(out, back, gpu_pcie, port_vertex, port_pcie, port_gpu)


def _place(cluster: Cluster, server_parts: Mapping[str, ServerPart]) -> tuple[list[_Placed], int]:
    devices, gpus = cluster.devices, cluster.gpus
    with_gpus = np.bincount(gpus.host, minlength=len(devices))
    next_vertex, placed = len(devices), []
    # A server that only has network ports (storage, say) stays one vertex unless its part is known to have GPUs.
    for index in np.unique(devices.part[with_gpus > 0]):
        part_id = cluster.parts[index] if index >= 0 else "unknown"
        part = server_parts.get(part_id)
        if part is None:
            raise PartError(
                f'server part "{part_id}" is not known; its inside is needed; add it to the parts folder'
            )
        mine = np.flatnonzero((devices.part == index) & (with_gpus > 0)).astype(np.int32)
        if (with_gpus[mine] != len(part.gpus)).any():
            found = int(with_gpus[mine][with_gpus[mine] != len(part.gpus)][0])
            raise PartError(
                f"{part_id}: {counted(found, 'GPU')} in a server; its part has {len(part.gpus)}; correct the part"
            )
        template = make_template(part)
        size = len(template.kind)
        first = next_vertex + size * np.arange(len(mine), dtype=np.int64)
        placed.append(_Placed(template, mine, first, np.full(len(mine), -1, np.int64)))
        next_vertex += size * len(mine)
    domain_of = np.full(len(devices), -1, np.int64)
    domain_of[gpus.host] = gpus.domain
    shared = [p for p in placed if p.template.scale_up == DOMAIN]
    names = (
        np.unique(np.concatenate([domain_of[p.devices] for p in shared])) if shared else np.empty(0, np.int64)
    )
    for p in shared:
        p.domain_vertex[:] = next_vertex + np.searchsorted(names, domain_of[p.devices])
    return placed, next_vertex + len(names)


def _inside_block(placed: _Placed) -> DirectedLinks:
    template, servers = placed.template, len(placed.devices)
    return DirectedLinks(
        placed.vertices(template.start).ravel().astype(np.int32),
        placed.vertices(template.end).ravel().astype(np.int32),
        np.tile(template.bytes_per_s, servers),
        np.zeros(servers * len(template.start)),
    )


def _ports(
    cluster: Cluster, placed: list[_Placed]
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]:
    """Return the NIC vertex, the PCIe vertex and the neighbouring GPU of each port."""
    ports = cluster.ports
    vertex, pcie = ports.device.copy(), ports.device.copy()
    gpu = np.full(len(ports), -1, np.int32)
    first_gpu = np.full(len(cluster.devices), -1, np.int64)
    first_gpu[cluster.gpus.host] = np.arange(len(cluster.gpus)) - cluster.gpus.local
    row_of = np.full(len(cluster.devices), -1, np.int64)
    for p in placed:
        nics = len(p.template.nic_pcie)
        row_of[:] = -1
        row_of[p.devices] = np.arange(len(p.devices))
        mine = np.flatnonzero((row_of[ports.device] >= 0) & (ports.nic >= 0) & (ports.nic < nics))
        row, nic = row_of[ports.device[mine]], ports.nic[mine]
        size = len(p.template.kind) - int(p.template.scale_up is not None and p.template.scale_up >= 0)
        vertex[mine] = p.first_vertex[row] + size - nics + nic
        local = p.template.nic_pcie[nic]
        pcie[mine] = np.where(local >= 0, p.first_vertex[row] + local, ports.device[mine])
        beside = p.template.nic_gpu[nic]
        gpu[mine] = np.where(beside >= 0, first_gpu[ports.device[mine]] + beside, -1)
    return vertex, pcie, gpu


def _vertex_columns(
    cluster: Cluster, placed: list[_Placed], vertices: int
) -> tuple[NDArray[np.int8], NDArray[np.int32], NDArray[np.int32]]:
    """Return kind and device of each vertex and the vertex of each GPU."""
    devices = len(cluster.devices)
    kind = np.full(vertices, VertexKind.SCALE_UP, np.int8)
    device = np.zeros(vertices, np.int32)
    switch = cluster.devices.kind == DeviceKind.SWITCH
    kind[:devices] = np.where(switch, VertexKind.SWITCH, VertexKind.SERVER)
    device[:devices] = np.arange(devices)
    first = np.zeros(devices, np.int64)
    for p in placed:
        size, begin = len(p.template.kind), int(p.first_vertex[0])
        block = slice(begin, begin + size * len(p.devices))
        kind[block] = np.tile(p.template.kind, len(p.devices))
        device[block] = np.repeat(p.devices, size)
        device[p.domain_vertex[::-1][p.domain_vertex[::-1] >= 0]] = p.devices[::-1][
            p.domain_vertex[::-1] >= 0
        ]
        first[p.devices] = p.first_vertex
    return kind, device, (first[cluster.gpus.host] + cluster.gpus.local).astype(np.int32)


def _gpu_columns(
    cluster: Cluster, placed: list[_Placed], place: NDArray[np.int64]
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]:
    """Return each GPU's links to and from its scale-up switch, and its PCIe vertex."""
    shape = len(cluster.devices), int(cluster.gpus.local.max(initial=0)) + 1
    out, back, pcie = (np.full(shape, -1, np.int64) for _ in range(3))
    block = 0
    for p in placed:
        template, gpus = p.template, p.template.gpus
        rows = block + len(template.start) * np.arange(len(p.devices), dtype=np.int64)[:, None]
        if template.scale_up is not None:
            # Each full-duplex link stands twice, half the template apart; those to the scale-up switch are in order of GPU.
            leaving = np.flatnonzero((template.end == template.scale_up) & (template.start < gpus))
            half = len(template.start) // 2
            out[p.devices, :gpus] = place[rows + leaving]
            back[p.devices, :gpus] = place[rows + leaving + half]
        pcie[p.devices, :gpus] = p.vertices(template.gpu_pcie)
        block += len(template.start) * len(p.devices)
    at = cluster.gpus.host, cluster.gpus.local
    return out[at].astype(np.int32), back[at].astype(np.int32), pcie[at].astype(np.int32)
