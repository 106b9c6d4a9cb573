"""Directed links in any order → a graph in compressed-sparse-row form."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gpufabric.errors import InputError
from gpufabric.kernels.stable_order import stable_order
from gpufabric.records.graph import Graph

MAX_VERTICES = 2**31 - 1
_LOOKS = 3


@dataclass(frozen=True, slots=True)
class DirectedLinks:
    """Directed links; all arrays have one row a link."""

    start: NDArray[np.int32]
    end: NDArray[np.int32]
    bytes_per_s: NDArray[np.float64]
    latency_s: NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class LinkIndex:
    """Finds links by their ends.

    ``key`` is start × vertices + end of each link of the graph, ascending; links ``first_out[v]`` and on leave vertex *v*.
    """

    key: NDArray[np.int64]
    first_out: NDArray[np.int64]
    vertices: int


def sort_links(blocks: list[DirectedLinks], vertices: int) -> tuple[DirectedLinks, NDArray[np.int64]]:
    """Return all links by start, then end, and for each link of the blocks, joined, where it went.

    Raises
    ------
    InputError
        If the graph is too large for its indices.
    """
    if vertices > MAX_VERTICES or sum(len(b.start) for b in blocks) > MAX_VERTICES:
        raise InputError(
            f"cluster: {vertices:,} vertices are too many for a graph; at most {MAX_VERTICES:,}; use fewer servers"
        )
    start = np.concatenate([b.start for b in blocks])
    end = np.concatenate([b.end for b in blocks])
    order = stable_order(start.astype(np.int64) * vertices + end)
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    joined = DirectedLinks(
        start[order],
        end[order],
        np.concatenate([b.bytes_per_s for b in blocks])[order],
        np.concatenate([b.latency_s for b in blocks])[order],
    )
    return joined, place


def first_links(links: DirectedLinks, vertices: int) -> NDArray[np.int64]:
    """Return the CSR offsets of sorted links."""
    counts = np.bincount(links.start, minlength=vertices)
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(counts, dtype=np.int64)])


def index_links(graph: Graph) -> LinkIndex:
    """Return what :func:`find_links` needs of *graph*."""
    key = graph.link_from.astype(np.int64) * graph.vertices + graph.link_to
    return LinkIndex(key, graph.first_out, graph.vertices)


def find_links(index: LinkIndex, start: NDArray[np.integer], end: NDArray[np.integer]) -> NDArray[np.int64]:
    """Return, for each pair of vertices, the first link from one to the other; -1 where there is none."""
    if not len(index.key):
        return np.full(len(start), -1, np.int64)
    wanted = start.astype(np.int64) * index.vertices + end
    # Inside servers few links leave a vertex, so a look at the first ones is nearly always enough, where a search in all links
    # of a large cluster waits for memory many times.
    last = len(index.key) - 1
    at = np.minimum(index.first_out[start], last)
    for _ in range(_LOOKS):
        at += index.key[at] < wanted
        np.minimum(at, last, out=at)
    beyond = np.flatnonzero(index.key[at] < wanted)
    at[beyond] = np.minimum(np.searchsorted(index.key, wanted[beyond]), last)
    return np.where(index.key[at] == wanted, at, -1)
