"""A small undirected network with two terminals → its least cut."""

from __future__ import annotations

from collections import deque

import numpy as np
from numpy.typing import NDArray

_SMALL = 1e-12


def min_cut(
    source_rate: NDArray[np.float64],
    sink_rate: NDArray[np.float64],
    end_a: NDArray[np.integer],
    end_b: NDArray[np.integer],
    rate: NDArray[np.float64],
) -> float:
    """Return the least capacity that separates the source from the sink.

    Parameters
    ----------
    source_rate, sink_rate : float64 arrays, V
        Capacity between each vertex and the source, and the sink.
    end_a, end_b : integer arrays, E
        Ends of each undirected edge.
    rate : float64 array, E
        Capacity of each edge, in each direction.

    Returns
    -------
    float

    Notes
    -----
    Maximum flow by shortest augmenting levels (Dinic 1970): at most V rounds, few in shallow networks. Plain Python, for networks
    of some thousand edges at most.
    """
    vertices = len(source_rate)
    # What the source can push straight through a vertex into the sink needs no search.
    through = np.minimum(source_rate, sink_rate)
    network = _Network(
        vertices + 2, _SMALL * max(float(source_rate.max(initial=0)), float(sink_rate.max(initial=0)))
    )
    for vertex, (out, back) in enumerate(zip(source_rate - through, sink_rate - through, strict=True)):
        network.join(vertices, vertex, float(out), 0.0)
        network.join(vertex, vertices + 1, float(back), 0.0)
    for a, b, amount in zip(end_a.tolist(), end_b.tolist(), rate.tolist(), strict=True):
        network.join(a, b, amount, amount)
    return float(through.sum()) + network.flow(vertices, vertices + 1)


class _Network:
    """Residual capacities; the arc opposite to arc *i* is ``i ^ 1``."""

    def __init__(self, vertices: int, least: float) -> None:
        self._least = least
        self._arcs: list[list[int]] = [[] for _ in range(vertices)]
        self._to: list[int] = []
        self._room: list[float] = []

    def join(self, a: int, b: int, forth: float, back: float) -> None:
        if a == b or max(forth, back) <= self._least:
            return
        for here, there, room in ((a, b, forth), (b, a, back)):
            self._arcs[here].append(len(self._to))
            self._to.append(there)
            self._room.append(room)

    def flow(self, source: int, sink: int) -> float:
        total = 0.0
        while True:
            level = self._levels(source)
            if level[sink] < 0:
                return total
            first = [0] * len(self._arcs)
            while (pushed := self._push(source, sink, level, first)) > self._least:
                total += pushed

    def _levels(self, source: int) -> list[int]:
        level = [-1] * len(self._arcs)
        level[source] = 0
        queue = deque([source])
        while queue:
            here = queue.popleft()
            for arc in self._arcs[here]:
                there = self._to[arc]
                if level[there] < 0 and self._room[arc] > self._least:
                    level[there] = level[here] + 1
                    queue.append(there)
        return level

    def _push(self, source: int, sink: int, level: list[int], first: list[int]) -> float:
        """Push along one path of rising levels; ``first`` remembers the arcs that lead nowhere."""
        path: list[int] = []
        here = source
        while here != sink:
            arcs = self._arcs[here]
            while first[here] < len(arcs):
                arc = arcs[first[here]]
                if self._room[arc] > self._least and level[self._to[arc]] == level[here] + 1:
                    break
                first[here] += 1
            else:
                if here == source:
                    return 0.0
                here = self._to[path.pop() ^ 1]
                first[here] += 1
                continue
            path.append(arc)
            here = self._to[arc]
        amount = min(self._room[arc] for arc in path)
        for arc in path:
            self._room[arc] -= amount
            self._room[arc ^ 1] += amount
        return amount
