"""A wired cluster → what collectives over all its GPUs keep of their bandwidth when links are lost."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from gpufabric.catalog.calibrations import load_collective_calibration
from gpufabric.collectives.job_wiring import JobWiring, lay_job
from gpufabric.collectives.rank_order import rank_gpus
from gpufabric.errors import GpufabricError
from gpufabric.jobs.edge_loads import JobRoutes, find_routes
from gpufabric.jobs.faulty_cluster import without_links
from gpufabric.jobs.job_library import job_library
from gpufabric.jobs.lay_wiring import Wiring, lay_wiring
from gpufabric.jobs.library_situation import job_situation, servers_as_nodes
from gpufabric.jobs.price_algorithm import price_routed
from gpufabric.libraries.choose import choose
from gpufabric.libraries.menu import lay_menu
from gpufabric.records.cluster import Cluster
from gpufabric.records.collective import Collective
from gpufabric.records.library_model import LibraryModel, LibrarySettings
from gpufabric.records.part_set import PartSet
from gpufabric.records.parts import ServerPart
from gpufabric.records.priced_algorithm import PricedMenu
from gpufabric.records.resilience import COLLECTIVES
from gpufabric.records.spec_fields import Library
from gpufabric.routing.tier_links import index_tiers

# Beyond these a design would wait too long for its table; without tiers every way is searched for.
MOST_GPUS, MOST_GPUS_WITHOUT_TIERS = 20_000, 2_048
# Even spreading, whatever the fabric's routing: with hashes the luck of the draw would hide what the loss costs.
_ROUTING = "adaptive"
_SIZE_BYTES = 1 << 33
_OPS = ("all_reduce", "all_to_all")
# Where two limits meet, the model of time is smooth: what is less than this is no loss.
_DIGITS = 4
PriceLoss = Callable[[NDArray[np.int64]], dict[str, float | int | None]]
# What the library expects of an algorithm, by which it chooses, and what the wiring makes of it.
_Seconds = tuple[float, float]
_NEVER = (np.inf, np.inf)


@dataclass(frozen=True, slots=True)
class _Whole:
    """A job over all GPUs of the fabric, the library that runs it, and what it may run.

    ``times`` are the seconds without a loss, by operation and algorithm, in the order in which it prefers them.
    ``outranked`` are algorithms, by operation, that the library runs only where those that it rates above them can't.
    """

    wiring: Wiring
    job: JobWiring
    server: ServerPart
    model: LibraryModel
    settings: LibrarySettings
    times: dict[str, dict[str, _Seconds]]
    outranked: dict[str, tuple[str, ...]]


def collective_losses(
    cluster: Cluster,
    parts: PartSet,
    fabrics: Sequence[int],
    library: Library | None = None,
    adding: Collection[int] = (),
) -> tuple[dict[int, PriceLoss], tuple[str, ...]]:
    """Return for each fabric a function from lost links to what is left of its collectives, and what is not told.

    Times are those of :func:`gpufabric.jobs.collective.predict_collective` for a message of 8G over all GPUs in fabric order,
    with what the library would run, which chooses anew after the loss. Only the spreading is even, whatever the fabric's routing.
    A collective that can't run over all GPUs any more has nothing left.

    Parameters
    ----------
    cluster, parts
    fabrics
        Indices of the fabrics that carry collectives.
    library
        As described; None: the newest one that runs on the GPUs.
    adding
        Indices of the fabrics whose switches add (SHARP).

    Returns
    -------
    dict from fabric to function
        The function takes rows of ``cluster.links``. Fabrics without a job of two nodes, or too large, are not in it.
    notes : tuple of str
    """
    found: dict[int, PriceLoss] = {}
    notes = []
    for fabric in fabrics:
        try:
            gpus = rank_gpus(cluster, fabric=fabric)
        except GpufabricError:
            continue
        if len(np.unique(cluster.gpus.domain[gpus])) < 2:
            continue
        if len(gpus) > MOST_GPUS:
            notes.append(_too_large(cluster, fabric, MOST_GPUS))
            continue
        wiring = lay_wiring(cluster, parts)
        if wiring.tiers is None and len(gpus) > MOST_GPUS_WITHOUT_TIERS:
            notes.append(_too_large(cluster, fabric, MOST_GPUS_WITHOUT_TIERS))
            continue
        try:
            found[fabric] = _priced(_whole(wiring, parts, gpus, fabric, (library, fabric in adding)))
        except GpufabricError as error:
            name = cluster.fabrics[fabric].name
            notes.append(f"fabrics.{name}: what a loss costs all-reduce and all-to-all is not told: {error}")
    return found, tuple(notes)


def _too_large(cluster: Cluster, fabric: int, most: int) -> str:
    name = cluster.fabrics[fabric].name
    return f"fabrics.{name}: what a loss costs all-reduce and all-to-all is only told up to {most:,} GPUs"


def _whole(
    wiring: Wiring,
    parts: PartSet,
    gpus: NDArray[np.int32],
    fabric: int,
    how: tuple[Library | None, bool],
) -> _Whole:
    cluster = wiring.cluster
    server = parts.servers[cluster.parts[cluster.devices.part[cluster.gpus.host[gpus[0]]]]]
    model, settings, _ = job_library(how[0], server.gpu)
    if server.scale_up.domain_servers > 1 and not (settings.domain and model.domain_since):
        cluster = servers_as_nodes(cluster)
        wiring = replace(wiring, cluster=cluster)
    job = lay_job(cluster, wiring.inside, gpus, server.scale_up, fabric, how[1])
    situation = job_situation(job, server)
    whole = _Whole(wiring, job, server, model, settings, {}, {})
    routes = find_routes(wiring, job, _ROUTING, 0)
    for op in _OPS:
        candidates = lay_menu(model, settings, situation, op).candidates
        whole.outranked[op] = tuple(dict.fromkeys(c.algorithm for c in candidates if c.outranked))
        names = dict.fromkeys(c.algorithm for c in candidates if not c.fix)
        for some in (names, whole.outranked[op]):
            times = {name: _time(whole, routes, op, name) for name in some}
            runs = sorted((seconds, name) for name, seconds in times.items() if seconds < _NEVER)
            if runs:
                whole.times[op] = {name: seconds for seconds, name in runs}
                break
    return whole


def _priced(whole: _Whole) -> PriceLoss:
    def price(lost: NDArray[np.int64]) -> dict[str, float | int | None]:
        kept = np.ones(len(whole.wiring.cluster.links), np.bool_)
        kept[lost] = False
        cluster = without_links(whole.wiring.cluster, kept)
        # The links that are lost stay in the graph, where nothing leads over them any more.
        graph = replace(whole.wiring.graph, cable_link=whole.wiring.graph.cable_link[kept])
        tiers = None if whole.wiring.tiers is None else index_tiers(cluster, graph)
        wiring, job = (
            replace(whole.wiring, cluster=cluster, graph=graph, tiers=tiers),
            replace(whole.job, cluster=cluster),
        )
        routes = find_routes(wiring, job, _ROUTING, 0)
        left: dict[str, float | int | None] = dict.fromkeys(COLLECTIVES)
        for op, times in whole.times.items():
            share = min(times.values())[1] / _run_after(whole, routes, op)[1]
            left[f"{op}_left"] = round(share, _DIGITS)
        return left

    return price


def _run_after(whole: _Whole, routes: JobRoutes, op: str) -> _Seconds:
    """Return the seconds of what the library runs after a loss, infinite where nothing can.

    It expects no algorithm to be faster after a loss, so those that it expects to take longer without it than the best with it
    are left out.
    """
    best, refused = _NEVER, False
    for name, least in whole.times[op].items():
        if best <= least:
            return best
        seconds = _time(whole, routes, op, name)
        refused |= seconds == _NEVER
        best = min(best, seconds)
    others = [name for name in whole.outranked[op] if name not in whole.times[op]] if refused else []
    return min([best, *(_time(whole, routes, op, name) for name in others)])


def _time(whole: _Whole, routes: JobRoutes, op: str, algorithm: str) -> _Seconds:
    """Return the seconds of one algorithm, infinite where it can't run."""
    try:
        priced = price_routed(routes, Collective(op, _SIZE_BYTES, routes.job.gpu), algorithm)
        choice = choose(
            whole.model,
            whole.settings,
            job_situation(routes.job, whole.server),
            PricedMenu({algorithm: priced}),
            load_collective_calibration(),
            _SIZE_BYTES,
        )
    except GpufabricError:
        return _NEVER
    return choice.quiet_s, choice.configured.time_s
