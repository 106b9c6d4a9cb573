"""Weighted sets of links with capacities → the max-min fair rate of each set."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from gpufabric.kernels.max_min_progressive import progressive_rates

# A collective is a few dozen flows over a million links: array operations on whole links are quick enough there, and loading
# a compiler would take longer than the answer.
FEW_FLOWS = 64

Scalar = TypeVar("Scalar", bound=np.generic)


def max_min_rates(
    first: NDArray[np.int64],
    link: NDArray[np.int32],
    weight: NDArray[np.float64],
    capacity: NDArray[np.float64],
    active: NDArray[np.bool_] | None = None,
) -> tuple[NDArray[np.float64], NDArray[np.int32]]:
    """Return max-min fair rates: no flow can get more without one that has no more than it getting less.

    A link is full when the sum over its flows of weight × rate equals its capacity. Every flow has a full link on which no flow
    is faster.

    Parameters
    ----------
    first : int64 array, F + 1
        Flow *f* uses entries ``first[f] .. first[f + 1] - 1`` of ``link`` and ``weight``.
    link : int32 array, N
        Link of each entry; at most once in a flow.
    weight : float64 array, N
        Positive; bytes on the link per byte of the flow.
    capacity : float64 array, E
        Bytes/s; infinite where a link sets no limit.
    active : bool array, F, optional
        Flows that take part; the others get rate 0.

    Returns
    -------
    rates : float64 array, F
        Bytes/s; infinite for a flow that no link limits.
    bottleneck : int32 array, F
        The last full link of each flow; -1 where no link limits it or it is not active.

    Notes
    -----
    Bertsekas and Gallager, Data Networks, 2nd edition, section 6.5.2, with weights. Up to ``FEW_FLOWS`` flows by
    :func:`gpufabric.kernels.max_min_progressive.progressive_rates`, more by
    :func:`gpufabric.kernels.max_min_fill.fill_flows`, whose first call in a process loads Numba and the compiled code.
    """
    flows = len(first) - 1
    if flows <= FEW_FLOWS:
        return progressive_rates(first, link, weight, capacity, active)
    from gpufabric.kernels.max_min_fill import fill_from_empty
    from gpufabric.kernels.shared_links import LinkSets

    live = np.arange(flows, dtype=np.int64) if active is None else np.flatnonzero(active).astype(np.int64)
    rates, bottleneck = np.zeros(flows), np.full(flows, -1, np.int32)
    sets = LinkSets(
        owned(first, np.int64), owned(link, np.int32), owned(weight, np.float64), np.full(flows, np.inf)
    )
    fill_from_empty(live, sets, owned(capacity, np.float64), rates, bottleneck)
    return rates, bottleneck


def owned(array: NDArray[Any], dtype: type[Scalar]) -> NDArray[Scalar]:
    """Return an array of one layout: kernels are compiled for contiguous arrays that may be written."""
    return np.require(array, dtype, ["C", "W"])
