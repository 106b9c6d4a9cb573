"""Bundles of links and targets → distances, and which links lie on shortest ways.

A bundle is all parallel links from one vertex to another; bundles are in compressed-sparse-row form.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gpufabric.kernels.expand_ranges import expand_ranges

# From here on array operations, which list every way of every target, take longer than loading a compiler.
MANY_CELLS = 1 << 18
_WORD_BITS = np.dtype(np.uint64).itemsize * 8


@dataclass(frozen=True, slots=True)
class Bundles:
    """Parallel links taken together. V vertices, B bundles.

    Attributes
    ----------
    first_out : int64 array, V + 1
        Bundles ``first_out[v] .. first_out[v + 1] - 1`` leave vertex *v*.
    end : int64 array, B
        Vertex that each leads to. Every bundle must have one that leads back.
    first_link : int64 array, B + 1
        Links ``first_link[b] .. first_link[b + 1] - 1`` are those of bundle *b*.
    """

    first_out: NDArray[np.int64]
    end: NDArray[np.int64]
    first_link: NDArray[np.int64]

    @property
    def vertices(self) -> int:
        """Number of vertices."""
        return len(self.first_out) - 1

    @property
    def width(self) -> NDArray[np.int64]:
        """How many links each bundle has."""
        return np.diff(self.first_link)


def bundle_links(
    vertices: int, start: NDArray[np.integer], end: NDArray[np.integer]
) -> tuple[Bundles, NDArray[np.int64]]:
    """Return the bundles of links, and in which order the links lie in them.

    Parameters
    ----------
    vertices : int
    start, end : int arrays, L
        Ends of each directed link.

    Returns
    -------
    bundles : Bundles
    order : int64 array, L
        Link ``order[i]`` of the input is link *i* of the bundles.
    """
    key = start.astype(np.int64) * vertices + end
    order = np.argsort(key, kind="stable")
    different, first = np.unique(key[order], return_index=True)
    first_out = np.searchsorted(different, np.arange(vertices + 1, dtype=np.int64) * vertices)
    first_link = np.append(first, len(key)).astype(np.int64)
    return Bundles(first_out.astype(np.int64), different % max(1, vertices), first_link), order


def hop_distances(
    bundles: Bundles,
    target: NDArray[np.integer],
    until: tuple[NDArray[np.integer], NDArray[np.integer]] | None = None,
) -> NDArray[np.int16]:
    """Return how many links lie between each vertex and each target.

    Parameters
    ----------
    bundles
    target : int array, T
        Vertices.
    until : pair of int arrays or None
        Rows of *target* and vertices: the search ends once all of these are found, and what is farther stays -1.

    Returns
    -------
    int16 array, (T, V)
        -1 where there is no way. Breadth-first search from all targets at once, one bit a target (Then et al., The More the
        Merrier: Efficient Multi-Source Graph Traversal, VLDB 2014).
    """
    vertices, count = bundles.vertices, len(target)
    hops = np.full((vertices, count), -1, np.int16)
    hops[target, np.arange(count)] = 0
    seen = np.zeros((vertices, -(-count // _WORD_BITS)), np.uint64)
    number = np.arange(count)
    bit = np.uint64(1) << (number % _WORD_BITS).astype(np.uint64)
    np.bitwise_or.at(seen, (target, number // _WORD_BITS), bit)
    linked = np.flatnonzero(np.diff(bundles.first_out))
    level = 0
    while len(linked) and not (until is not None and (hops[until[1], until[0]] >= 0).all()):
        level += 1
        around = np.bitwise_or.reduceat(seen[bundles.end], bundles.first_out[linked], axis=0)
        new = around & ~seen[linked]
        if not new.any():
            break
        seen[linked] |= around
        bits = np.unpackbits(new.view(np.uint8), axis=1, count=count, bitorder="little").view(np.bool_)
        found = hops[linked]
        np.copyto(found, level, where=bits)
        hops[linked] = found
    return np.ascontiguousarray(hops.T)


def spread_evenly(
    bundles: Bundles, hops: NDArray[np.int16], amount: NDArray[np.integer] | NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return what each link of a bundle carries when every vertex splits what it has evenly over the links of shortest ways.

    Parameters
    ----------
    bundles
    hops : int16 array, (T, V)
        What :func:`hop_distances` returned.
    amount : array, (T, V)
        What starts at each vertex for each target. It must be 0 where there is no way.

    Returns
    -------
    float64 array, B
        Sums over all targets, for one link of each bundle. From ``MANY_CELLS`` distances on by compiled code.
    """
    load, width = np.zeros(len(bundles.end)), bundles.width
    if hops.size >= MANY_CELLS:
        from gpufabric.kernels.spread_many import spread_many

        spread_many(
            bundles.first_out, bundles.end, width, np.ascontiguousarray(hops), amount.astype(np.float64), load
        )
        return load
    distance, here = hops.ravel(), amount.astype(np.float64).ravel()
    active = np.flatnonzero(here > 0)
    for level in range(int(distance[active].max(initial=0)), 0, -1):
        key = active[distance[active] == level]
        at = key % bundles.vertices
        rows, owner = expand_ranges(bundles.first_out[at], bundles.first_out[at + 1] - bundles.first_out[at])
        reached = (key - at)[owner] + bundles.end[rows]
        nearer = distance[reached] == level - 1
        rows, owner, reached = rows[nearer], owner[nearer], reached[nearer]
        share = (here[key] / np.bincount(owner, width[rows], minlength=len(key)))[owner]
        load += np.bincount(rows, share, minlength=len(load))
        active = np.union1d(active[distance[active] < level], reached)
        np.add.at(here, reached, share * width[rows])
    return load


def pick_nearer(
    bundles: Bundles,
    hops: NDArray[np.int16],
    place: tuple[NDArray[np.int64], NDArray[np.int64]],
    number: NDArray[np.int64],
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return a link for each message that brings it one hop nearer to its target, and the vertex that it leads to.

    Parameters
    ----------
    bundles, hops
        As for :func:`spread_evenly`.
    place : pair of int64 arrays, M
        Row of *hops* and vertex of each message; the vertex must not be the target and must have a way.
    number : int64 array, M
        Non-negative; modulo the number of such links it says which is taken.
    """
    row, at = place
    rows, owner = expand_ranges(bundles.first_out[at], bundles.first_out[at + 1] - bundles.first_out[at])
    nearer = hops[row[owner], bundles.end[rows]] == hops[row, at][owner] - 1
    rows, owner = rows[nearer], owner[nearer]
    width = bundles.width[rows]
    total = np.bincount(owner, width, minlength=len(at)).astype(np.int64)
    wanted = np.cumsum(total) - total + number % total
    last = np.cumsum(width)
    chosen = np.searchsorted(last, wanted, side="right")
    offset = wanted - (last - width)[chosen]
    return bundles.first_link[rows[chosen]] + offset, bundles.end[rows[chosen]]
