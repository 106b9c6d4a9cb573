"""Link ends as files tell them, most of them twice → links."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class PairedEnds:
    """L links, in the order of their first rows.

    Attributes
    ----------
    port_a, port_b : int32 array, L
    bytes_per_s : float64 array, L
        What the first row that knows it says; NaN where none does.
    ends : int8 array, L
        1, or 2 where both ends tell of the link.
    first : int64 array, L
        Row of the end that told of it first.
    contradicted : tuple of (int, int)
        Rows that were left out because a port has another link by then, with the row that has it.
    """

    port_a: NDArray[np.int32]
    port_b: NDArray[np.int32]
    bytes_per_s: NDArray[np.float64]
    ends: NDArray[np.int8]
    first: NDArray[np.int64]
    contradicted: tuple[tuple[int, int], ...]


def pair_ends(
    port: NDArray[np.int32],
    far: NDArray[np.int32],
    bytes_per_s: NDArray[np.float64],
    line: NDArray[np.int64],
) -> PairedEnds:
    """Return the links of E rows that each say that *port* is linked with *far*.

    Links that both ends tell of are taken first, then the others in the order of their rows, as long as both ports are free.

    Parameters
    ----------
    port, far : int32 array, E
    bytes_per_s : float64 array, E
    line : int64 array, E
        Only its length matters where rows are empty.

    Returns
    -------
    PairedEnds
    """
    rows = np.arange(len(line))
    low, high = np.minimum(port, far).astype(np.int64), np.maximum(port, far).astype(np.int64)
    key = low << 32 | high
    order = np.lexsort((rows, key))
    new = np.ones(len(rows), np.bool_)
    new[1:] = key[order][1:] != key[order][:-1]
    starts = np.flatnonzero(new)
    link_of_row = np.empty(len(rows), np.int64)
    link_of_row[order] = np.cumsum(new) - 1
    first = order[starts]
    count = len(starts)
    both = np.zeros((count, 2), np.bool_)
    both[link_of_row, (port > far).astype(np.int64)] = True
    ends = both.sum(axis=1).astype(np.int8)
    rate = np.full(count, np.nan)
    known = rows[~np.isnan(bytes_per_s)][::-1]
    rate[link_of_row[known]] = bytes_per_s[known]
    kept, contradicted = _free_ends(low[first], high[first], ends, first)
    chosen = np.sort(first[kept])
    links = link_of_row[chosen]
    return PairedEnds(
        port_a=port[chosen].astype(np.int32),
        port_b=far[chosen].astype(np.int32),
        bytes_per_s=rate[links],
        ends=ends[links],
        first=chosen,
        contradicted=contradicted,
    )


def _free_ends(
    low: NDArray[np.int64], high: NDArray[np.int64], ends: NDArray[np.int8], first: NDArray[np.int64]
) -> tuple[NDArray[np.int64], tuple[tuple[int, int], ...]]:
    """Return which links keep their ports, and (row, row that holds the port) of the others."""
    uses = np.bincount(np.concatenate([low, high])) if len(low) else np.empty(0, np.int64)
    disputed = (uses[low] > 1) | (uses[high] > 1) | (low == high) if len(low) else np.empty(0, np.bool_)
    if not disputed.any():
        return np.arange(len(low)), ()
    holder: dict[int, int] = {}
    kept, lost = [], []
    doubtful = np.flatnonzero(disputed)
    for link in doubtful[np.lexsort((first[doubtful], -ends[doubtful]))].tolist():
        a, b = int(low[link]), int(high[link])
        held = holder.get(a, holder.get(b, -1))
        if held < 0 and a != b:
            holder[a] = holder[b] = int(first[link])
            kept.append(link)
        else:
            lost.append((int(first[link]), held if held >= 0 else int(first[link])))
    return np.sort(np.concatenate([np.flatnonzero(~disputed), np.array(kept, np.int64)])), tuple(sorted(lost))
