"""Measured rows → jobs as the model of time sees them: every algorithm that the library may have run, priced on the wiring.

Predictions, fits and a user's own calibration all start from this.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from gpufabric.collectives.job_wiring import lay_job
from gpufabric.errors import GpufabricError
from gpufabric.jobs.choose_route import load_tables
from gpufabric.jobs.job_library import job_library
from gpufabric.jobs.lay_wiring import lay_wiring
from gpufabric.jobs.library_situation import job_situation, servers_as_nodes
from gpufabric.jobs.measured_runs import PlacedRun, WiredSpec, left_out, place_run, runs_of
from gpufabric.jobs.price_menu import RouteChoice, price_menu
from gpufabric.libraries.limit_rates import limit_rates
from gpufabric.libraries.menu import lay_menu, rated_among
from gpufabric.records.collective import Collective
from gpufabric.records.flow_hashing import FlowHashing
from gpufabric.records.job_situation import JobSituation
from gpufabric.records.measured_collective import LeftOut, MeasuredCollective
from gpufabric.records.priced_algorithm import PricedAlgorithm


@dataclass(frozen=True, slots=True)
class MeasuredJob:
    """Measurements of one job, and what may have run.

    Attributes
    ----------
    rows : tuple of MeasuredCollective
        They differ in size and result only.
    situation : JobSituation
    candidates : tuple of (PricedAlgorithm, protocol)
        Everything that the library's version and settings allow, limited to the channels and NICs that it uses.
    nics_matter : bool
        The ranks leave a scale-up domain.
    """

    rows: tuple[MeasuredCollective, ...]
    situation: JobSituation
    candidates: tuple[tuple[PricedAlgorithm, str], ...]
    nics_matter: bool


def price_measured(
    rows: Sequence[MeasuredCollective], folder: Path, wired: WiredSpec | None = None
) -> Iterator[MeasuredJob | LeftOut]:
    """Yield each job of *rows* with its candidates, and each row that can't be placed or priced with the reason.

    Parameters
    ----------
    rows
    folder
        What paths in the rows are relative to.
    wired
        The cluster of all rows; None: each row names its own.
    """
    for run, measured in runs_of(rows).items():
        try:
            yield _price(place_run(run, folder, wired), measured)
        except GpufabricError as error:
            yield from left_out(measured, error)


def _price(placed: PlacedRun, rows: Sequence[MeasuredCollective]) -> MeasuredJob:
    cluster, parts = placed.wired.racked.cluster, placed.wired.racked.parts
    fabric, gpus = placed.wired.spec.fabrics[0], placed.gpus
    server = parts.servers[cluster.parts[cluster.devices.part[cluster.gpus.host[gpus[0]]]]]
    model, settings, _ = job_library(placed.library, server.gpu)
    if server.scale_up.domain_servers > 1 and not (settings.domain and model.domain_since):
        cluster = servers_as_nodes(cluster)
    tables, _ = load_tables(cluster, parts, 0, cluster.fabrics[0].routing)
    hashing = FlowHashing(fabric.ecmp.queue_pairs or settings.queue_pairs, fabric.ecmp.polarised)
    wiring = replace(lay_wiring(cluster, parts), tables=tables, hashing=hashing)
    job = lay_job(cluster, wiring.inside, gpus, server.scale_up, 0, fabric.in_network_reduction)
    situation = job_situation(job, server)
    op, largest = rows[0].op, max(row.size_bytes for row in rows)
    reachable = lay_menu(model, settings, situation, op).candidates
    names = dict.fromkeys(c.algorithm for c in reachable if not c.fix or c.outranked)
    route = RouteChoice(cluster.fabrics[0].routing, fabric.ecmp.seed, "fluid")
    priced, refused = price_menu(wiring, job, Collective(op, largest, gpus, "fabric"), names, route)
    if not priced:
        raise next(iter(refused.values()))
    allowed = [c for c in rated_among(reachable, priced) if not c.fix]
    limited = {name: limit_rates(one, model, settings, situation) for name, one in priced.items()}
    return MeasuredJob(
        tuple(rows),
        situation,
        tuple((limited[c.algorithm], c.protocol) for c in allowed if c.algorithm in limited),
        placed.leaves_domain,
    )
