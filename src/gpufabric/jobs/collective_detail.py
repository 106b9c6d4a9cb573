"""A predicted collective → its schedule on the wiring: what drawings of links and traces are made of."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from gpufabric.collectives import ALGORITHMS
from gpufabric.collectives.job_wiring import JobWiring
from gpufabric.jobs.collective import CollectiveOptions, ask, lay_asked
from gpufabric.jobs.described_collective import with_description
from gpufabric.jobs.edge_loads import JobRoutes, find_routes
from gpufabric.jobs.faulty_cluster import apply_faults
from gpufabric.jobs.lay_wiring import Wiring
from gpufabric.jobs.load_parts import catalog_for
from gpufabric.jobs.pair_bytes import pair_bytes_of
from gpufabric.jobs.racked_cluster import RackedCluster, racked_cluster
from gpufabric.jobs.schedule_flows import Stage, schedule_flows
from gpufabric.records.cluster_spec import ClusterSpec
from gpufabric.records.collective import Collective
from gpufabric.records.graph import Graph
from gpufabric.records.results import CollectiveResult
from gpufabric.records.schedule import Schedule
from gpufabric.simulators import SIMULATORS, Simulate
from gpufabric.simulators.equal_flows import last_end


@dataclass(frozen=True, slots=True)
class CollectiveDetail:
    """One result with the schedule that it was priced by, and where that runs."""

    result: CollectiveResult
    wiring: Wiring
    job: JobWiring
    fabric: int
    routes: JobRoutes
    schedule: Schedule
    simulate: Simulate

    def links_in_use(self) -> NDArray[np.float64]:
        """Return for each link of the cluster the part of the time at nominal rates that its fuller direction is in use."""
        graph = self.wiring.graph
        load, line_s = np.zeros(graph.links), 0.0
        for stage in schedule_flows(self.routes, self.schedule):
            load += stage.times * stage.link_bytes
            line_s += stage.times * stage_s(graph, stage)
        cables = graph.cable_link
        if not line_s:
            return np.zeros(len(cables))
        busy = load[cables] / (graph.bytes_per_s[cables] * line_s)
        return np.asarray(np.minimum(busy.max(axis=1), 1.0), np.float64)


def stage_s(graph: Graph, stage: Stage) -> float:
    """Return how long one stage takes for a byte of the message: what its fullest link needs."""
    return float(last_end(graph, stage.link_bytes, np.zeros(graph.links, np.int8), 1)[0].max())


def detail_collective(
    spec: ClusterSpec,
    result: CollectiveResult,
    options: CollectiveOptions,
    racked: RackedCluster | None = None,
) -> CollectiveDetail:
    """Return the schedule of a predicted collective on the wiring that it was predicted on.

    Parameters
    ----------
    spec, options
        Those that led to *result*.
    result : CollectiveResult
        In the order of ranks that was asked for.
    racked : RackedCluster, optional
        The cluster that *spec* describes, where it is wired already.

    Raises
    ------
    InputError, PartError, UnbuildableError
        As the prediction.
    """
    racked = racked or racked_cluster(spec, catalog_for(spec))
    cluster = apply_faults(racked.cluster, spec.faults, racked.parts)[0] if spec.faults else racked.cluster
    chosen = replace(with_description(spec, options), compare_shuffled=False)
    asked, gpus = ask(cluster, racked.parts, result.op, [result.size_bytes], chosen)
    job = lay_asked(asked, gpus)
    table = chosen.pair_shares, chosen.skew, chosen.seed
    pairs = pair_bytes_of(result.op, result.size_bytes, len(gpus), *table)
    collective = Collective(result.op, result.size_bytes, gpus, result.rank_order, pair_bytes=pairs)
    return CollectiveDetail(
        result=result,
        wiring=asked.wiring,
        job=job,
        fabric=asked.fabric,
        routes=find_routes(asked.wiring, job, asked.routing, chosen.hash_seed),
        schedule=ALGORITHMS[result.op][result.algorithm](collective, job),
        simulate=SIMULATORS[chosen.simulator],
    )
