"""A collective and its schedule → what is wrong with it, by symbolic execution: nothing is the proof that it is right.

Every rank and switch keeps, for every chunk, how often each rank's contribution is in it. Steps are carried out one by one, all
transfers of a step from the state before it. In the end each rank must hold exactly what the operation promises.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gpufabric.collectives.expand import chunk_exists, chunk_shares, step_chunks
from gpufabric.errors import InputError
from gpufabric.records.collective import Collective
from gpufabric.records.schedule import Channel, Phase, Schedule, Transfers

MAX_RANKS = 64
_TOLERANCE = 1e-9
_EVERY_RANK = ("all_to_all", "send_recv")  # operations in which the size is what each rank sends


@dataclass(frozen=True, slots=True)
class _State:
    """``held[v, c, r]``: how often rank *r*'s contribution is in chunk *c* at *v*, a rank or, counted from the end, a switch.

    Beside it the rank of each GPU, and which chunks exist and how large they are.
    """

    held: NDArray[np.int16]
    rank_of_gpu: NDArray[np.int64]
    exists: NDArray[np.bool_]
    share: NDArray[np.float64]


def execute(collective: Collective, schedule: Schedule) -> tuple[str, ...]:
    """Return what is wrong with a schedule, one line each; empty when it is right.

    Found are ranks that end without what they should have, with something missing, twice or too much; two transfers that write
    the same chunk at the same time; bytes that do not fit the chunks moved; and chunks that do not make up the message.

    Parameters
    ----------
    collective : Collective
    schedule : Schedule
        Of at most ``MAX_RANKS`` ranks.

    Raises
    ------
    InputError
        If there are more.
    """
    ranks = len(collective.gpus)
    if ranks > MAX_RANKS:
        raise InputError(
            f"schedule: {ranks:,} ranks are too many to execute symbolically; at most {MAX_RANKS}"
        )
    wrong = list(_wrong_sizes(collective, schedule))
    for number, channel in enumerate(schedule.channels):
        wrong += [f"channel {number}: {line}" for line in _execute_channel(collective, channel)]
    return tuple(wrong)


def _wrong_sizes(collective: Collective, schedule: Schedule) -> list[str]:
    total = sum(float(chunk_shares(channel).sum()) for channel in schedule.channels)
    due = float(len(collective.gpus)) if collective.op in _EVERY_RANK else 1.0
    if collective.op == "all_to_all_v" and collective.pair_bytes is not None:
        due = float(collective.pair_bytes.sum()) / collective.size_bytes
    if abs(total - due) > _TOLERANCE * max(due, 1.0):
        return [f"chunks are {total:g} of the message in all, not {due:g}"]
    return []


def _execute_channel(collective: Collective, channel: Channel) -> list[str]:
    ranks = len(collective.gpus)
    if sorted(channel.gpus[channel.gpus >= 0]) != sorted(collective.gpus):
        return ["its GPUs are not those of the ranks, once each"]
    rank_of_gpu = np.zeros(int(collective.gpus.max()) + 1, np.int64)
    rank_of_gpu[collective.gpus] = np.arange(ranks)
    switches = 1 + max((_last_switch(phase) for phase in channel.phases), default=-1)
    held = np.zeros((ranks + switches, channel.chunks, ranks), np.int16)
    owner = rank_of_gpu[np.maximum(channel.gpus, 0)]
    held[:ranks], wanted, asked = _begin_and_end(collective, channel, owner)
    state, wrong = _State(held, rank_of_gpu, chunk_exists(channel), chunk_shares(channel)), []
    for phase in channel.phases:
        for step in range(phase.repeat):
            found = _do_step(state, phase.steps.at(step), phase.reduces)
            wrong += [f"phase {phase.name}, step {step}: {line}" for line in found]
    differs = (held[:ranks] != wanted).any(axis=2) & asked & state.exists
    for rank, chunk in np.argwhere(differs)[:3]:
        wrong.append(f"rank {rank} ends without chunk {chunk} as it should be")
    return wrong


def _last_switch(phase: Phase) -> int:
    edges, _ = phase.steps.total(min(phase.repeat, 1))
    return -1 - int(min(edges.sender.min(initial=0), edges.receiver.min(initial=0)))


def _do_step(state: _State, moved: Transfers, reduces: bool) -> list[str]:
    edge, chunk = step_chunks(moved, state.exists)
    wrong = []
    carried = np.bincount(edge, state.share[chunk], minlength=len(moved.edges))
    if (np.abs(carried - moved.share) > _TOLERANCE * np.maximum(carried, 1)).any():
        wrong.append("an edge's bytes are not those of its chunks")
    sender, receiver = (
        _vertices(state, moved.edges.sender)[edge],
        _vertices(state, moved.edges.receiver)[edge],
    )
    arriving = state.held[sender, chunk]
    target = receiver * len(state.exists) + chunk
    alone = len(np.unique(target)) == len(target)
    ranks = state.held.shape[2]
    # A switch keeps nothing: what it has passed on has to come to it again.
    state.held[sender[sender >= ranks]] = 0
    if not reduces:
        state.held[receiver, chunk] = arriving
        return wrong if alone else [*wrong, "two transfers write the same chunk of one rank"]
    if alone:
        state.held[receiver, chunk] += arriving
    else:
        np.add.at(state.held, (receiver, chunk), arriving)
    return wrong


def _vertices(state: _State, ends: NDArray[np.int32]) -> NDArray[np.int64]:
    return np.where(ends >= 0, state.rank_of_gpu[np.maximum(ends, 0)], len(state.held) + ends)


def _begin_and_end(
    collective: Collective, channel: Channel, owner: NDArray[np.int64]
) -> tuple[NDArray[np.int16], NDArray[np.int16], NDArray[np.bool_]]:
    """Return what ranks hold at first, what they should hold in the end, and for which ranks and chunks the end is asked.

    The first two have shape (ranks, chunks, contributions), the last (ranks, chunks).
    """
    ranks, chunks, op, root = len(collective.gpus), channel.chunks, collective.op, collective.root
    chunk = np.arange(chunks)
    every = np.ones((ranks, chunks), np.bool_)
    begin, end = (np.zeros((ranks, chunks, ranks), np.int16) for _ in range(2))
    asked = ~every
    if op in ("all_reduce", "reduce", "reduce_scatter"):
        begin[np.arange(ranks), :, np.arange(ranks)] = 1
        end[:] = 1
        if op == "all_reduce":
            return begin, end, every
        asked[root if op == "reduce" else owner[chunk], chunk] = True
        return begin, end, asked
    if op in ("all_to_all", "all_to_all_v"):
        source, target = np.divmod(chunk, len(owner))
        source, target = owner[source], owner[target]
    elif op == "send_recv":
        source, target = owner[chunk], (owner[chunk] + 1) % ranks
    else:
        source = np.full(chunks, root) if op in ("broadcast", "scatter") else owner[chunk]
        target = owner[chunk] if op == "scatter" else np.full(chunks, root)
    begin[source, chunk, source] = 1
    end[:, chunk, source] = 1
    asked[target, chunk] = True
    return begin, end, every if op in ("broadcast", "all_gather") else asked
