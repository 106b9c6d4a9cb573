"""Flows with sizes that start at given times or after each other, and what becomes of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gpufabric.records.flows import Flows


@dataclass(frozen=True, slots=True)
class TimedFlows:
    """Flows that need not start together, of one job or several. F flows.

    Attributes
    ----------
    flows : Flows
        ``latency_s`` is the time from the last byte's leaving to its arriving.
    flow_bytes : float64 array, F
        0 or more.
    start_s : float64 array, F
        No flow starts before this.
    before, after : int64 arrays, D
        Flow ``after[d]`` starts when flow ``before[d]`` has arrived, and all others that it is paired with.
    """

    flows: Flows
    flow_bytes: NDArray[np.float64]
    start_s: NDArray[np.float64]
    before: NDArray[np.int64]
    after: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class TimedFlowTimes:
    """What a simulator says of timed flows; infinite for what never happens because a link on the way has no rate.

    Attributes
    ----------
    begin_s : float64 array, F
    sent_s : float64 array, F
        When the last byte has left.
    arrived_s : float64 array, F
        When it has arrived, latency included.
    bytes_per_s : float64 array, F
        Rate of each flow when it began; infinite when nothing held it back.
    bottleneck : int32 array, F
        The link that held it back then; -1 when none did.
    """

    begin_s: NDArray[np.float64]
    sent_s: NDArray[np.float64]
    arrived_s: NDArray[np.float64]
    bytes_per_s: NDArray[np.float64]
    bottleneck: NDArray[np.int32]

    @property
    def total_s(self) -> float:
        """When the last flow has arrived."""
        return float(self.arrived_s.max(initial=0.0))
