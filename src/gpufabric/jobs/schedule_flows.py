"""A schedule on a wiring → its stages, in each of which every channel is one flow, and what they put on each link."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from gpufabric.collectives.exchange_steps import MAX_EDGES
from gpufabric.collectives.fixed_steps import FixedSteps, join_edges
from gpufabric.collectives.longest_chain import NO_CHAIN, Chain, longest_chain
from gpufabric.errors import InputError
from gpufabric.jobs.edge_loads import JobRoutes, edge_loads
from gpufabric.jobs.exchange_loads import exchange_loads, summed_up
from gpufabric.kernels.side_by_side import side_by_side
from gpufabric.records.flows import Flows, LinkLoads
from gpufabric.records.graph import Graph, VertexKind
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
    # Side by side, because looking a link up in a large table costs more than adding what is found.
    measures = np.stack([graph.latency_s, _message_parts(graph)], axis=1)
    for number in range(len(staged[0])):
        phases = [stages[number][0] for stages in staged]
        total, measured = np.zeros(graph.links), np.zeros((len(phases), 2))
        for index, loads in _all_loads(routes, schedule.channels, phases):
            np.add.at(total, loads.link, loads.weight)
            measured[index] += np.einsum("i,ij->j", loads.weight, measures.take(loads.link, axis=0))
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
            parts[index].append(found)
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


def _message_parts(graph: Graph) -> NDArray[np.float64]:
    """Return for each link a half for each of its ends where messages leave or enter a node: 0 inside nodes and switches."""
    part = np.zeros(graph.links)
    cables = graph.cable_link.ravel()
    for end in (graph.link_from, graph.link_to):
        part[cables] += np.where(graph.vertex_kind[end[cables]] == VertexKind.SWITCH, 0.0, 0.5)
    return part


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
) -> Iterator[tuple[int, LinkLoads]]:
    """Give what channels put on links, each with its number."""
    count = len(channels)
    if count < 2 or len(routes.job.gpu) < _THREADED_GPUS:
        for index in range(count):
            for loads in _channel_loads(routes, channels[index], phases[index], index):
                yield index, loads
        return

    def lay(index: int) -> tuple[int, list[LinkLoads]]:
        return index, list(_channel_loads(routes, channels[index], phases[index], index))

    # Neighbours have phases in common: every second one first, so that they are not laid twice at the same time.
    order = [*range(0, count, 2), *range(1, count, 2)]
    for index, found in side_by_side(lay, order):
        for loads in found:
            yield index, loads


def _channel_loads(
    routes: JobRoutes, channel: Channel, phases: list[Phase], number: int
) -> Iterator[LinkLoads]:
    """Give what the phases of a channel put on links."""
    whole = float(np.sum(channel.chunk_share)) * (1 if np.ndim(channel.chunk_share) else channel.chunks)
    for phase in phases:
        exchange = summed_up(routes, phase.steps, phase.repeat)
        if exchange is not None:
            yield _joined(exchange_loads(routes, exchange))
        elif isinstance(phase.steps, FixedSteps):
            yield _fixed_loads(routes, *phase.steps.total(phase.repeat), number, whole)
        else:
            for edges, share in _in_blocks(phase):
                yield _joined(edge_loads(routes, edges, share, number, True, whole))


def _fixed_loads(
    routes: JobRoutes, edges: Edges, share: NDArray[np.float64], number: int, whole: float
) -> LinkLoads:
    """Return the loads of messages that are the same in all steps; those that were laid before are looked up."""
    ports = np.stack([edges.exit_port, edges.entry_port])
    # Between nodes the channel's number is part of what a hash sees, and switches that add look at its bytes.
    told = (number, whole) if (ports >= 0).any() else None
    digest = blake2b(repr(told).encode(), digest_size=16)
    for part in (edges.sender, edges.receiver, ports, share):
        digest.update(np.ascontiguousarray(part).data)
    known = routes.laid.get(digest.digest())
    if known is None:
        known = routes.laid[digest.digest()] = _joined(edge_loads(routes, edges, share, number, False, whole))
    return known


def _joined(parts: list[LinkLoads]) -> LinkLoads:
    return LinkLoads(
        np.concatenate([part.link for part in parts]), np.concatenate([part.weight for part in parts])
    )


def _in_blocks(phase: Phase) -> Iterator[tuple[Edges, NDArray[np.float64]]]:
    """Give all edges of a phase whose steps differ and the bytes over them, not too many at a time."""
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
