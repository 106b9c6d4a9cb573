"""A schedule on a wiring → its stages, in each of which every channel is one flow."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gpufabric.collectives.exchange_steps import MAX_EDGES
from gpufabric.collectives.fixed_steps import FixedSteps, join_edges
from gpufabric.collectives.longest_chain import NO_CHAIN, Chain, longest_chain
from gpufabric.errors import InputError
from gpufabric.jobs.edge_loads import JobRoutes, edge_loads
from gpufabric.jobs.exchange_loads import exchange_loads, summed_up
from gpufabric.records.flows import Flows, LinkLoads
from gpufabric.records.schedule import Channel, Edges, Phase, Schedule

_BLOCK_EDGES = 1 << 20
_Loads = tuple[NDArray[np.int32], NDArray[np.float64]]


@dataclass(frozen=True, slots=True)
class Stage:
    """What all channels do at one time.

    Attributes
    ----------
    flows : Flows
        One a channel; the weights are bytes over each link per byte of the message.
    times : int
        So many stages like this one follow one another.
    edge_share : float
        Bytes over each edge per byte of the message; NaN where edges differ.
    chain : Chain
        Messages that follow one another in one of them.
    """

    flows: Flows
    times: int
    edge_share: float
    chain: Chain


def schedule_flows(routes: JobRoutes, schedule: Schedule) -> Iterator[Stage]:
    """Give the stages of a schedule, one after the other.

    Phases of one stage run at the same time, because a GPU passes on the first part of a long message while the rest is on its
    way; so a channel is one flow, with all the bytes that its phases put on each link, and runs at the pace of its slowest link.
    A stage begins when all channels have ended the one before. Stages that use the same edges alike are routed once.

    Parameters
    ----------
    routes : JobRoutes
    schedule : Schedule

    Raises
    ------
    UnbuildableError
        If a message has no way.
    InputError
        If single messages are needed and there are too many.
    """
    staged = [merged_stages(channel) for channel in schedule.channels]
    for number in range(len(staged[0])):
        phases = [stages[number][0] for stages in staged]
        loads = [
            _channel_loads(routes, channel, own, index)
            for index, (channel, own) in enumerate(zip(schedule.channels, phases, strict=True))
        ]
        yield Stage(
            flows=_join(routes, loads),
            times=staged[0][number][1],
            edge_share=_common_share(phases),
            chain=sum((longest_chain(phase) for phase in phases[0]), NO_CHAIN),
        )


def merged_stages(channel: Channel) -> list[tuple[list[Phase], int]]:
    """Return the phases of each stage, and how many stages that are alike follow one another."""
    found: list[tuple[list[Phase], int]] = []
    for stage in sorted({phase.stage for phase in channel.phases}):
        phases = [phase for phase in channel.phases if phase.stage == stage and phase.repeat]
        if found and _same_edges(found[-1][0], phases):
            found[-1] = (found[-1][0], found[-1][1] + 1)
        elif phases or not found:
            found.append((phases, 1))
    return found


def _same_edges(before: list[Phase], after: list[Phase]) -> bool:
    if len(before) != len(after):
        return False
    return all(
        isinstance(a.steps, FixedSteps)
        and isinstance(b.steps, FixedSteps)
        and a.steps.edges is b.steps.edges
        and a.repeat == b.repeat
        and a.steps.turn is b.steps.turn is None
        and np.array_equal(a.steps.share, b.steps.share)
        for a, b in zip(before, after, strict=True)
    )


def _channel_loads(routes: JobRoutes, channel: Channel, phases: list[Phase], number: int) -> _Loads:
    whole = float(np.sum(channel.chunk_share)) * (1 if np.ndim(channel.chunk_share) else channel.chunks)
    total: NDArray[np.float64] | None = None
    for phase in phases:
        exchange = summed_up(routes, phase.steps, phase.repeat)
        by_gpu = not isinstance(phase.steps, FixedSteps)
        blocks = (
            (edge_loads(routes, edges, share, number, by_gpu, whole) for edges, share in _in_blocks(phase))
            if exchange is None
            else [exchange_loads(routes, exchange)]
        )
        for loads in blocks:
            total = _sum(loads, routes.wiring.graph.links, total)
    if total is None:
        return np.empty(0, np.int32), np.empty(0)
    used = np.flatnonzero(total)
    return used.astype(np.int32), total[used]


def _in_blocks(phase: Phase) -> Iterator[tuple[Edges, NDArray[np.float64]]]:
    """Give all edges of a phase and the bytes over them, not too many at a time."""
    if isinstance(phase.steps, FixedSteps):
        yield phase.steps.total(phase.repeat)
        return
    edges, shares, rows = [], [], 0
    for step in range(phase.repeat):
        moved = phase.steps.at(step)
        if len(moved.edges) * phase.repeat > MAX_EDGES:
            raise InputError(
                f"schedule: its {phase.repeat:,} steps have more than {MAX_EDGES:,} messages, which differ and must be looked at "
                "one by one; allowed are fewer ranks"
            )
        edges.append(moved.edges)
        shares.append(moved.share)
        rows += len(moved.edges)
        if rows >= _BLOCK_EDGES or step == phase.repeat - 1:
            yield join_edges(*edges), np.concatenate(shares)
            edges, shares, rows = [], [], 0


def _sum(loads: list[LinkLoads], links: int, before: NDArray[np.float64] | None) -> NDArray[np.float64]:
    link = np.concatenate([part.link for part in loads])
    found = np.bincount(link, np.concatenate([part.weight for part in loads]), minlength=links).astype(
        np.float64, copy=False
    )
    if before is None:
        return found
    found += before
    return found


def _join(routes: JobRoutes, loads: list[_Loads]) -> Flows:
    latency = routes.wiring.graph.latency_s
    return Flows(
        first=np.concatenate([[0], np.cumsum([len(links) for links, _ in loads])]).astype(np.int64),
        link=np.concatenate([links for links, _ in loads]),
        weight=np.concatenate([weights for _, weights in loads]),
        latency_s=np.array([float(weights @ latency[links]) for links, weights in loads]),
    )


def _common_share(phases: list[list[Phase]]) -> float:
    """Return the bytes over an edge where all edges carry as many, else NaN."""
    seen: set[float] = set()
    for phase in (phase for own in phases for phase in own):
        if not isinstance(phase.steps, FixedSteps):
            return float("nan")
        _, share = phase.steps.total(phase.repeat)
        seen |= {float(share.min(initial=np.inf)), float(share.max(initial=0.0))}
    seen -= {0.0, float("inf")}
    return seen.pop() if len(seen) == 1 else float("nan")
