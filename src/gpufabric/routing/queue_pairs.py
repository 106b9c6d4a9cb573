"""Messages over several queue pairs → the loads of all of them, each hashed on its own."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gpufabric.kernels.hash_mix import hash_mix
from gpufabric.records.flows import LinkLoads, PortEdges


def over_queue_pairs(
    route: Callable[[PortEdges], LinkLoads], edges: PortEdges, queue_pairs: int
) -> LinkLoads:
    """Return what *route* says of *edges* when each message is split evenly over its queue pairs.

    Parameters
    ----------
    route : callable
        A policy that hashes the key of each edge.
    edges : PortEdges
        E messages.
    queue_pairs : int
        1 or more; the first one has the message's own key, so that one queue pair changes nothing.

    Returns
    -------
    LinkLoads
        Weights are parts of the message; ``edge`` are numbers of *edges*, where the policy gives any.
    """
    if queue_pairs == 1:
        return route(edges)
    count = len(edges.key)
    more = [
        (hash_mix(edges.key, number) >> np.uint64(1)).astype(np.int64) for number in range(1, queue_pairs)
    ]
    split = PortEdges(
        np.tile(edges.exit_port, queue_pairs),
        np.tile(edges.entry_port, queue_pairs),
        np.concatenate([edges.key, *more]),
        np.tile(edges.sizes_of(np.arange(count)) / queue_pairs, queue_pairs),
    )
    loads = route(split)
    edge = None if loads.edge is None else loads.edge % count
    return LinkLoads(loads.link, loads.weight, edge)
