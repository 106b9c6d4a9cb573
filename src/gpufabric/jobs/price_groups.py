"""What training asks of the network → its times on the real fabric, all groups of a demand at work at the same time.

One group is priced as ``gpufabric collective`` prices it. Then the messages of all groups are laid on the links together: what
the fullest link carries more than with one group alone is what the groups cost each other. Sets of groups that several
demands have in common are laid once.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from gpufabric.catalog.calibrations import load_collective_calibration
from gpufabric.collectives.job_wiring import JobWiring, lay_job
from gpufabric.errors import UnbuildableError
from gpufabric.graphs.link_resources import NIC
from gpufabric.jobs.collective import Asked
from gpufabric.jobs.collective_result import PricedJob
from gpufabric.jobs.edge_loads import JobRoutes, find_routes
from gpufabric.jobs.find_cuts import find_cuts
from gpufabric.jobs.library_situation import job_situation
from gpufabric.jobs.name_bottleneck import name_bottleneck
from gpufabric.jobs.place_job import JobPlacement
from gpufabric.jobs.price_algorithm import price_routed
from gpufabric.jobs.price_groups_lanes import (
    GpuDoors,
    GroupEdges,
    GroupNodes,
    cut_groups,
    find_doors,
    ring_edges,
)
from gpufabric.jobs.price_groups_loads import distinct_domains, exchange_edges, group_loads, send_edges
from gpufabric.libraries.choose import FREE, candidates_of, choose
from gpufabric.libraries.menu import lay_menu
from gpufabric.records.calibration import Calibration
from gpufabric.records.cluster import DeviceKind
from gpufabric.records.collective import Collective
from gpufabric.records.job_situation import JobSituation
from gpufabric.records.priced_algorithm import PricedAlgorithm, PricedMenu
from gpufabric.simulators.equal_flows import last_end

_WHOLE = 1 << 30


@dataclass(frozen=True, slots=True)
class GroupsTime:
    """The time of one demand once, with its 80 % range; ``wire_s`` is what of it depends on the bytes.

    ``contention`` is how many times longer the fullest link is busy than with one group alone; ``domains`` the scale-up domains
    that the group which spans most has ranks in.
    """

    time_s: float
    low_s: float
    high_s: float
    wire_s: float
    algorithm: str
    bottleneck: str
    contention: float
    domains: int


@dataclass(frozen=True, slots=True)
class _Contention:
    """How many times longer the fullest link inside servers, and between them, is busy than with one group alone; its name."""

    inside: float
    between: float
    bottleneck: str


_NOTHING_SHARED = _Contention(1.0, 1.0, "")
_MATTERS = 1.01


@dataclass(frozen=True, slots=True)
class _PricedGroups:
    """One set of groups that do one operation: everything that does not depend on the size of the message."""

    job: PricedJob
    situation: JobSituation
    shared: _Contention
    domains: int
    away: float


@dataclass(frozen=True, slots=True)
class GroupPricer:
    """A wired cluster with the ranks of a job on it, and the sets of groups that were laid before.

    Attributes
    ----------
    asked : Asked
        Wiring, library and routing, as of any collective over all ranks.
    placement : JobPlacement
    routes : JobRoutes
        Of all ranks.
    doors : GpuDoors
    calibration : Calibration
    situation : JobSituation
        Of all ranks.
    direct : bool
        Servers are cabled to each other without switches; what groups cost each other is then not counted.
    laid : dict
        By operation, extents and strides.
    """

    asked: Asked
    placement: JobPlacement
    routes: JobRoutes
    doors: GpuDoors
    calibration: Calibration
    direct: bool
    situation: JobSituation
    laid: dict[tuple[object, ...], _PricedGroups] = field(default_factory=dict)

    def time(
        self,
        op: str,
        groups: NDArray[np.int64],
        key: tuple[object, ...],
        size_bytes: float,
        copies: tuple[float, float],
    ) -> GroupsTime:
        """Return the time of one operation of all groups at once.

        Parameters
        ----------
        op : str
            As :data:`gpufabric.records.demand.OPS` has it.
        groups : int64 array, (G, n)
            Ranks.
        key
            What tells these groups from others.
        size_bytes : float
            Message, as nccl-tests means it.
        copies : (float, float)
            Of an exchange of tokens: other servers that get a copy (mean), and experts that do; (0, 0) where every peer gets
            bytes of its own.

        Raises
        ------
        UnbuildableError
            If nothing that the library may run has a way through the fabric.
        """
        known = self.laid.get((op, *key))
        if known is None:
            known = self.laid[op, *key] = _lay(self, op, self.placement.gpu[groups])
        return _time(self, known, max(1, round(size_bytes)), copies)


def group_pricer(
    asked: Asked, placement: JobPlacement, calibration: Calibration | None = None
) -> GroupPricer:
    """Return what prices the groups of a job; *asked* is what :func:`gpufabric.jobs.collective.ask` says of all its ranks."""
    wiring = asked.wiring
    everyone = _job(asked, placement.gpu)
    kind = wiring.cluster.devices.kind
    ends = kind[wiring.cluster.link_device_a], kind[wiring.cluster.link_device_b]
    direct = bool(((ends[0] == DeviceKind.SERVER) & (ends[1] == DeviceKind.SERVER)).any())
    return GroupPricer(
        asked,
        replace(placement, cluster=wiring.cluster),
        find_routes(wiring, everyone, asked.routing, asked.options.hash_seed),
        find_doors(wiring.cluster, wiring.inside, asked.fabric),
        calibration or load_collective_calibration(),
        direct,
        job_situation(everyone, asked.server),
    )


def _job(asked: Asked, gpu: NDArray[np.int32]) -> JobWiring:
    wiring, options = asked.wiring, asked.options
    return lay_job(
        wiring.cluster, wiring.inside, gpu, asked.server.scale_up, asked.fabric, options.in_network
    )


def _lay(pricer: GroupPricer, op: str, gpu: NDArray[np.int32]) -> _PricedGroups:
    asked = pricer.asked
    cut = cut_groups(asked.wiring.cluster, gpu)
    widest = int(cut.count.argmax())
    job = _job(asked, gpu[widest])
    situation = job_situation(job, asked.server)
    if asked.links_off:
        situation = replace(situation, scale_up="")
    menu = lay_menu(asked.model, asked.settings, situation, op)
    names = dict.fromkeys(c.algorithm for c in candidates_of(menu, FREE) if not c.fix)
    gates = np.zeros_like(pricer.routes.gates)
    gates[job.gpu] = job.scale_up.kind != "pcie"
    routes = replace(pricer.routes, job=job, gates=gates, laid={})
    collective = Collective(op, _WHOLE, gpu[widest], "as placed")
    priced, refused = {}, {}
    for name in names:
        try:
            priced[name] = price_routed(routes, collective, name)
        except UnbuildableError as error:
            refused[name] = error
    if not priced:
        raise next(iter(refused.values()))
    several = len(gpu) > 1 and not pricer.direct
    shared = _contention(pricer, op, gpu, (cut, widest)) if several else _NOTHING_SHARED
    inside, between = shared.inside, shared.between
    local = float(job.nodes.size.max())
    return _PricedGroups(
        PricedJob(
            rank_order="as placed",
            cuts=find_cuts(asked.wiring, job),
            priced={name: _slowed(found, inside, between) for name, found in priced.items()},
            refused=tuple((name, error.reason) for name, error in refused.items()),
            library=f"{asked.model.name} {asked.model.version}",
            method=asked.method,
            assumptions=(),
        ),
        situation,
        shared,
        int(cut.count.max()),
        (len(job.gpu) - local) / len(job.gpu),
    )


def _slowed(priced: PricedAlgorithm, inside: float, between: float) -> PricedAlgorithm:
    rates = priced.inside_bytes_per_s / inside, priced.fabric_bytes_per_s / between
    return replace(
        priced,
        inside_bytes_per_s=rates[0],
        fabric_bytes_per_s=rates[1],
        line_bytes_per_s=min(rates),
        link_bytes=None,
    )


def _contention(
    pricer: GroupPricer, op: str, gpu: NDArray[np.int32], widest: tuple[GroupNodes, int]
) -> _Contention:
    cut, chosen = widest
    cluster, graph = pricer.asked.wiring.cluster, pricer.asked.wiring.graph
    alone = gpu[chosen][None, :]
    if int(cut.count.max()) == 1:
        gpu = gpu[distinct_domains(cluster, gpu)]
        if len(gpu) == 1:
            return _NOTHING_SHARED
    *all_s, link = _busy(pricer, op, gpu)
    *one_s, _ = _busy(pricer, op, alone)
    inside, between = (max(a / b, 1.0) if b > 0 else 1.0 for a, b in zip(all_s, one_s, strict=True))
    named = max(inside, between) > _MATTERS
    return _Contention(inside, between, name_bottleneck(cluster, graph, link) if named else "")


def _busy(pricer: GroupPricer, op: str, gpu: NDArray[np.int32]) -> tuple[float, float, int]:
    """Return how long the fullest link inside servers, and between them, takes for a byte of every message; and which it is."""
    wiring, routes = pricer.asked.wiring, pricer.routes
    group_of_gpu = np.full(len(wiring.cluster.gpus) + 1, -1, np.int64)
    group_of_gpu[gpu] = np.arange(len(gpu))[:, None]
    loads = group_loads(routes, _messages(pricer, op, gpu), group_of_gpu)
    codes, names = routes.facts.resource, routes.facts.names
    busy, _ = last_end(wiring.graph, loads, codes, len(names))
    # Between servers is what groups share: of the links there the fullest is named.
    fabric = np.where(codes >= NIC, loads, 0.0)
    _, link = last_end(wiring.graph, fabric if fabric.any() else loads, codes, len(names))
    return float(busy[:NIC].max()), float(busy[NIC:].max()), link


def _messages(pricer: GroupPricer, op: str, gpu: NDArray[np.int32]) -> Iterator[GroupEdges]:
    cluster, doors = pricer.asked.wiring.cluster, pricer.doors
    cut = cut_groups(cluster, gpu)
    if op == "all_to_all":
        yield from exchange_edges(cluster, doors, cut, pricer.asked.server.scale_up.kind != "pcie")
    elif op == "send_recv":
        yield send_edges(cluster, doors, cut, gpu)
    else:
        yield ring_edges(cluster, doors, cut)


def _time(
    pricer: GroupPricer, laid: _PricedGroups, size_bytes: int, copies: tuple[float, float]
) -> GroupsTime:
    asked, job, shared = pricer.asked, laid.job, laid.shared
    priced = job.priced
    one_copy = copies[1] > 0
    if one_copy and laid.away > 0:
        # A server gets one copy of a token and hands it on inside, so less crosses than in an exchange of all bytes.
        fewer = laid.away / max(min(copies[0] / copies[1], laid.away), 1e-9)
        priced = {name: _slowed(found, 1.0, 1.0 / fewer) for name, found in priced.items()}
    choice = choose(
        asked.model, asked.settings, laid.situation, PricedMenu(priced), pricer.calibration, size_bytes
    )
    chosen = choice.configured
    op = next(iter(priced.values())).op
    least = 0.0 if one_copy else job.ceiling(op, size_bytes, chosen.algorithm).time_s
    time = max(chosen.time_s, least)
    return GroupsTime(
        time_s=time,
        low_s=min(max(chosen.low_s, least), time),
        high_s=max(chosen.high_s, time),
        wire_s=max(time - chosen.latency_s, 0.0),
        algorithm=f"{chosen.algorithm}, {chosen.protocol}",
        bottleneck=shared.bottleneck or choice.limit.name,
        contention=shared.between if laid.domains > 1 else shared.inside,
        domains=laid.domains,
    )
