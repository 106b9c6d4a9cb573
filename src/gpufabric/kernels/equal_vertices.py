"""Coloured vertices and labelled edges → classes of vertices whose neighbourhoods are alike to any depth."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gpufabric.kernels.hash_mix import hash_mix

# Sums of fewer than 2^17 hashes of 36 bits stay below 2^53, so they are exact as floats and do not depend on their order.
_HASH_BITS = 36


def equal_vertices(
    colour: NDArray[np.integer],
    end_a: NDArray[np.integer],
    end_b: NDArray[np.integer],
    label: NDArray[np.int64],
) -> NDArray[np.int64]:
    """Return the class of each vertex in the coarsest partition in which equal vertices have equal neighbourhoods.

    Vertices of a class have the same colour and, for each class and label, equally many edges with that label to that class.

    Parameters
    ----------
    colour : integer array, V
        What vertices are told apart by at the start.
    end_a, end_b : integer arrays, E
        Ends of each edge, whose direction counts.
    label : int64 array, E
        What edges are told apart by.

    Returns
    -------
    int64 array, V, numbered from 0 without gaps

    Notes
    -----
    Colour refinement (Weisfeiler and Leman 1968), with the multiset of neighbours as a sum of hashes. Two different multisets
    have the same sum with a chance below 2⁻³⁰; vertices of up to 2¹⁷ edges are summed exactly.
    """
    classes: NDArray[np.int64] = np.unique(colour, return_inverse=True)[1].astype(np.int64)
    _, kind = np.unique(label, return_inverse=True)
    kinds = int(kind.max(initial=0)) + 1
    while True:
        count = int(classes.max(initial=-1)) + 1
        up = _neighbour_sums(end_a, classes[end_b] * kinds + kind, (len(classes), count * kinds), 2)
        down = _neighbour_sums(end_b, classes[end_a] * kinds + kind, (len(classes), count * kinds), 3)
        key = hash_mix(classes, 4) ^ hash_mix(up, 5) ^ hash_mix(down, 6)
        finer: NDArray[np.int64] = np.unique(key, return_inverse=True)[1].astype(np.int64)
        if int(finer.max(initial=-1)) + 1 == count:
            return classes
        classes = finer


def row_sums(
    rows: int, row: NDArray[np.integer], content: NDArray[np.integer], salt: int
) -> NDArray[np.int64]:
    """Return for each row a number that is the same for rows with equal multisets of contents (see the notes above).

    Parameters
    ----------
    rows : int
        Number of rows.
    row, content : integer arrays, N
        Row of each entry and what stands in it.
    salt : int
        Another salt gives other numbers.

    Returns
    -------
    int64 array, one a row
    """
    sums: NDArray[np.int64] = np.bincount(
        row, _short_hash(content.astype(np.int64), salt), minlength=rows
    ).astype(np.int64)
    return sums


def _neighbour_sums(
    here: NDArray[np.integer], neighbour: NDArray[np.integer], sizes: tuple[int, int], salt: int
) -> NDArray[np.int64]:
    """Sum the hashes of neighbours: few different ones, so each is hashed once. ``sizes``: vertices, different neighbours."""
    vertices, different = sizes
    hashed = _short_hash(np.arange(different, dtype=np.int64), salt)
    return np.bincount(here, hashed[neighbour], minlength=vertices).astype(np.int64)


def _short_hash(content: NDArray[np.int64], salt: int) -> NDArray[np.float64]:
    shifted: NDArray[np.uint64] = hash_mix(content, salt) >> np.uint64(64 - _HASH_BITS)
    return shifted.astype(np.float64)
