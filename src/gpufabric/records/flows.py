"""Flows: weighted sets of links, each with one rate; what they are made from and what becomes of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Flows:
    """Flows over a graph, in compressed-sparse-row form.

    Flow *f* loads links ``link[first[f] : first[f + 1]]`` with ``weight`` bytes per byte of the flow; a weight may exceed 1 and
    the set need not be a path. A unicast is a path; a sprayed flow has fractional weights; a whole ring channel is one flow, so
    it runs at the rate that its fullest link allows.

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


@dataclass(frozen=True, slots=True)
class PortEdges:
    """Messages between network ports. E rows.

    Attributes
    ----------
    exit_port, entry_port : int32 arrays, E
        Ports of the cluster by which the message leaves its server and enters the next one.
    key : int64 array, E
        What tells this message's packets from others', as the ports of a 5-tuple do; a hash starts from it.
    size : float64 array, E, optional
        Bytes of each message per byte of the flow; 1 when left out.
    """

    exit_port: NDArray[np.int32]
    entry_port: NDArray[np.int32]
    key: NDArray[np.int64]
    size: NDArray[np.float64] | None = None

    def sizes_of(self, edge: NDArray[np.integer]) -> NDArray[np.float64]:
        """Return the size of the message of each row of *edge*."""
        return np.ones(len(edge)) if self.size is None else self.size[edge]


@dataclass(frozen=True, slots=True)
class LinkLoads:
    """Bytes on directed links of a graph per byte of a flow. N rows; a link may appear more than once.

    Attributes
    ----------
    link : int32 array, N
    weight : float64 array, N
    edge : int64 array, N, optional
        The message that each row belongs to; None where messages were sprayed together.
    """

    link: NDArray[np.int32]
    weight: NDArray[np.float64]
    edge: NDArray[np.int64] | None = None


@dataclass(frozen=True, slots=True)
class FlowTimes:
    """What a simulator says of a set of flows that start together.

    Attributes
    ----------
    finish_s : float64 array, F
        When the last byte of each flow has arrived, latency left out.
    bytes_per_s : float64 array, F
        Rate of each flow while all of them run.
    bottleneck : int32 array, F
        The link that holds each flow back at that rate; -1 when none does.
    """

    finish_s: NDArray[np.float64]
    bytes_per_s: NDArray[np.float64]
    bottleneck: NDArray[np.int32]

    @property
    def total_s(self) -> float:
        """When the last flow has finished."""
        return float(self.finish_s.max(initial=0.0))
