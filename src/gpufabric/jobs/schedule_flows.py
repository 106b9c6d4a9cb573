"""A schedule on a wiring → its stages, in each of which every channel is one flow, and what they put on each link."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256

import numpy as np
from numpy.typing import NDArray

from gpufabric.collectives.exchange_steps import MAX_EDGES
from gpufabric.collectives.fixed_steps import FixedSteps, join_edges
from gpufabric.collectives.longest_chain import NO_CHAIN, Chain, longest_chain
from gpufabric.errors import InputError
from gpufabric.jobs.edge_loads import JobRoutes, Laid, edge_loads, measure_laid
from gpufabric.jobs.exchange_loads import exchange_loads, summed_up
from gpufabric.kernels.side_by_side import side_by_side
from gpufabric.records.flows import Flows, LinkLoads
from gpufabric.records.schedule import Channel, Edges, Phase, Schedule

_BLOCK_EDGES = 1 << 20
_THREADED_GPUS = 16_384


@dataclass(frozen=True, slots=True)
class Stage:
    """What all channels do at one time.

    Attributes
    ----------
    link_bytes : float64 array, one a link of the graph
        Bytes that all channels put on each link, per byte of the message.
    latency_s : float64 array, one a channel
        Latency of the links, each as often as its bytes per byte of the message.
    messages : float64 array, one a channel
        Messages between nodes, counted alike: whole where they leave a node and enter another, half where they do one of both.
    times : int
        So many stages like this one follow one another.
    edge_share : float
        Bytes over each edge per byte of the message; NaN where edges differ.
    chain : Chain
        Messages that follow one another in one of them.
    """

    link_bytes: NDArray[np.float64]
    latency_s: NDArray[np.float64]
    messages: NDArray[np.float64]
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
    graph = routes.wiring.graph
    for number in range(len(staged[0])):
        phases = [stages[number][0] for stages in staged]
        total, measured = np.zeros(graph.links), np.zeros((len(phases), 2))
        for index, laid in _all_loads(routes, schedule.channels, phases):
            np.add.at(total, laid.loads.link, laid.loads.weight)
            measured[index] += laid.measured
        yield Stage(
            link_bytes=total,
            latency_s=measured[:, 0],
            messages=measured[:, 1],
            times=staged[0][number][1],
            edge_share=_common_share(phases),
            chain=sum((longest_chain(phase) for phase in phases[0]), NO_CHAIN),
        )


def stage_flows(routes: JobRoutes, schedule: Schedule) -> Iterator[tuple[Flows, int]]:
    """Give each stage as flows, one a channel, and how many like it follow one another: for what asks when each channel ends.

    Parameters and errors are those of :func:`schedule_flows`; weights are bytes over each link per byte of the message.
    """
    graph = routes.wiring.graph
    staged = [merged_stages(channel) for channel in schedule.channels]
    for number in range(len(staged[0])):
        phases = [stages[number][0] for stages in staged]
        parts: list[list[LinkLoads]] = [[] for _ in phases]
        for index, found in _all_loads(routes, schedule.channels, phases):
            parts[index].append(found.loads)
        links, weights = [], []
        for own in parts:
            load = np.zeros(graph.links)
            for part in own:
                np.add.at(load, part.link, part.weight)
            links.append(np.flatnonzero(load).astype(np.int32))
            weights.append(load[links[-1]])
        latency = [float(weight @ graph.latency_s[used]) for weight, used in zip(weights, links, strict=True)]
        flows = Flows(
            first=np.cumsum([0, *map(len, links)], dtype=np.int64),
            link=np.concatenate(links),
            weight=np.concatenate(weights),
            latency_s=np.array(latency),
        )
        yield flows, staged[0][number][1]


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


def _all_loads(
    routes: JobRoutes, channels: tuple[Channel, ...], phases: list[list[Phase]]
) -> Iterator[tuple[int, Laid]]:
    """Give what channels put on links, each with its number."""
    count = len(channels)
    if count < 2 or len(routes.job.gpu) < _THREADED_GPUS:
        for index in range(count):
            for laid in _channel_loads(routes, channels[index], phases[index], index):
                yield index, laid
        return

    def lay(index: int) -> tuple[int, list[Laid]]:
        return index, list(_channel_loads(routes, channels[index], phases[index], index))

    # Neighbours have phases in common: every second one first, so that they are not laid twice at the same time.
    order = [*range(0, count, 2), *range(1, count, 2)]
    for index, found in side_by_side(lay, order):
        for laid in found:
            yield index, laid


def _channel_loads(routes: JobRoutes, channel: Channel, phases: list[Phase], number: int) -> Iterator[Laid]:
    """Give what the phases of a channel put on links."""
    whole = float(np.sum(channel.chunk_share)) * (1 if np.ndim(channel.chunk_share) else channel.chunks)
    for phase in phases:
        exchange = summed_up(routes, phase.steps, phase.repeat)
        if exchange is not None:
            yield measure_laid(routes, _joined(exchange_loads(routes, exchange)))
        elif isinstance(phase.steps, FixedSteps):
            yield _fixed_loads(routes, *phase.steps.total(phase.repeat), number, whole)
        else:
            for edges, share in _in_blocks(phase, _BLOCK_EDGES // routes.wiring.hashing.queue_pairs):
                yield measure_laid(routes, _joined(edge_loads(routes, edges, share, number, True, whole)))


def _fixed_loads(
    routes: JobRoutes, edges: Edges, share: NDArray[np.float64], number: int, whole: float
) -> Laid:
    """Return the loads of messages that are the same in all steps; those that were laid before are looked up."""
    least, most = share.min(initial=np.inf), share.max(initial=0.0)
    told = [np.array([least, most]), edges.sender, edges.receiver]
    if least < most:
        told.append(share)
    between = max(edges.exit_port.max(initial=-1), edges.entry_port.max(initial=-1)) >= 0
    if between:
        # Between nodes the channel's number is part of what a hash sees, and switches that add look at its bytes.
        told += [edges.exit_port, edges.entry_port, np.array([number, whole])]
    digest = sha256(repr([len(part) for part in told]).encode(), usedforsecurity=False)
    for part in told:
        digest.update(np.ascontiguousarray(part).data)
    known = routes.laid.get(digest.digest())
    if known is None:
        loads = _joined(edge_loads(routes, edges, share, number, False, whole))
        # Only cables have a latency and count as a part of a message.
        known = measure_laid(routes, loads) if between else Laid(loads, np.zeros(2))
        routes.laid[digest.digest()] = known
    return known


def _joined(parts: list[LinkLoads]) -> LinkLoads:
    return LinkLoads(
        np.concatenate([part.link for part in parts]), np.concatenate([part.weight for part in parts])
    )


def _in_blocks(phase: Phase, most: int) -> Iterator[tuple[Edges, NDArray[np.float64]]]:
    """Give all edges of a phase whose steps differ and the bytes over them, about *most* at a time."""
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
        if rows >= most or step == phase.repeat - 1:
            yield join_edges(*edges), np.concatenate(shares)
            edges, shares, rows = [], [], 0


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
