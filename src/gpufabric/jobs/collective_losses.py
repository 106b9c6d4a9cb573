"""A wired cluster → what collectives over all its GPUs keep of their bandwidth when links are lost."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from gpufabric.collectives import ALGORITHMS
from gpufabric.collectives.job_wiring import JobWiring, lay_job
from gpufabric.collectives.rank_order import rank_gpus
from gpufabric.errors import GpufabricError, UnbuildableError
from gpufabric.jobs.edge_loads import find_routes
from gpufabric.jobs.faulty_cluster import without_links
from gpufabric.jobs.lay_wiring import Wiring, lay_wiring
from gpufabric.jobs.schedule_flows import schedule_flows
from gpufabric.records.cluster import Cluster
from gpufabric.records.collective import Collective
from gpufabric.records.part_set import PartSet
from gpufabric.records.resilience import COLLECTIVES
from gpufabric.routing.tier_links import index_tiers

# Beyond these a design would wait too long for its table; without tiers every way is searched for.
MOST_GPUS, MOST_GPUS_WITHOUT_TIERS = 20_000, 2_048
# Even spreading, whatever the fabric's routing: with hashes the luck of the draw would hide what the loss costs.
_ROUTING = "adaptive"
_SIZE_BYTES = 1 << 33
_CHOICES = {"all_reduce": ("ring",), "all_to_all": ("pxn", "pairwise")}
PriceLoss = Callable[[NDArray[np.int64]], dict[str, float | int | None]]


@dataclass(frozen=True, slots=True)
class _Whole:
    """A job over all GPUs of the fabric, with the algorithm and the rate (message bytes/s) of each collective that runs."""

    wiring: Wiring
    job: JobWiring
    algorithm: dict[str, str]
    bytes_per_s: dict[str, float]


def collective_losses(
    cluster: Cluster, parts: PartSet, fabrics: Sequence[int]
) -> tuple[dict[int, PriceLoss], tuple[str, ...]]:
    """Return for each fabric a function from lost links to what is left of its collectives, and what is not told.

    All-reduce is a ring over all GPUs in fabric order, all-to-all goes by PXN where the GPUs of a node reach each other (else
    pairwise); both are long messages over evenly spread links, and their time is that of the fullest link. A collective that
    can't run over all GPUs any more has nothing left.

    Parameters
    ----------
    cluster, parts
    fabrics
        Indices of the fabrics that carry collectives.

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
        found[fabric] = _priced(_whole(wiring, parts, gpus, fabric))
    return found, tuple(notes)


def _too_large(cluster: Cluster, fabric: int, most: int) -> str:
    name = cluster.fabrics[fabric].name
    return f"fabrics.{name}: what a loss costs all-reduce and all-to-all is only told up to {most:,} GPUs"


def _whole(wiring: Wiring, parts: PartSet, gpus: NDArray[np.int32], fabric: int) -> _Whole:
    cluster = wiring.cluster
    server = parts.servers[cluster.parts[cluster.devices.part[cluster.gpus.host[gpus[0]]]]]
    job = lay_job(cluster, wiring.inside, gpus, server.scale_up, fabric)
    algorithm, rate = {}, {}
    for op, choices in _CHOICES.items():
        rates = {name: _rate(wiring, job, op, name) for name in choices}
        best = max(rates, key=lambda name: rates[name])
        if 0 < rates[best] < np.inf:
            algorithm[op], rate[op] = best, rates[best]
    return _Whole(wiring, job, algorithm, rate)


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
        left: dict[str, float | int | None] = dict.fromkeys(COLLECTIVES)
        for op, algorithm in whole.algorithm.items():
            left[f"{op}_left"] = _rate(wiring, job, op, algorithm) / whole.bytes_per_s[op]
        return left

    return price


def _rate(wiring: Wiring, job: JobWiring, op: str, algorithm: str) -> float:
    """Return bytes of the message per second; 0 where the collective can't run."""
    graph, time = wiring.graph, 0.0
    try:
        schedule = ALGORITHMS[op][algorithm](Collective(op, _SIZE_BYTES, job.gpu), job)
        for stage in schedule_flows(find_routes(wiring, job, _ROUTING, 0), schedule):
            used = np.flatnonzero(stage.link_bytes)
            time += stage.times * float((stage.link_bytes[used] / graph.bytes_per_s[used]).max(initial=0.0))
    except UnbuildableError:
        return 0.0
    return 1 / time if time else np.inf
