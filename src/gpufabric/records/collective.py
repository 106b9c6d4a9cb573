"""A collective operation as asked for, and its schedule."""

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
        The size column of nccl-tests: for all_reduce the bytes of one rank's buffer.
    gpus : int32 array, one a rank
        GPU of the cluster that each rank runs on, in rank order.
    rank_order : str
        How the order came about: ``fabric``, ``shuffled(seed=0)`` …
    """

    op: str
    size_bytes: int
    gpus: NDArray[np.int32]
    rank_order: str = "fabric"


@dataclass(frozen=True, slots=True)
class RingChannel:
    """One channel of a ring schedule: a cyclic order of GPUs, and the ports by which it leaves and enters each node.

    A node is what NCCL takes for one: the GPUs of a job that share a scale-up domain.

    Attributes
    ----------
    order : int32 array, n
        GPUs of the cluster; each sends to the next and the last to the first.
    node_first : int64 array, N
        Position in ``order`` of the first GPU of each node; ascending, the first is 0.
    exit_port, entry_port : int32 arrays, N
        Ports of the cluster by which the channel leaves node *k* for node *k + 1*, and by which it enters node *k*; empty when
        there is one node.
    rail : int
        Rail of the ports (-1 when the ring stays inside one node or mixes rails).
    """

    order: NDArray[np.int32]
    node_first: NDArray[np.int64]
    exit_port: NDArray[np.int32]
    entry_port: NDArray[np.int32]
    rail: int


@dataclass(frozen=True, slots=True)
class Phase:
    """``repeat`` equal steps, each moving ``step_bytes`` over every edge of every channel, one step after the other.

    ``reduces`` says whether the receiver adds what arrives to what it has, or puts it in its place.
    """

    name: str
    repeat: int
    step_bytes: float
    reduces: bool


@dataclass(frozen=True, slots=True)
class Schedule:
    """Phases over channels: the whole collective, written once for 8 as for 200,000 ranks."""

    algorithm: str
    channels: tuple[RingChannel, ...]
    phases: tuple[Phase, ...]
