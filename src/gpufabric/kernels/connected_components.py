"""Undirected edges → the component of each vertex."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def connected_components(
    vertices: int, end_a: NDArray[np.integer], end_b: NDArray[np.integer]
) -> NDArray[np.int64]:
    """Return, for each vertex, the smallest vertex that it is connected with.

    Parameters
    ----------
    vertices : int
        Number of vertices.
    end_a, end_b : integer arrays, E
        Ends of each edge.

    Returns
    -------
    int64 array, one a vertex

    Notes
    -----
    Labels sink along edges and pointers are halved (Shiloach and Vishkin 1982), so rounds grow with the logarithm of the
    longest path.
    """
    label = np.arange(vertices, dtype=np.int64)
    while True:
        low = np.minimum(label[end_a], label[end_b])
        sunk = label.copy()
        # The representative of each end sinks too: without it a long path needs as many rounds as it has edges.
        for end in (end_a, end_b):
            np.minimum.at(sunk, label[end], low)
            np.minimum.at(sunk, end, low)
        sunk = sunk[sunk]
        if np.array_equal(sunk, label):
            return label
        label = sunk
