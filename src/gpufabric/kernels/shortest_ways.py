"""Directed links and targets → distances, and which links lie on shortest ways. Links are in compressed-sparse-row form."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gpufabric.kernels.expand_ranges import expand_ranges


def hop_distances(
    first_out: NDArray[np.int64], link_to: NDArray[np.integer], target: NDArray[np.integer]
) -> NDArray[np.int16]:
    """Return how many links lie between each vertex and each target.

    Parameters
    ----------
    first_out : int64 array, V + 1
    link_to : int array, E
        Every link must have one that leads back, because the search goes out from the targets.
    target : int array, T
        Vertices.

    Returns
    -------
    int16 array, (T, V)
        -1 where there is no way. Breadth-first search over all targets at once, T × E steps.
    """
    vertices = len(first_out) - 1
    hops = np.full(len(target) * vertices, -1, np.int16)
    frontier = np.arange(len(target), dtype=np.int64) * vertices + target
    level = 0
    while len(frontier):
        hops[frontier] = level
        level += 1
        at = frontier % vertices
        rows, owner = expand_ranges(first_out[at], first_out[at + 1] - first_out[at])
        reached = (frontier - at)[owner] + link_to[rows]
        reached = reached[hops[reached] < 0]
        hops[reached] = level
        frontier = np.flatnonzero(hops == level)
    return hops.reshape(len(target), vertices)


def spread_evenly(
    first_out: NDArray[np.int64],
    link_to: NDArray[np.integer],
    hops: NDArray[np.int16],
    amount: NDArray[np.integer] | NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return what each link carries when every vertex splits what it has evenly over the links of shortest ways.

    Parameters
    ----------
    first_out, link_to
        As for :func:`hop_distances`.
    hops : int16 array, (T, V)
        What :func:`hop_distances` returned.
    amount : array, (T, V)
        What starts at each vertex for each target. It must be 0 where there is no way.

    Returns
    -------
    float64 array, E
        Sums over all targets.
    """
    vertices = len(first_out) - 1
    distance, here = hops.ravel(), amount.astype(np.float64).ravel()
    load = np.zeros(len(link_to))
    for level in range(int(distance.max(initial=0)), 0, -1):
        key = np.flatnonzero((distance == level) & (here > 0))
        at = key % vertices
        rows, owner = expand_ranges(first_out[at], first_out[at + 1] - first_out[at])
        reached = (key - at)[owner] + link_to[rows]
        nearer = distance[reached] == level - 1
        rows, owner, reached = rows[nearer], owner[nearer], reached[nearer]
        share = (here[key] / np.bincount(owner, minlength=len(key)))[owner]
        load += np.bincount(rows, share, minlength=len(load))
        np.add.at(here, reached, share)
    return load


def pick_nearer(
    first_out: NDArray[np.int64],
    link_to: NDArray[np.integer],
    hops: NDArray[np.int16],
    place: tuple[NDArray[np.int64], NDArray[np.int64]],
    number: NDArray[np.int64],
) -> NDArray[np.int64]:
    """Return one link for each message that brings it one hop nearer to its target.

    Parameters
    ----------
    first_out, link_to, hops
        As for :func:`spread_evenly`.
    place : pair of int64 arrays, M
        Row of *hops* and vertex of each message; the vertex must not be the target and must have a way.
    number : int64 array, M
        Non-negative; modulo the number of such links it says which is taken.
    """
    row, at = place
    links, owner = expand_ranges(first_out[at], first_out[at + 1] - first_out[at])
    nearer = hops[row[owner], link_to[links]] == hops[row, at][owner] - 1
    links, owner = links[nearer], owner[nearer]
    count = np.bincount(owner, minlength=len(at))
    chosen: NDArray[np.int64] = links[np.cumsum(count) - count + number % count]
    return chosen
