"""Flows with bytes → times by fluid simulation: max-min fair rates, shared anew whenever a flow ends."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gpufabric.kernels.max_min import max_min_rates
from gpufabric.records.flows import Flows, FlowTimes
from gpufabric.records.graph import Graph

_DONE = 1e-9


def run(graph: Graph, flows: Flows, flow_bytes: NDArray[np.float64]) -> FlowTimes:
    """Return when each flow ends if all start together and share the links max-min fairly.

    Parameters
    ----------
    graph : Graph
    flows : Flows
    flow_bytes : float64 array, F

    Returns
    -------
    FlowTimes
        Rates and bottlenecks are those at the start, while all flows run.
    """
    finish = np.zeros(flows.count)
    left = flow_bytes.astype(np.float64)
    running = left > 0
    first_rates, first_bottleneck = max_min_rates(
        flows.first, flows.link, flows.weight, graph.bytes_per_s, running
    )
    rates, now = first_rates, 0.0
    while running.any():
        with np.errstate(divide="ignore"):
            need = np.where(running, left / np.where(running, rates, 1.0), np.inf)
        step = float(need.min())
        now += step
        ended = running & (need <= step * (1 + _DONE))
        finish[ended] = now
        running &= ~ended
        left = np.where(running, np.maximum(left - rates * step, 0.0), 0.0)
        if running.any():
            rates, _ = max_min_rates(flows.first, flows.link, flows.weight, graph.bytes_per_s, running)
    return FlowTimes(finish, first_rates, first_bottleneck)
