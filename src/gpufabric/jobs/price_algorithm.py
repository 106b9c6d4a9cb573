"""An algorithm on a wiring → what it does there, whatever the size of the message."""

from __future__ import annotations

import numpy as np

from gpufabric.collectives import ALGORITHMS
from gpufabric.collectives.job_wiring import JobWiring
from gpufabric.collectives.longest_chain import NO_CHAIN
from gpufabric.errors import InputError, did_you_mean, printable
from gpufabric.graphs.link_resources import NIC
from gpufabric.jobs.edge_loads import JobRoutes, find_routes
from gpufabric.jobs.lay_wiring import Wiring, lay_wiring
from gpufabric.jobs.name_bottleneck import name_bottleneck
from gpufabric.jobs.schedule_flows import Stage, schedule_flows
from gpufabric.records.collective import Collective
from gpufabric.records.priced_algorithm import PricedAlgorithm
from gpufabric.records.schedule import Schedule
from gpufabric.simulators import SIMULATORS
from gpufabric.simulators.equal_flows import last_end

__all__ = ["Wiring", "lay_wiring", "price_algorithm", "price_routed"]


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
    added. Channels carry equal parts and start together, which both simulators answer alike
    (:mod:`gpufabric.simulators.equal_flows`).

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
    return price_routed(find_routes(wiring, job, routing, seed), collective, algorithm, simulator)


def price_routed(
    routes: JobRoutes, collective: Collective, algorithm: str, simulator: str = "fluid"
) -> PricedAlgorithm:
    """Return what :func:`price_algorithm` does, on routes that several algorithms share."""
    plan = ALGORITHMS[_known("operation", collective.op, ALGORITHMS)]
    _known(f"algorithm of {collective.op}", algorithm, plan)
    _known("simulator", simulator, SIMULATORS)
    wiring, job = routes.wiring, routes.job
    schedule = plan[algorithm](collective, job)
    graph = wiring.graph
    codes, names = routes.facts.resource, routes.facts.names
    limits, latency, longest = np.zeros(4), 0.0, 0.0
    alone, link_bytes, chain = np.zeros(len(names)), np.zeros(graph.links), NO_CHAIN
    bottleneck = name_bottleneck(wiring.cluster, graph, -1)
    for stage in schedule_flows(routes, schedule):
        busy, link = last_end(graph, stage.link_bytes, codes, len(names))
        ports_s = routes.facts.nic_seconds(stage.link_bytes)
        limits += stage.times * np.array([busy.max(), busy[:NIC].max(), busy[NIC:].max(), ports_s])
        latency += stage.times * stage.chain.waits / 2 * _message_latency_s(stage)
        chain = sum((stage.chain for _ in range(stage.times)), chain)
        alone += stage.times * busy
        link_bytes += stage.times * stage.link_bytes
        if stage.times * busy.max() > longest:
            longest = stage.times * busy.max()
            bottleneck = _bottleneck(wiring, stage, link)
    line, inside, fabric, ports = (float(limit) for limit in limits)
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
        ports_bytes_per_s=1 / ports if ports else np.inf,
        changes_rail=_changes_rail(job, schedule),
    )


def _changes_rail(job: JobWiring, schedule: Schedule) -> bool:
    """Tell whether channels enter and leave nodes by different NICs: the rings of GPUs that are joined one to one."""
    meshed = schedule.algorithm == "ring" and job.scale_up.kind == "mesh" and len(job.nodes) > 1
    return meshed and all(channel.rail < 0 for channel in schedule.channels)


def _known(what: str, name: str, known: object) -> str:
    names = [str(key) for key in known]  # type: ignore[attr-defined]
    if name not in names:
        raise InputError(
            f'{what} "{printable(name)}" is unknown; known: {", ".join(names)}.{did_you_mean(name, names)}'
        )
    return name


def _message_latency_s(stage: Stage) -> float:
    """Return the latency of the way of a message between nodes: the mean over a channel's bytes, of the worst channel."""
    travelled = stage.messages > 0
    return float((stage.latency_s[travelled] / stage.messages[travelled]).max(initial=0.0))


def _bottleneck(wiring: Wiring, stage: Stage, link: int) -> str:
    messages = float(stage.link_bytes[link]) / stage.edge_share if link >= 0 else np.nan
    return name_bottleneck(wiring.cluster, wiring.graph, link, messages)
