"""A schedule of few ranks → its single transfers, one chunk each."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gpufabric.errors import InputError
from gpufabric.records.schedule import Channel, Schedule, Transfers

MAX_TRANSFERS = 20_000_000


@dataclass(frozen=True, slots=True)
class SingleTransfers:
    """Transfers of one chunk from one end to another, in the order of channels, phases and steps. T rows.

    Attributes
    ----------
    channel, phase, step : int32
        ``step`` counts within the phase. What stands in one step happens at the same time.
    edge : int32
        Row of the edge in its step.
    sender, receiver, exit_port, entry_port : int32
        As in :class:`gpufabric.records.schedule.Edges`.
    chunk : int64
    share : float64
        Bytes per byte of the message.
    """

    channel: NDArray[np.int32]
    phase: NDArray[np.int32]
    step: NDArray[np.int32]
    edge: NDArray[np.int32]
    sender: NDArray[np.int32]
    receiver: NDArray[np.int32]
    exit_port: NDArray[np.int32]
    entry_port: NDArray[np.int32]
    chunk: NDArray[np.int64]
    share: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.chunk)


def expand(schedule: Schedule, most: int = MAX_TRANSFERS) -> SingleTransfers:
    """Return the single transfers of a schedule.

    Raises
    ------
    InputError
        If there are more than *most*.
    """
    parts: list[tuple[NDArray[np.generic], ...]] = []
    rows = 0
    for c, channel in enumerate(schedule.channels):
        exists, shares = chunk_exists(channel), chunk_shares(channel)
        for p, phase in enumerate(channel.phases):
            for t in range(phase.repeat):
                moved = phase.steps.at(t)
                edge, chunk = step_chunks(moved, exists)
                rows += len(chunk)
                if rows > most:
                    raise InputError(
                        f"schedule {schedule.algorithm}: it has more than {most:,} single transfers; "
                        "write out a job of fewer ranks"
                    )
                where = (np.full(len(chunk), value, np.int32) for value in (c, p, t))
                ends = moved.edges
                columns = (ends.sender, ends.receiver, ends.exit_port, ends.entry_port)
                parts.append(
                    (*where, edge.astype(np.int32), *(x[edge] for x in columns), chunk, shares[chunk])
                )
    return SingleTransfers(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def step_chunks(moved: Transfers, exists: NDArray[np.bool_]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the row of the edge and the number of each chunk that a step moves, without those that do not exist."""
    edge = np.repeat(np.arange(len(moved.edges)), moved.chunk_count)
    begin = np.cumsum(moved.chunk_count) - moved.chunk_count
    number = np.arange(len(edge)) - begin[edge]
    chunk = (moved.first_chunk[edge] + number * moved.chunk_stride[edge]) % len(exists)
    real = exists[chunk]
    return edge[real], chunk[real]


def chunk_exists(channel: Channel) -> NDArray[np.bool_]:
    """Return whether each chunk of a channel exists: in an all-to-all, places without a GPU have none."""
    known = channel.gpus >= 0
    if known.all():
        return np.ones(channel.chunks, np.bool_)
    return (known[:, None] & known).ravel()


def chunk_shares(channel: Channel) -> NDArray[np.float64]:
    """Return the bytes of each chunk of a channel per byte of the message; 0 for one that does not exist."""
    return np.where(chunk_exists(channel), channel.chunk_share, 0.0)
