"""Single paths of messages → one flow a message."""

from __future__ import annotations

import numpy as np

from gpufabric.errors import InputError
from gpufabric.records.flows import Flows, LinkLoads, PortEdges
from gpufabric.records.graph import Graph


def unicast_flows(graph: Graph, edges: PortEdges, loads: LinkLoads) -> Flows:
    """Return each message as a flow of its own over the path that a policy has picked for it.

    Parameters
    ----------
    graph : Graph
    edges : PortEdges
        E messages.
    loads : LinkLoads
        What ``ecmp.route`` or ``static.route`` returned for them.

    Returns
    -------
    Flows
        E flows in the order of the edges; the latency of each is the sum of its links'.

    Raises
    ------
    InputError
        If the policy sprays messages over many links together.
    """
    if loads.edge is None:
        raise InputError(
            "routing: single messages need single paths; allowed are ecmp and static; choose one of them"
        )
    count = len(edges.exit_port)
    order = np.argsort(loads.edge, kind="stable")
    length = np.bincount(loads.edge, minlength=count)
    latency = np.zeros(count)
    np.add.at(latency, loads.edge, graph.latency_s[loads.link])
    first = np.concatenate([[0], np.cumsum(length)])
    return Flows(first, loads.link[order].astype(np.int32), loads.weight[order], latency)
