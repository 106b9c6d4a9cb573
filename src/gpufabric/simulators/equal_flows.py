"""Bytes on links by equal flows that start together → when the last of them ends, by both methods and in one pass."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gpufabric.records.graph import Graph

_SAME = 1 - 1e-9


def last_end(
    graph: Graph, link_bytes: NDArray[np.float64], kind: NDArray[np.integer], kinds: int
) -> tuple[NDArray[np.float64], int]:
    """Return when flows of one byte each end if only links of one kind had a limit, for each kind, and the fullest link of all.

    All flows rise alike until the first link is full, the one with most bytes for its rate. Its flows keep that rate to the end:
    others that end leave room on other links, and no flow is slower. So they are the last to end, when that link has carried all
    its bytes; :mod:`gpufabric.simulators.fluid` and :mod:`gpufabric.simulators.alpha_beta` agree, whatever the flows.

    Parameters
    ----------
    graph : Graph
    link_bytes : float64 array, one a link
        Sum of the weights of all flows.
    kind : integer array, one a link
        0 to *kinds* - 1.
    kinds : int

    Returns
    -------
    seconds : float64 array, one a kind
        Infinite where a link without a rate is used, 0 where no link limits; with all links limited it is the largest of them.
    link : int
        The last of equals, as graphs number NICs behind switches; -1 where no link limits.
    """
    busy_s = np.zeros(len(link_bytes))
    with np.errstate(divide="ignore"):
        np.divide(link_bytes, graph.bytes_per_s, out=busy_s, where=link_bytes > 0)
    seconds = np.array([busy_s.max(initial=0.0, where=kind == one) for one in range(kinds)])
    longest = float(seconds.max(initial=0.0))
    if not longest:
        return seconds, -1
    return seconds, int(np.flatnonzero(busy_s >= longest * _SAME)[-1])
