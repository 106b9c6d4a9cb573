"""Flows over a graph → the same flows over those of their links that can ever be full."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gpufabric.records.flows import Flows
from gpufabric.records.graph import Graph

_NEARLY = 1 - 1e-9


def binding_links(graph: Graph, flows: Flows) -> tuple[Flows, NDArray[np.int64]]:
    """Return flows that get the same max-min fair rates, over links numbered anew, and the old number of each link.

    No flow is ever faster than if it were alone. A link that would have room for all its flows at that speed never limits any of
    them, whoever else runs; of the millions of links that a collective uses, few thousands are left.

    Parameters
    ----------
    graph : Graph
    flows : Flows

    Returns
    -------
    flows : Flows
    number : int64 array
        Link of the graph for each link of the flows, ascending.
    """
    busy = np.zeros(graph.links)
    # Flow by flow: a flow has a link once, so its part can be added in place, and a flow's arrays fit where all flows' do not.
    slices = [slice(begin, end) for begin, end in zip(flows.first[:-1], flows.first[1:], strict=True)]
    for own in slices:
        links = flows.link[own]
        alone_s = flows.weight[own] / graph.bytes_per_s[links]
        slowest_s = float(alone_s.max(initial=0.0))
        if slowest_s > 0:
            busy[links] += alone_s / slowest_s
    full = busy >= _NEARLY
    place = np.cumsum(full, dtype=np.int32) - np.int32(1)
    kept = [full[flows.link[own]] for own in slices]
    first = np.concatenate([[0], np.cumsum([np.count_nonzero(keep) for keep in kept])]).astype(np.int64)
    link = [place[flows.link[own][keep]] for own, keep in zip(slices, kept, strict=True)]
    weight = [flows.weight[own][keep] for own, keep in zip(slices, kept, strict=True)]
    thinned = Flows(first, np.concatenate(link), np.concatenate(weight), flows.latency_s)
    return thinned, np.flatnonzero(full)
