"""Many targets and what starts for each of them → what every link carries when it is spread over all shortest ways (compiled)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gpufabric.kernels.compile_kernel import compile_kernel


@compile_kernel
def spread_many(
    first_out: NDArray[np.int64],
    end: NDArray[np.int64],
    width: NDArray[np.int64],
    hops: NDArray[np.int16],
    here: NDArray[np.float64],
    load: NDArray[np.float64],
) -> None:
    """Add to *load* what one link of each bundle carries, target by target.

    As :func:`gpufabric.kernels.shortest_ways.spread_evenly` does, without listing the ways.

    Parameters
    ----------
    first_out, end, width : int64 arrays, V + 1, B, B
        Bundles, and how many links each has.
    hops : int16 array, (T, V)
    here : float64 array, (T, V)
        What starts at each vertex for each target; overwritten.
    load : float64 array, B
    """
    targets, vertices = hops.shape
    # Vertices with something to send, by their distance: a chain each, from ``head`` over ``following``.
    head, following = np.full(vertices + 1, -1), np.empty(vertices, np.int64)
    for target in range(targets):
        away, amount = hops[target], here[target]
        farthest = 0
        for vertex in range(vertices):
            if amount[vertex] > 0.0:
                following[vertex] = head[away[vertex]]
                head[away[vertex]] = vertex
                farthest = max(farthest, away[vertex])
        for level in range(farthest, 0, -1):
            vertex = head[level]
            head[level] = -1
            while vertex >= 0:
                ways = 0
                for bundle in range(first_out[vertex], first_out[vertex + 1]):
                    if away[end[bundle]] == level - 1:
                        ways += width[bundle]
                share = amount[vertex] / ways
                for bundle in range(first_out[vertex], first_out[vertex + 1]):
                    nearer = end[bundle]
                    if away[nearer] == level - 1:
                        load[bundle] += share
                        if amount[nearer] == 0.0:
                            following[nearer] = head[level - 1]
                            head[level - 1] = nearer
                        amount[nearer] += share * width[bundle]
                vertex = following[vertex]
        head[0] = -1
