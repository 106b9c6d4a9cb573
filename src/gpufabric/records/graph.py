"""The graph that every prediction runs on: CSR arrays of directed links with nominal rates."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Graph:
    """A directed graph in compressed-sparse-row form.

    Links ``first_out[v] .. first_out[v + 1] - 1`` leave vertex *v*; ``link_from`` is therefore sorted.
    Rates are nominal and one direction; a full-duplex cable is two links.

    Attributes
    ----------
    first_out : int64 array, V + 1
    link_from, link_to : int32 arrays, E
        Vertices.
    bytes_per_s : float64 array, E
    latency_s : float64 array, E
        Propagation plus the forwarding latency of the vertex that the link enters.
    vertex_device : int32 array, V
        Device of the cluster, or of the server that the vertex is inside.
    vertex_kind : int8 array, V
        A :class:`VertexKind`.
    cable_link : int32 array, (L, 2)
        For each link of the cluster its two directed links: a→b and b→a.
    gpu_vertex : int32 array, one a GPU
        Vertex of each GPU of the cluster (the server's vertex in a fabric-level graph).
    """

    first_out: NDArray[np.int64]
    link_from: NDArray[np.int32]
    link_to: NDArray[np.int32]
    bytes_per_s: NDArray[np.float64]
    latency_s: NDArray[np.float64]
    vertex_device: NDArray[np.int32]
    vertex_kind: NDArray[np.int8]
    cable_link: NDArray[np.int32]
    gpu_vertex: NDArray[np.int32]

    @property
    def vertices(self) -> int:
        """Number of vertices."""
        return len(self.first_out) - 1

    @property
    def links(self) -> int:
        """Number of directed links."""
        return len(self.link_from)


@dataclass(frozen=True, slots=True)
class Inside:
    """Where the GPUs and network ports of a cluster hang in a GPU-level graph.

    Attributes
    ----------
    scale_up_out, scale_up_in : int32 arrays, one a GPU
        Directed links GPU → scale-up switch and back; -1 where there is no such switch.
    gpu_pcie : int32 array, one a GPU
        Vertex of the PCIe switch or root port; the server's own vertex where the part names none.
    port_vertex, port_pcie : int32 arrays, one a port
        Vertex of the NIC and of its PCIe switch; the device's own vertex where the NIC is not known.
    port_gpu : int32 array, one a port
        GPU that the port's NIC stands beside; -1 where there is none.
    """

    scale_up_out: NDArray[np.int32]
    scale_up_in: NDArray[np.int32]
    gpu_pcie: NDArray[np.int32]
    port_vertex: NDArray[np.int32]
    port_pcie: NDArray[np.int32]
    port_gpu: NDArray[np.int32]


class VertexKind:
    """What a vertex stands for."""

    SERVER = 0
    SWITCH = 1
    GPU = 2
    NIC = 3
    PCIE = 4
    SCALE_UP = 5
