"""A number of ranks and a skew → the table of an all_to_all_v in which ranks receive unevenly."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gpufabric.errors import InputError

MAX_RANKS = 4096


def skewed(ranks: int, exponent: float, seed: int) -> NDArray[np.float64]:
    """Return a table in which ranks receive unevenly, as experts of a model do: the k-th most popular gets k^-exponent.

    Parameters
    ----------
    ranks : int
    exponent : float
        0 is even; at 1 the most popular of 64 receives 13 times the mean.
    seed : int
        Of which rank is how popular.

    Raises
    ------
    InputError
        If there are too many ranks for a table, or the exponent is negative or above 4.
    """
    if ranks > MAX_RANKS:
        raise InputError(
            f"ranks: {ranks:,} are too many for a table of pairs; allowed are {MAX_RANKS:,}; use --gpus"
        )
    if not 0 <= exponent <= 4:
        raise InputError(f"skew: {exponent:g} is out of range; allowed is 0 (even) to 4")
    popular = np.arange(1, ranks + 1, dtype=np.float64) ** -exponent
    return np.tile(np.random.default_rng(seed).permutation(popular), (ranks, 1))
