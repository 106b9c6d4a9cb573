"""A schedule: what every algorithm does, written once for 8 as for 200,000 ranks.

A schedule has channels, which run side by side; a channel has phases, one after another; a phase has synchronous steps, and a
step moves chunks of the channel's data over edges. Steps are made on demand from a rule over arrays, so that the n (n - 1)
messages of an all-to-all take no more room than its n GPUs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Edges:
    """Who sends to whom, and by which network ports. E rows.

    Attributes
    ----------
    sender, receiver : int32 arrays, E
        GPUs of the cluster. A negative value ``~k`` is switch *k* of the job: the scale-up switches of its node *k*, or for *k*
        from the number of nodes on a tree of switches in the fabric.
    exit_port, entry_port : int32 arrays, E
        Ports of the cluster by which the message leaves the sender's node and enters the receiver's; -1 where it stays inside a
        node, or on the side of a switch of the fabric.
    """

    sender: NDArray[np.int32]
    receiver: NDArray[np.int32]
    exit_port: NDArray[np.int32]
    entry_port: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.sender)


@dataclass(frozen=True, slots=True)
class Transfers:
    """What one step moves. E rows.

    Attributes
    ----------
    edges : Edges
    first_chunk, chunk_stride, chunk_count : int64 arrays, E
        Edge *e* moves chunks ``first_chunk + i · chunk_stride`` for *i* below ``chunk_count``, modulo the channel's chunks.
    share : float64 array, E
        Bytes over each edge per byte of the message.
    """

    edges: Edges
    first_chunk: NDArray[np.int64]
    chunk_stride: NDArray[np.int64]
    chunk_count: NDArray[np.int64]
    share: NDArray[np.float64]


class Steps(Protocol):
    """A rule that gives the transfers of each step of a phase."""

    def at(self, step: int) -> Transfers:
        """Return what step number *step* moves; steps count from 0."""

    def total(self, repeat: int) -> tuple[Edges, NDArray[np.float64]]:
        """Return the edges of *repeat* steps, and the bytes over each in all of them per byte of the message."""


@dataclass(frozen=True, slots=True)
class Phase:
    """``repeat`` steps, one after the other.

    Attributes
    ----------
    name : str
    repeat : int
    steps : Steps
    reduces : bool
        The receiver adds what arrives to what it has; otherwise it puts it in its place.
    stage : int
        Phases of one stage of a channel run at the same time when the message is long, because each forwards the first part of
        it while the rest is still on its way (pipelining); stages follow one another.
    """

    name: str
    repeat: int
    steps: Steps
    reduces: bool
    stage: int = 0


@dataclass(frozen=True, slots=True)
class Channel:
    """A part of the message and what becomes of it, independent of the other channels.

    Attributes
    ----------
    gpus : int32 array, n
        GPUs in the channel's own order. In all_gather, reduce_scatter, gather, scatter and send_recv chunk *c* belongs to
        ``gpus[c]``; in all_to_all chunk ``s · len(gpus) + d`` goes from ``gpus[s]`` to ``gpus[d]``. -1 is a place without a GPU,
        whose chunks do not exist.
    chunks : int
    chunk_share : float or float64 array, one a chunk
        Bytes of a chunk per byte of the message.
    phases : tuple of Phase
    rail : int
        Rail of the ports, -1 when the channel stays inside one node or mixes rails.
    """

    gpus: NDArray[np.int32]
    chunks: int
    chunk_share: float | NDArray[np.float64]
    phases: tuple[Phase, ...]
    rail: int = -1


@dataclass(frozen=True, slots=True)
class Schedule:
    """A whole collective: an algorithm and its channels."""

    algorithm: str
    channels: tuple[Channel, ...]
