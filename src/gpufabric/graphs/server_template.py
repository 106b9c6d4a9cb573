"""A server part → the vertices and links of its inside, once for all servers of that part."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gpufabric.records.graph import VertexKind
from gpufabric.records.parts import ServerPart

HOST = -1
DOMAIN = -2


@dataclass(frozen=True, slots=True)
class ServerTemplate:
    """The inside of one server, numbered from 0.

    GPUs come first, then PCIe switches, NICs and the scale-up switch. ``HOST`` stands for the server's own vertex (its CPUs),
    ``DOMAIN`` for a scale-up switch that it shares with other servers.

    Attributes
    ----------
    kind : int8 array, one a vertex
    start, end : int32 arrays, one a directed link
    bytes_per_s : float64 array, one a directed link
    gpu_pcie, nic_pcie : int32 arrays, one a GPU and one a NIC
    nic_gpu : int32 array, one a NIC
        Index of the GPU that it stands beside; -1 where the part names none.
    gpus : int
    scale_up : int or None
        Vertex of the scale-up switch: a number, ``DOMAIN``, or None where GPUs are meshed or have none.
    """

    kind: NDArray[np.int8]
    start: NDArray[np.int32]
    end: NDArray[np.int32]
    bytes_per_s: NDArray[np.float64]
    gpu_pcie: NDArray[np.int32]
    nic_pcie: NDArray[np.int32]
    nic_gpu: NDArray[np.int32]
    gpus: int
    scale_up: int | None


def make_template(part: ServerPart) -> ServerTemplate:
    """Return the template of *part*.

    A PCIe switch reaches the CPUs at ``bytes_per_s``; a GPU and a NIC reach it at ``peer_bytes_per_s``, or at the same rate where
    the part gives none. Where the part names no PCIe switch, that way sets no limit (its rate is infinite).
    """
    gpus, pcies = len(part.gpus), len(part.pcie)
    pcie_vertex = {p.id: gpus + i for i, p in enumerate(part.pcie)}
    pcie_rate = {p.id: p.peer_bytes_per_s or p.bytes_per_s for p in part.pcie}
    pairs: list[tuple[int, int, float]] = [(pcie_vertex[p.id], HOST, p.bytes_per_s) for p in part.pcie]
    hung = [(i, gpu.pcie) for i, gpu in enumerate(part.gpus)]
    hung += [(gpus + pcies + i, nic.pcie) for i, nic in enumerate(part.nics)]
    pairs += [(v, pcie_vertex.get(p, HOST), pcie_rate.get(p, np.inf)) for v, p in hung]
    scale_up, links, switch = _scale_up(part, gpus + pcies + len(part.nics))
    pairs += links
    kinds = [VertexKind.GPU] * gpus + [VertexKind.PCIE] * pcies + [VertexKind.NIC] * len(part.nics)
    ends = np.array([(a, b) for a, b, _ in pairs], np.int32).reshape(-1, 2)
    return ServerTemplate(
        kind=np.array(kinds + [VertexKind.SCALE_UP] * switch, np.int8),
        start=np.concatenate([ends[:, 0], ends[:, 1]]),
        end=np.concatenate([ends[:, 1], ends[:, 0]]),
        bytes_per_s=np.tile(np.array([rate for _, _, rate in pairs]), 2),
        gpu_pcie=np.array([pcie_vertex.get(g.pcie, HOST) for g in part.gpus], np.int32),
        nic_pcie=np.array([pcie_vertex.get(n.pcie, HOST) for n in part.nics], np.int32),
        nic_gpu=np.array([-1 if n.gpu is None else n.gpu for n in part.nics], np.int32),
        gpus=gpus,
        scale_up=scale_up,
    )


def _scale_up(part: ServerPart, next_vertex: int) -> tuple[int | None, list[tuple[int, int, float]], int]:
    """Return the scale-up vertex, the full-duplex links of the GPUs, and how many switch vertices the server has of its own."""
    inside, gpus = part.scale_up, range(len(part.gpus))
    if inside.kind == "switched":
        vertex = DOMAIN if inside.domain_servers > 1 else next_vertex
        return vertex, [(g, vertex, inside.gpu_bytes_per_s) for g in gpus], int(vertex != DOMAIN)
    if inside.pair_links:
        one = inside.link_bytes_per_s or 0.0
        links = inside.pair_links
        return None, [(a, b, links[a][b] * one) for a in gpus for b in gpus if a < b and links[a][b]], 0
    if inside.kind == "mesh" and len(gpus) > 1:
        rate = inside.pair_bytes_per_s or inside.gpu_bytes_per_s / (len(gpus) - 1)
        return None, [(a, b, rate) for a in gpus for b in gpus if a < b], 0
    return None, [], 0
