"""An algorithm on a wiring → what it does there, whatever the size of the message."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gpufabric.collectives import ALGORITHMS
from gpufabric.collectives.job_wiring import JobWiring
from gpufabric.collectives.longest_chain import NO_CHAIN
from gpufabric.errors import InputError, did_you_mean, printable
from gpufabric.graphs.link_resources import PCIE, SCALE_UP, link_resources
from gpufabric.jobs.edge_loads import find_routes
from gpufabric.jobs.lay_wiring import Wiring, lay_wiring
from gpufabric.jobs.name_bottleneck import name_bottleneck
from gpufabric.jobs.schedule_flows import Stage, schedule_flows
from gpufabric.records.collective import Collective
from gpufabric.records.flows import Flows
from gpufabric.records.graph import Graph, VertexKind
from gpufabric.records.priced_algorithm import PricedAlgorithm
from gpufabric.simulators import SIMULATORS, Simulate

__all__ = ["Wiring", "lay_wiring", "price_algorithm"]


@dataclass(frozen=True, slots=True)
class _StageTimes:
    """Seconds of one stage per byte of the message: as wired, and if only links inside, or only those of the fabric, had limits.

    ``bottleneck`` is the link that holds the slowest flow back, -1 when none does.
    """

    line_s: float
    inside_s: float
    fabric_s: float
    bottleneck: int


def price_algorithm(
    wiring: Wiring,
    job: JobWiring,
    collective: Collective,
    algorithm: str,
    routing: str,
    seed: int = 0,
    simulator: str = "fluid",
) -> PricedAlgorithm:
    """Return what one algorithm does on a wiring.

    The schedule is laid on the links; its stages are simulated one by one, each with all channels together, and their times
    added.

    Parameters
    ----------
    wiring : Wiring
    job : JobWiring
        The ranks on this wiring.
    collective : Collective
        Its size matters to all_to_all_v only, whose table of bytes belongs to it.
    algorithm : str
        A key of ``ALGORITHMS[collective.op]``.
    routing : str
        A key of ``ROUTING``; not looked at where the wiring has tables.
    seed : int
        Seed of hashes.
    simulator : str
        A key of ``SIMULATORS``.

    Returns
    -------
    PricedAlgorithm

    Raises
    ------
    InputError
        If the operation, algorithm, routing or simulator is unknown.
    UnbuildableError
        If the algorithm can't run here, or a message has no way.
    """
    plan = ALGORITHMS[_known("operation", collective.op, ALGORITHMS)]
    _known(f"algorithm of {collective.op}", algorithm, plan)
    simulate = SIMULATORS[_known("simulator", simulator, SIMULATORS)]
    routes = find_routes(wiring, job, routing, seed)
    schedule = plan[algorithm](collective, job)
    graph = wiring.graph
    codes, names = link_resources(wiring.cluster, graph)
    line = inside = fabric = latency = longest = 0.0
    alone, link_bytes, chain = np.zeros(len(names)), np.zeros(graph.links), NO_CHAIN
    bottleneck = name_bottleneck(wiring.cluster, graph, -1)
    for stage in schedule_flows(routes, schedule):
        load = np.bincount(stage.flows.link, stage.flows.weight, minlength=graph.links).astype(np.float64)
        times = _simulate(graph, stage.flows, codes, simulate)
        line += stage.times * times.line_s
        inside += stage.times * times.inside_s
        fabric += stage.times * times.fabric_s
        latency += stage.times * stage.chain.waits / 2 * _message_latency_s(graph, stage.flows, codes)
        chain = sum((stage.chain for _ in range(stage.times)), chain)
        alone += stage.times * _times_alone(graph, load, codes, len(names))
        link_bytes += stage.times * load
        if times.line_s * stage.times > longest:
            longest = times.line_s * stage.times
            bottleneck = _bottleneck(wiring, stage, load, times.bottleneck)
    shares = {name: float(s / line) for name, s in zip(names, alone, strict=True) if s > 0 and line > 0}
    return PricedAlgorithm(
        op=collective.op,
        algorithm=algorithm,
        ranks=len(job.gpu),
        nodes=len(job.nodes),
        channels=len(schedule.channels),
        line_bytes_per_s=1 / line if line else np.inf,
        inside_bytes_per_s=1 / inside if inside else np.inf,
        fabric_bytes_per_s=1 / fabric if fabric else np.inf,
        inside_steps=chain.inside_steps,
        fabric_steps=chain.fabric_steps,
        path_latency_s=latency,
        bottleneck=bottleneck,
        shares=shares,
        link_bytes=link_bytes,
    )


def _known(what: str, name: str, known: object) -> str:
    names = [str(key) for key in known]  # type: ignore[attr-defined]
    if name not in names:
        raise InputError(
            f'{what} "{printable(name)}" is unknown; known: {", ".join(names)}.{did_you_mean(name, names)}'
        )
    return name


def _simulate(graph: Graph, flows: Flows, codes: NDArray[np.int8], simulate: Simulate) -> _StageTimes:
    is_inside = (codes[flows.link] == SCALE_UP) | (codes[flows.link] == PCIE)
    line_s, bottleneck = _run(graph, flows, simulate)
    return _StageTimes(
        line_s,
        _run(graph, _only(flows, is_inside), simulate)[0],
        _run(graph, _only(flows, ~is_inside), simulate)[0],
        bottleneck,
    )


def _run(graph: Graph, flows: Flows, simulate: Simulate) -> tuple[float, int]:
    """Return how long one byte of the message takes, and the link that holds the slowest flow back."""
    limited = np.isfinite(graph.bytes_per_s[flows.link])
    flows = _only(flows, limited)
    if not flows.count:
        return 0.0, -1
    times = simulate(graph, flows, np.ones(flows.count))
    slowest = int(times.finish_s.argmax())
    return times.total_s, int(times.bottleneck[slowest])


def _only(flows: Flows, keep: NDArray[np.bool_]) -> Flows:
    """Return the flows over some of their links only; flows without any are left out."""
    if keep.all() and (np.diff(flows.first) > 0).all():
        return flows
    owner = np.repeat(np.arange(flows.count), np.diff(flows.first))
    length = np.bincount(owner[keep], minlength=flows.count)
    some = length > 0
    first = np.concatenate([[0], np.cumsum(length[some])]).astype(np.int64)
    return Flows(first, flows.link[keep], flows.weight[keep], flows.latency_s[some])


def _message_latency_s(graph: Graph, flows: Flows, codes: NDArray[np.int8]) -> float:
    """Return the latency of the way of a message between nodes: the mean over a channel's bytes, of the worst channel."""
    if not len(flows.link):
        return 0.0
    is_switch = graph.vertex_kind == VertexKind.SWITCH
    # A message leaves a server and enters another; a half of one, into a switch that adds or out of it, does one of them.
    ends = (~is_switch[graph.link_from]).astype(np.float64) + ~is_switch[graph.link_to]
    part = np.where(codes > PCIE, ends / 2, 0.0)
    messages = np.add.reduceat(flows.weight * part[flows.link], flows.first[:-1])
    travelled = messages > 0
    return float((flows.latency_s[travelled] / messages[travelled]).max(initial=0.0))


def _times_alone(
    graph: Graph, load: NDArray[np.float64], codes: NDArray[np.int8], kinds: int
) -> NDArray[np.float64]:
    """Return the time that each kind of link would need for a byte of the message, had the others no limit."""
    used = np.flatnonzero(load)
    found = np.zeros(kinds)
    np.maximum.at(found, codes[used], load[used] / graph.bytes_per_s[used])
    return found


def _bottleneck(wiring: Wiring, stage: Stage, load: NDArray[np.float64], link: int) -> str:
    messages = float(load[link]) / stage.edge_share if link >= 0 else np.nan
    return name_bottleneck(wiring.cluster, wiring.graph, link, messages)
