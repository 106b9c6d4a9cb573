"""A schedule → proof, by symbolic execution, that every rank ends with every contribution exactly once."""

from __future__ import annotations

import numpy as np

from gpufabric.records.collective import Schedule

MAX_RANKS = 64


def execute_ring(schedule: Schedule) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
    """Return how often each rank holds each contribution of each chunk after the whole schedule.

    In step *t* of a phase, the rank at position *p* of a channel sends chunk *p - t* to position *p + 1*; the all-gather goes on
    where the reduce-scatter stopped, so *t* counts on through both.

    Parameters
    ----------
    schedule : Schedule
        A ring schedule of at most 64 ranks.

    Returns
    -------
    int64 array, (channels, ranks, chunks, contributions)
        Ranks and contributions are numbered by position in their channel. An all-reduce is right when every entry is 1.

    Raises
    ------
    ValueError
        If the schedule has too many ranks to be executed this way.
    """
    ranks = len(schedule.channels[0].order)
    if ranks > MAX_RANKS:
        raise ValueError(f"{ranks} ranks are too many for symbolic execution; at most {MAX_RANKS}")
    held = np.zeros((len(schedule.channels), ranks, ranks, ranks), np.int64)
    position = np.arange(ranks)
    held[:, position, :, position] = 1
    step = 0
    for phase in schedule.phases:
        for _ in range(phase.repeat):
            chunk = (position - step) % ranks
            to = (position + 1) % ranks
            arriving = held[:, position, chunk, :].copy()
            if phase.reduces:
                held[:, to, chunk, :] += arriving
            else:
                held[:, to, chunk, :] = arriving
            step += 1
    return held
