"""A collective operation as asked for."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Collective:
    """One operation over ranks in an order.

    Attributes
    ----------
    op : str
        ``all_reduce``, ``all_gather`` … (lower case, underscores).
    size_bytes : int
        The size column of nccl-tests: all_reduce, broadcast, reduce and send_recv the buffer of each rank, all_gather and gather
        what a receiver has in the end, reduce_scatter, scatter and all_to_all what a sender has at first, all_to_all_v the most
        that one rank sends or receives.
    gpus : int32 array, one a rank
        GPU of the cluster that each rank runs on, in rank order.
    rank_order : str
        How the order came about: ``fabric``, ``shuffled(seed=0)`` …
    root : int
        Rank of broadcast, reduce, gather and scatter that has or gets everything.
    pair_bytes : float64 array, (n, n), optional
        all_to_all_v: bytes from each rank (row) to each rank (column).
    """

    op: str
    size_bytes: int
    gpus: NDArray[np.int32]
    rank_order: str = "fabric"
    root: int = 0
    pair_bytes: NDArray[np.float64] | None = None
