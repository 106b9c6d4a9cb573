"""What the quotient busbw / algbw of a log says about its operation and its number of ranks.

nccl-tests multiplies algbw by a factor that depends on both: 2(n − 1)/n for all_reduce, (n − 1)/n for
all_gather, reduce_scatter, all_to_all, gather and scatter, 1 for the others (nccl-tests, doc/PERFORMANCE.md
and src/*.cu).
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from gpufabric.records.bus_factor_table import BUS_FACTORS
from gpufabric.records.measurements import MeasuredRow
from gpufabric.units import from_gigabytes

_MAX_RANKS = 1 << 22
_HALF_LAST_DIGIT = from_gigabytes(0.005)


def bus_factor(op: str, ranks: int) -> float | None:
    """Return busbw / algbw of an operation over *ranks*, None for an operation that is not known."""
    if op not in BUS_FACTORS or ranks < 1:
        return None
    scale, depends = BUS_FACTORS[op]
    return scale * (ranks - 1) / ranks if depends else scale


def quotient_bounds(rows: Iterable[MeasuredRow]) -> tuple[float, float] | None:
    """Return the lowest and highest busbw / algbw that all rows allow.

    Both are rounded to their last digit. None when no row is large enough to tell or when rows contradict
    each other.
    """
    low, high = 0.0, math.inf
    for row in rows:
        if row.consistent and row.algbw_bytes_per_s > 20 * _HALF_LAST_DIGIT:
            low = max(low, _lower(row.busbw_bytes_per_s) / _upper(row.algbw_bytes_per_s))
            high = min(high, _upper(row.busbw_bytes_per_s) / _lower(row.algbw_bytes_per_s))
    return (low, high) if low <= high < math.inf else None


def _rounding(value: float) -> float:
    # Six characters wide: from 1000 GB/s one decimal is left, from 10,000 none.
    return _HALF_LAST_DIGIT * (
        1 if value < from_gigabytes(1e3) else 10 if value < from_gigabytes(1e4) else 100
    )


def _lower(value: float) -> float:
    return max(value - _rounding(value), 0.0)


def _upper(value: float) -> float:
    return value + _rounding(value)


def op_from_quotient(bounds: tuple[float, float], redop: str) -> str | None:
    """Return the only operation that fits, None when several do.

    Only all_reduce has a quotient above 1, and below 1 only reduce_scatter has a reduction.
    """
    low, high = bounds
    if redop == "none":
        return None
    if 1.0 < low < 2.0:
        return "all_reduce"
    if low > 0.0 and high < 1.0:
        return "reduce_scatter"
    return None


#: Which operations print a reduction, and which a root (nccl-tests, src/*.cu: sendrecv prints one although it reduces nothing).
_PRINTED = {
    (True, True): ("reduce",),
    (True, False): ("all_reduce", "reduce_scatter", "send_recv"),
    (False, True): ("broadcast", "gather", "scatter"),
    (False, False): ("all_gather", "all_to_all"),
}
#: Of these nccl-tests does not check the result in place.
_NOT_CHECKED_IN_PLACE = ("send_recv", "all_to_all")


def op_by_elimination(
    bounds: tuple[float, float], redop: str, root: int, ranks: int, unchecked_in_place: bool
) -> str | None:
    """Return the only operation that fits all that a table shows, None when several do.

    Parameters
    ----------
    bounds
        Of busbw / algbw.
    redop, root
        As printed.
    ranks
    unchecked_in_place
        Whether only the halves out of place have a count of wrong elements.
    """
    low, high = bounds
    fitting = [
        op
        for op in _PRINTED[redop != "none", root >= 0]
        if (factor := bus_factor(op, ranks)) is not None
        and low <= factor <= high
        and (not unchecked_in_place or op in _NOT_CHECKED_IN_PLACE)
    ]
    return fitting[0] if len(fitting) == 1 else None


def ranks_from_quotient(bounds: tuple[float, float], op: str) -> tuple[int, int] | None:
    """Return the fewest and most ranks that fit, None when the quotient says nothing about them."""
    if op not in BUS_FACTORS or not BUS_FACTORS[op][1]:
        return None
    scale = BUS_FACTORS[op][0]
    least, most = (bound / scale for bound in bounds)
    if not 0 < least < 1:
        return None
    fewest = max(2, math.ceil(1 / (1 - least) - 1e-9))
    highest = _MAX_RANKS if most >= 1 else min(_MAX_RANKS, math.floor(1 / (1 - most) + 1e-9))
    return (fewest, highest) if fewest <= highest else None
