"""Pairs of GPUs of one server, or a GPU and a port → the links inside the server that lie between them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gpufabric.errors import UnbuildableError
from gpufabric.graphs.directed_links import LinkIndex, find_links
from gpufabric.records.graph import Graph, Inside, VertexKind

Crossed = tuple[NDArray[np.int64], NDArray[np.int64]]
"""Links, and for each the row of the pair that crosses it."""


def gpu_to_gpu(
    graph: Graph, inside: Inside, index: LinkIndex, sender: NDArray[np.integer], receiver: NDArray[np.integer]
) -> Crossed:
    """Return the links that the pairs use, one row for each link of each pair, and the pair of each row.

    Over the scale-up switch where both hang on one, else over the direct link, else over a third GPU that has links to both
    (NCCL's PATH_NVB; of several the one whose slower link is fastest), else over PCIe.

    Parameters
    ----------
    graph, inside, index
        A GPU-level graph and its indices.
    sender, receiver : integer arrays, one a pair
        GPUs of the cluster; no pair is a GPU with itself.

    Raises
    ------
    UnbuildableError
        If two GPUs have no way to each other inside the server.
    """
    out, back = inside.scale_up_out[sender], inside.scale_up_in[receiver]
    switched = (out >= 0) & (back >= 0)
    switched &= np.where(switched, graph.link_to[out] == graph.link_from[back], False)
    pair = np.flatnonzero(switched)
    parts = [(out[switched].astype(np.int64), pair), (back[switched].astype(np.int64), pair)]
    if not switched.all():
        pair = np.flatnonzero(~switched)
        direct = find_links(index, graph.gpu_vertex[sender[pair]], graph.gpu_vertex[receiver[pair]])
        parts.append((direct[direct >= 0], pair[direct >= 0]))
        pair = pair[direct < 0]
        relayed, row = _over_a_gpu(
            graph, index, graph.gpu_vertex[sender[pair]], graph.gpu_vertex[receiver[pair]]
        )
        parts.append((relayed, pair[row]))
        pair = np.delete(pair, row)
        left, right = sender[pair], receiver[pair]
        rise = graph.gpu_vertex[left], inside.gpu_pcie[left]
        links, row = _over_pcie(graph, index, rise, (inside.gpu_pcie[right], graph.gpu_vertex[right]))
        parts.append((links, pair[row]))
    return _joined(parts)


def _over_a_gpu(graph: Graph, index: LinkIndex, start: NDArray[np.int32], end: NDArray[np.int32]) -> Crossed:
    """Return both links of the pairs of vertices that a third GPU joins, and the row of each."""
    first, ways = graph.first_out[start], np.diff(graph.first_out)[start]
    best = np.zeros(len(start))
    there, onward = (np.full(len(start), -1, np.int64) for _ in range(2))
    for way in range(int(ways.max(initial=0))):
        row = np.flatnonzero(ways > way)
        link = first[row].astype(np.int64) + way
        beside = graph.vertex_kind[graph.link_to[link]] == VertexKind.GPU
        row, link = row[beside], link[beside]
        second = find_links(index, graph.link_to[link], end[row])
        rate = np.where(second >= 0, np.minimum(graph.bytes_per_s[link], graph.bytes_per_s[second]), 0.0)
        better = rate > best[row]
        row = row[better]
        best[row], there[row], onward[row] = rate[better], link[better], second[better]
    found = np.flatnonzero(there >= 0)
    return np.concatenate([there[found], onward[found]]), np.tile(found, 2)


def gpu_to_port(
    graph: Graph, inside: Inside, index: LinkIndex, gpu: NDArray[np.integer], port: NDArray[np.integer]
) -> Crossed:
    """Return the links from each GPU to the NIC of its port, and the row of the pair that each is for.

    Raises
    ------
    UnbuildableError
        If GPU and NIC have no way to each other inside the server.
    """
    return _over_pcie(
        graph,
        index,
        (graph.gpu_vertex[gpu], inside.gpu_pcie[gpu]),
        (inside.port_pcie[port], inside.port_vertex[port]),
    )


def port_to_gpu(
    graph: Graph, inside: Inside, index: LinkIndex, port: NDArray[np.integer], gpu: NDArray[np.integer]
) -> Crossed:
    """Return the links from the NIC of each port to its GPU; raises as :func:`gpu_to_port` does."""
    return _over_pcie(
        graph,
        index,
        (inside.port_vertex[port], inside.port_pcie[port]),
        (inside.gpu_pcie[gpu], graph.gpu_vertex[gpu]),
    )


def _over_pcie(
    graph: Graph,
    index: LinkIndex,
    rise: tuple[NDArray[np.int32], NDArray[np.int32]],
    fall: tuple[NDArray[np.int32], NDArray[np.int32]],
) -> Crossed:
    """Return the links of end → PCIe switch → (CPU → PCIe switch) → end."""
    host_up, host_down = graph.vertex_device[rise[0]], graph.vertex_device[fall[1]]
    same = rise[1] == fall[0]
    if (~same & (host_up != host_down)).any():
        raise UnbuildableError(
            "two GPUs of one scale-up domain are in different servers and share no scale-up switch"
        )
    everyone, far = np.arange(len(same)), np.flatnonzero(~same)
    return _joined(
        [
            _hop(index, everyone, rise[0], rise[1]),
            _hop(index, everyone, fall[0], fall[1]),
            _hop(index, far, rise[1][far], host_up[far]),
            _hop(index, far, host_down[far], fall[0][far]),
        ]
    )


def _hop(
    index: LinkIndex, row: NDArray[np.int64], start: NDArray[np.int32], end: NDArray[np.int32]
) -> Crossed:
    apart = start != end
    found = find_links(index, start[apart], end[apart])
    if (found < 0).any():
        raise UnbuildableError(
            "a GPU or NIC has no PCIe way to the rest of its server; correct the server part's inside"
        )
    return found, row[apart]


def _joined(parts: list[Crossed]) -> Crossed:
    return np.concatenate([links for links, _ in parts]), np.concatenate([rows for _, rows in parts])
