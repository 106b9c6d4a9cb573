"""Edges that stay the same in all steps of a phase → its transfers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gpufabric.records.schedule import Edges, Transfers

Whole = NDArray[np.integer] | int


@dataclass(frozen=True, slots=True)
class FixedSteps:
    """The same edges in all steps; the chunks on them move on by ``advance`` a step.

    Attributes
    ----------
    edges : Edges
    first_chunk, chunk_stride, chunk_count : int64 arrays, E
        As in :class:`gpufabric.records.schedule.Transfers`, of step 0.
    share : float64 array, E
        Bytes over each edge in one step in which it is used, per byte of the message.
    advance : int
    turn : int64 array, E, optional
        The one step in which each edge is used; left out, all edges are used in every step.
    peers : bool
        Plain sends and receives: a GPU deals with its peers one after the other, as in an exchange.
    """

    edges: Edges
    first_chunk: NDArray[np.int64]
    chunk_stride: NDArray[np.int64]
    chunk_count: NDArray[np.int64]
    share: NDArray[np.float64]
    advance: int = 0
    turn: NDArray[np.int64] | None = None
    peers: bool = False

    def at(self, step: int) -> Transfers:
        """Return what step number *step* moves."""
        first = self.first_chunk + self.advance * step
        if self.turn is None:
            return Transfers(self.edges, first, self.chunk_stride, self.chunk_count, self.share)
        now = np.flatnonzero(self.turn == step)
        return Transfers(
            pick_edges(self.edges, now),
            first[now],
            self.chunk_stride[now],
            self.chunk_count[now],
            self.share[now],
        )

    def total(self, repeat: int) -> tuple[Edges, NDArray[np.float64]]:
        """Return the edges, and the bytes over each in *repeat* steps per byte of the message."""
        return self.edges, self.share if self.turn is not None else self.share * repeat


def fixed_steps(
    edges: Edges,
    chunk_share: float,
    chunks: tuple[Whole, Whole, Whole] = (0, 1, 1),
    advance: int = 0,
    turn: NDArray[np.int64] | None = None,
    peers: bool = False,
) -> FixedSteps:
    """Return fixed steps over chunks of equal size.

    Parameters
    ----------
    edges : Edges
    chunk_share : float
        Bytes of a chunk per byte of the message.
    chunks : tuple
        First chunk, stride and count, each one value or one an edge.
    advance, turn, peers
        As the attributes of :class:`FixedSteps`.
    """
    first, stride, count = (np.broadcast_to(np.asarray(value, np.int64), len(edges)) for value in chunks)
    share = (count * chunk_share).astype(np.float64)
    return FixedSteps(edges, first, stride, count, share, advance, turn, peers)


def pick_edges(edges: Edges, rows: NDArray[np.integer] | NDArray[np.bool_]) -> Edges:
    """Return the edges of *rows*."""
    return Edges(edges.sender[rows], edges.receiver[rows], edges.exit_port[rows], edges.entry_port[rows])


def join_edges(*parts: Edges) -> Edges:
    """Return the edges of all *parts*, one after the other."""
    return Edges(
        np.concatenate([part.sender for part in parts]),
        np.concatenate([part.receiver for part in parts]),
        np.concatenate([part.exit_port for part in parts]),
        np.concatenate([part.entry_port for part in parts]),
    )


def inside_edges(sender: NDArray[np.integer], receiver: NDArray[np.integer]) -> Edges:
    """Return edges that stay inside nodes."""
    none = np.full(len(sender), -1, np.int32)
    return Edges(sender.astype(np.int32), receiver.astype(np.int32), none, none)
