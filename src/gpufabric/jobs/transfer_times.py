"""The schedule of few ranks → its single transfers, timed on the wiring by fluid simulation."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from gpufabric.collectives.expand import SingleTransfers, expand
from gpufabric.collectives.fixed_steps import FixedSteps
from gpufabric.errors import InputError
from gpufabric.jobs.collective_detail import CollectiveDetail
from gpufabric.jobs.edge_loads import edge_loads
from gpufabric.records.flows import Flows
from gpufabric.records.schedule import Edges
from gpufabric.records.timed_flows import TimedFlows
from gpufabric.records.timeline import Span
from gpufabric.simulators.fluid import run_timed

MOST_RANKS = 64
MOST_TRANSFERS = 20_000
_MOST_PARTS = 8


def why_no_transfers(detail: CollectiveDetail) -> str:
    """Return why single transfers are left out, or an empty string."""
    if detail.result.gpus > MOST_RANKS:
        return f"left out: more than {MOST_RANKS} ranks"
    try:
        expand(detail.schedule, MOST_TRANSFERS)
    except InputError:
        return f"left out: more than {MOST_TRANSFERS:,} transfers"
    return ""


def transfer_spans(detail: CollectiveDetail) -> Iterator[Span]:
    """Give each transfer, on the track of its sender.

    A transfer starts when its sender has what it passes on and has ended its own transfer of the step before. Where phases run at
    the same time, a chunk is cut into parts that follow one another, up to 8 as the limit of transfers allows.
    """
    moved = expand(detail.schedule, MOST_TRANSFERS)
    parts = _parts(detail, len(moved))
    flows = _flows(detail, moved, parts)
    before, after = _order(detail, moved, parts)
    size = detail.result.size_bytes
    times = run_timed(
        detail.wiring.graph,
        TimedFlows(flows, np.repeat(moved.share * size / parts, parts), np.zeros(flows.count), before, after),
    )
    names = _EndNames(detail)
    for i in range(len(moved)):
        phase = detail.schedule.channels[moved.channel[i]].phases[moved.phase[i]]
        ends = names.of(int(moved.sender[i])), names.of(int(moved.receiver[i]))
        for part in range(parts):
            row = i * parts + part
            details: dict[str, str | float | int] = {
                "channel": int(moved.channel[i]),
                "step": int(moved.step[i]),
                "chunk": int(moved.chunk[i]),
                "part": f"{part + 1} of {parts}",
                "bytes": float(moved.share[i]) * size / parts,
            }
            begin = float(times.begin_s[row])
            yield Span(
                "transfers",
                ends[0],
                f"{phase.name} to {ends[1]}",
                begin,
                float(times.arrived_s[row]) - begin,
                details,
            )


def _parts(detail: CollectiveDetail, transfers: int) -> int:
    stages = ([phase.stage for phase in channel.phases] for channel in detail.schedule.channels)
    pipelined = any(len(set(found)) < len(found) for found in stages)
    return max(1, min(_MOST_PARTS, MOST_TRANSFERS // max(transfers, 1))) if pipelined else 1


class _EndNames:
    """Names of what sends and receives: ranks, and switches that add."""

    def __init__(self, detail: CollectiveDetail) -> None:
        self._rank = {int(gpu): int(rank) for gpu, rank in zip(detail.job.gpu, detail.job.rank, strict=True)}
        self._nodes = len(detail.job.nodes)

    def of(self, end: int) -> str:
        """Return the name of one end of a transfer."""
        if end >= 0:
            return f"rank {self._rank[end]}"
        return f"NVSwitches of node {~end}" if ~end < self._nodes else f"switch tree {~end - self._nodes}"


def _flows(detail: CollectiveDetail, moved: SingleTransfers, parts: int) -> Flows:
    """Return a flow for each part of each transfer, over the links that its edge takes."""
    latency = detail.wiring.graph.latency_s
    known: dict[tuple[int, ...], tuple[NDArray[np.int32], NDArray[np.float64]]] = {}
    links, weights, length = [], [], []
    columns = (moved.channel, moved.phase, moved.sender, moved.receiver, moved.exit_port, moved.entry_port)
    for channel, phase, *ends in zip(*(column.tolist() for column in columns), strict=True):
        key = (channel, *ends)
        if key not in known:
            steps = detail.schedule.channels[channel].phases[phase].steps
            known[key] = _way(detail, ends, channel, not isinstance(steps, FixedSteps))
        link, weight = known[key]
        for _ in range(parts):
            links.append(link)
            weights.append(weight)
            length.append(len(link))
    return Flows(
        first=np.concatenate([[0], np.cumsum(length)]).astype(np.int64),
        link=np.concatenate(links),
        weight=np.concatenate(weights),
        latency_s=np.array([float(w @ latency[li]) for li, w in zip(links, weights, strict=True)]),
    )


def _way(
    detail: CollectiveDetail, ends: list[int], channel: int, by_gpu: bool
) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    edges = Edges(*(np.array([end], np.int32) for end in ends))
    loads = edge_loads(detail.routes, edges, np.ones(1), channel, by_gpu)
    link = np.concatenate([part.link for part in loads])
    weight = np.concatenate([part.weight for part in loads])
    unique, place = np.unique(link, return_inverse=True)
    limited = np.isfinite(detail.wiring.graph.bytes_per_s[unique])
    summed = np.bincount(place, weight, len(unique)).astype(np.float64)
    return unique[limited].astype(np.int32), summed[limited]


def _order(
    detail: CollectiveDetail, moved: SingleTransfers, parts: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return which flow waits for which."""
    got: dict[tuple[int, int, int], list[tuple[tuple[int, int], int]]] = {}
    # Of each sender the transfers of its last step and of the step before; phases of one stage do not wait for each other.
    last: dict[tuple[int, int], tuple[tuple[int, int, int], list[int], list[int]]] = {}
    stages = [[phase.stage for phase in channel.phases] for channel in detail.schedule.channels]
    pairs: set[tuple[int, int]] = set()
    columns = (moved.channel, moved.phase, moved.step, moved.sender, moved.receiver, moved.chunk)
    rows = list(zip(*(column.tolist() for column in columns), strict=True))
    for i, (channel, phase, step, sender, receiver, chunk) in enumerate(rows):
        now = phase, step
        pairs |= {(j, i) for when, j in got.get((channel, sender, chunk), ()) if when < now}
        got.setdefault((channel, receiver, chunk), []).append((now, i))
        number = stages[channel][phase], phase, step
        before, own, earlier = last.get((channel, sender), (number, [], []))
        if before != number:
            beside = before[0] == number[0] and before[1] != number[1]
            own, earlier = [], [] if beside else own
        pairs |= {(j, i) for j in earlier}
        own.append(i)
        last[channel, sender] = number, own, earlier
    first = np.array(sorted(pairs), np.int64).reshape(-1, 2)
    part = np.arange(parts)
    waits = (first[:, None, :] * parts + part[None, :, None]).reshape(-1, 2)
    row = np.arange(len(rows), dtype=np.int64)[:, None] * parts
    chained = np.stack([(row + part[:-1]).ravel(), (row + part[1:]).ravel()], axis=1)
    both = np.concatenate([waits, chained])
    return both[:, 0], both[:, 1]
