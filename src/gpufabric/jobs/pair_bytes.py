"""What is said of an all_to_all_v → the table of bytes from each rank to each other."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gpufabric.collectives.skewed_pairs import skewed
from gpufabric.errors import InputError
from gpufabric.units import format_bytes

_OP = "all_to_all_v"
_UNEVEN = 1.01


def pair_bytes_of(
    op: str, size_bytes: int, ranks: int, shares: NDArray[np.float64] | None, skew: float | None, seed: int
) -> NDArray[np.float64] | None:
    """Return the table of an all_to_all_v, scaled so that the rank with most sends or receives *size_bytes*.

    Parameters
    ----------
    op : str
    size_bytes : int
    ranks : int
    shares : float64 array, (n, n), optional
        What each rank (row) sends to each other (column), in any unit.
    skew : float, optional
        Makes a table where none is given; see :func:`gpufabric.collectives.skewed_pairs.skewed`.
    seed : int
        Of the skewed table.

    Returns
    -------
    float64 array, (n, n), or None
        None for other operations.

    Raises
    ------
    InputError
        If a table is missing, is given to another operation, does not fit the ranks, or no rank sends another one anything.
    """
    if op != _OP:
        if shares is not None or skew is not None:
            what = "--matrix" if shares is not None else "--skew"
            raise InputError(
                f"{what}: {op} sends every rank as much as any other; allowed is {_OP}; leave it out, or ask for {_OP}"
            )
        return None
    if shares is None and skew is not None:
        shares = skewed(ranks, skew, seed)
    if shares is None:
        raise InputError(
            f"{_OP}: no table of bytes was given; allowed is --matrix FILE.csv or --skew NUMBER; give one of them"
        )
    if shares.shape != (ranks, ranks):
        raise InputError(
            f"{_OP}: the table has {shares.shape[0]:,} rows; allowed is one a rank, {ranks:,}; change it or --gpus"
        )
    if not np.isfinite(shares).all() or (shares < 0).any():
        raise InputError(
            f"{_OP}: a value of the table is negative or not finite; allowed are numbers of 0 or more; change it"
        )
    largest = float(shares.max())
    if not (shares[~np.eye(ranks, dtype=np.bool_)] > 0).any():
        raise InputError(
            f"{_OP}: no rank of the table sends to another one; allowed is a table in which some does; change it"
        )
    # First to parts of the largest: sums of numbers near either end of the range of floats stay finite.
    parts = shares / largest
    most = max(float(parts.sum(axis=0).max()), float(parts.sum(axis=1).max()))
    return parts / most * size_bytes


def uneven_note(pair_bytes: NDArray[np.float64] | None) -> tuple[str, ...]:
    """Return how much more than the mean the busiest rank sends or receives, where it is more than 1 %.

    Sizes are those of the busiest rank, so an uneven table is no slower than an even one of the same size; what it costs is the
    difference to the size that the same bytes have when they are spread evenly.
    """
    if pair_bytes is None:
        return ()
    most = max(float(pair_bytes.sum(axis=0).max()), float(pair_bytes.sum(axis=1).max()))
    mean = float(pair_bytes.sum()) / len(pair_bytes)
    if most < _UNEVEN * mean:
        return ()
    return (
        f"size: what the busiest rank sends or receives, {most / mean:.3g} times the mean; what that costs: compare with "
        f"--skew 0 at {mean / most:.3g} of the size ({format_bytes(mean)} for {format_bytes(most)}), the same bytes "
        "spread evenly",
    )
