"""An operation and its number of ranks → bus bandwidth per algorithm bandwidth, as nccl-tests prints them.

nccl-tests, doc/PERFORMANCE.md and the ``GetBw`` function of each of src/*.cu (version 2.19.6): algbw is size over time, and busbw
multiplies it by the least part of the size that a link of each rank must carry, so that it can be held against a link's rate.
"""

from __future__ import annotations

from gpufabric.errors import InputError, did_you_mean, printable

# The factor is scale · (n - 1) / n where the second value is true, else scale.
_FACTORS = {
    "all_reduce": (2.0, True),
    "all_gather": (1.0, True),
    "reduce_scatter": (1.0, True),
    "all_to_all": (1.0, True),
    "all_to_all_v": (1.0, True),
    "gather": (1.0, True),
    "scatter": (1.0, True),
    "broadcast": (1.0, False),
    "reduce": (1.0, False),
    "send_recv": (1.0, False),
}
OPS = tuple(_FACTORS)


def bus_factor(op: str, ranks: int) -> float:
    """Return busbw / algbw of *op* over *ranks* ranks.

    Raises
    ------
    InputError
        If the operation is unknown or there are less than two ranks.
    """
    if op not in _FACTORS:
        raise InputError(
            f'operation "{printable(op)}" is unknown; known: {", ".join(OPS)}.{did_you_mean(op, OPS)}'
        )
    if ranks < 2:
        raise InputError(f"ranks: {ranks} is out of range; a bus bandwidth needs 2 or more")
    scale, depends = _FACTORS[op]
    return scale * (ranks - 1) / ranks if depends else scale
