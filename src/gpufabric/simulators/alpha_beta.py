"""Flows with bytes → times in closed form: every flow gets an equal share of each of its links."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gpufabric.records.flows import Flows, FlowTimes
from gpufabric.records.graph import Graph


def run(graph: Graph, flows: Flows, flow_bytes: NDArray[np.float64]) -> FlowTimes:
    """Return when each flow ends if every link splits its rate evenly over all bytes that cross it.

    A flow runs at rate / (sum of the weights of all flows) of its fullest link, from the first byte to the last. Exact where
    flows are alike; where they are not, room that a slower flow leaves is not used, so the result is never too fast.

    Parameters
    ----------
    graph : Graph
    flows : Flows
    flow_bytes : float64 array, F

    Returns
    -------
    FlowTimes
    """
    load = np.bincount(flows.link, flows.weight, minlength=graph.links)
    share = np.full(graph.links, np.inf)
    np.divide(graph.bytes_per_s, load, out=share, where=load > 0)
    rate = np.full(flows.count, np.inf)
    bottleneck = np.full(flows.count, -1, np.int32)
    for flow in range(flows.count):
        links = flows.link[flows.first[flow] : flows.first[flow + 1]]
        if len(links):
            # The last of equals, as the fluid simulation has it: graphs number NICs behind switches.
            slowest = links[::-1][np.argmin(share[links[::-1]])]
            rate[flow] = share[slowest]
            bottleneck[flow] = slowest if np.isfinite(share[slowest]) else -1
    return FlowTimes(flow_bytes / rate, rate, bottleneck)
