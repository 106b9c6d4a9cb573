"""An all-to-all → the bytes from each place of the job to each other, per byte of the message."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gpufabric.collectives.job_wiring import JobWiring
from gpufabric.errors import InputError
from gpufabric.records.collective import Collective

OPS = ("all_to_all", "all_to_all_v")


def pair_shares(collective: Collective, job: JobWiring, channels: int) -> NDArray[np.float64]:
    """Return the bytes from place to place in each of equal channels, per byte of the message.

    Parameters
    ----------
    collective : Collective
        all_to_all: every rank sends S/n to each, itself included. all_to_all_v: as ``pair_bytes`` says.
    job : JobWiring
    channels : int

    Returns
    -------
    float64 array, (n, n)
        For all_to_all a view of one number.

    Raises
    ------
    InputError
        If an all_to_all_v says no bytes, or such that can't be, or the size is 0.
    """
    count = len(job.gpu)
    if collective.op == "all_to_all":
        return np.broadcast_to(np.float64(1 / (count * channels)), (count, count))
    pairs = collective.pair_bytes
    if pairs is None or pairs.shape != (count, count):
        found = "none" if pairs is None else " × ".join(map(str, pairs.shape))
        raise InputError(
            f"pair bytes: all_to_all_v needs a table of {count} × {count}, a row for each sender (found {found})"
        )
    if not np.isfinite(pairs).all() or (pairs < 0).any():
        raise InputError(
            "pair bytes: a value is negative or not finite; give the bytes of each pair, 0 for none"
        )
    if collective.size_bytes < 1:
        raise InputError(f"size: {collective.size_bytes:,} bytes is out of range; allowed is 1 or more")
    return pairs[np.ix_(job.rank, job.rank)] / (collective.size_bytes * channels)
