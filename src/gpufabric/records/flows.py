"""Flows: weighted sets of links, each with one rate."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Flows:
    """Flows over a graph, in compressed-sparse-row form.

    Flow *f* loads links ``link[first[f] : first[f + 1]]`` with ``weight`` bytes per byte of the flow; a weight may exceed 1 and the
    set need not be a path. A unicast is a path; a sprayed flow has fractional weights; a whole ring channel is one flow, so it
    runs at the rate that its fullest link allows.

    Attributes
    ----------
    first : int64 array, F + 1
    link : int32 array, N
        Directed links of the graph; a link appears at most once in a flow.
    weight : float64 array, N
    latency_s : float64 array, F
        Latency before the last byte of an empty flow arrives.
    """

    first: NDArray[np.int64]
    link: NDArray[np.int32]
    weight: NDArray[np.float64]
    latency_s: NDArray[np.float64]

    @property
    def count(self) -> int:
        """Number of flows."""
        return len(self.first) - 1
