"""Flows of one stage → when each of them ends, links without a limit left out."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gpufabric.records.flows import Flows
from gpufabric.records.graph import Graph
from gpufabric.simulators import Simulate


def stage_times(graph: Graph, flows: Flows, simulate: Simulate) -> NDArray[np.float64]:
    """Return the seconds that one byte of the message takes in each flow: 0 for a flow that no link limits."""
    finish = np.zeros(flows.count)
    limited = np.isfinite(graph.bytes_per_s[flows.link])
    owner = np.repeat(np.arange(flows.count), np.diff(flows.first))
    length = np.bincount(owner[limited], minlength=flows.count)
    some = length > 0
    if some.any():
        first = np.concatenate([[0], np.cumsum(length[some])]).astype(np.int64)
        left = Flows(first, flows.link[limited], flows.weight[limited], flows.latency_s[some])
        finish[some] = simulate(graph, left, np.ones(left.count)).finish_s
    return finish
