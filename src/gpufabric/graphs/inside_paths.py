"""Pairs of GPUs of one server, or a GPU and a port → the links inside the server that lie between them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gpufabric.errors import UnbuildableError
from gpufabric.graphs.directed_links import LinkIndex, find_links
from gpufabric.records.graph import Graph, Inside


def gpu_to_gpu(
    graph: Graph, inside: Inside, index: LinkIndex, sender: NDArray[np.integer], receiver: NDArray[np.integer]
) -> NDArray[np.int64]:
    """Return the links that the pairs use, one row for each link of each pair.

    Over the scale-up switch where both hang on one, else over the direct link, else over PCIe.

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
    parts = [out[switched].astype(np.int64), back[switched].astype(np.int64)]
    if not switched.all():
        left, right = sender[~switched], receiver[~switched]
        direct = find_links(index, graph.gpu_vertex[left], graph.gpu_vertex[right])
        parts.append(direct[direct >= 0])
        left, right = left[direct < 0], right[direct < 0]
        parts.append(
            _over_pcie(
                graph,
                index,
                (graph.gpu_vertex[left], inside.gpu_pcie[left]),
                (inside.gpu_pcie[right], graph.gpu_vertex[right]),
            )
        )
    return np.concatenate(parts)


def gpu_to_port(
    graph: Graph, inside: Inside, index: LinkIndex, gpu: NDArray[np.integer], port: NDArray[np.integer]
) -> NDArray[np.int64]:
    """Return the links from each GPU to the NIC of its port.

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
) -> NDArray[np.int64]:
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
) -> NDArray[np.int64]:
    """Return the links of end → PCIe switch → (CPU → PCIe switch) → end."""
    host_up, host_down = graph.vertex_device[rise[0]], graph.vertex_device[fall[1]]
    same = rise[1] == fall[0]
    if (~same & (host_up != host_down)).any():
        raise UnbuildableError(
            "two GPUs of one scale-up domain are in different servers and share no scale-up switch"
        )
    hops = [_hop(index, rise[0], rise[1]), _hop(index, fall[0], fall[1])]
    up, down = rise[1][~same], fall[0][~same]
    hops += [_hop(index, up, host_up[~same]), _hop(index, host_down[~same], down)]
    return np.concatenate(hops)


def _hop(index: LinkIndex, start: NDArray[np.int32], end: NDArray[np.int32]) -> NDArray[np.int64]:
    apart = start != end
    found = find_links(index, start[apart], end[apart])
    if (found < 0).any():
        raise UnbuildableError(
            "a GPU or NIC has no PCIe way to the rest of its server; correct the server part's inside"
        )
    return found
