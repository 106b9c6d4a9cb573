"""The ports of a job's GPUs and the phases over each → a schedule with one channel a port of a GPU."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from gpufabric.collectives.gpu_ports import GpuPorts
from gpufabric.records.schedule import Channel, Phase, Schedule


def port_channels(
    algorithm: str,
    ports: GpuPorts,
    chunks: int,
    chunk_share: float | NDArray[np.float64],
    phases: Callable[[int], Iterable[Phase]],
    gpus: NDArray[np.int32] | None = None,
) -> Schedule:
    """Return a schedule whose channels differ in their ports only.

    Parameters
    ----------
    algorithm : str
    ports : GpuPorts
    chunks, chunk_share
        As for :class:`gpufabric.records.schedule.Channel`.
    phases : function
        From the number of a channel to its phases.
    gpus : int32 array, n, optional
        Owners of the chunks; the places of the job when left out.
    """
    owners = ports.job.gpu if gpus is None else gpus
    return Schedule(
        algorithm,
        tuple(
            Channel(owners, chunks, chunk_share, tuple(phases(channel))) for channel in range(ports.channels)
        ),
    )


def one_by_one(phases: Iterable[Phase]) -> tuple[Phase, ...]:
    """Return the phases as stages: each waits until the one before has ended."""
    return tuple(replace(phase, stage=stage) for stage, phase in enumerate(phases))
