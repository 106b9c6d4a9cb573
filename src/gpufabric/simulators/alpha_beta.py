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
    owner = np.repeat(np.arange(flows.count), np.diff(flows.first))
    rate = np.full(flows.count, np.inf)
    np.minimum.at(rate, owner, share[flows.link])
    # The last of equals, as the fluid simulation has it: graphs number NICs behind switches.
    slowest = (share[flows.link] == rate[owner]) & np.isfinite(rate[owner])
    bottleneck = np.full(flows.count, -1, np.int32)
    bottleneck[owner[slowest]] = flows.link[slowest]
    finish = np.full(flows.count, np.inf)
    np.divide(flow_bytes, rate, out=finish, where=rate > 0)
    return FlowTimes(np.where(flow_bytes > 0, finish, 0.0), rate, bottleneck)
