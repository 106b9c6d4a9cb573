"""Stages as sums over links, and as flows, one a channel: the same bytes."""

import numpy as np
import pytest

from gpufabric.collectives import ALGORITHMS
from gpufabric.collectives.job_wiring import lay_job
from gpufabric.collectives.rank_order import rank_gpus
from gpufabric.formats.cluster_yaml import parse_cluster_spec
from gpufabric.jobs import schedule_flows
from gpufabric.jobs.edge_loads import find_routes
from gpufabric.jobs.lay_wiring import lay_wiring
from gpufabric.jobs.load_parts import catalog_for
from gpufabric.jobs.racked_cluster import racked_cluster
from gpufabric.records.collective import Collective

TEXT = (
    "servers: {model: dgx-h100, count: 6}\nfabrics: {topology: leaf-spine, switch: qm9790, unit_servers: 3}\n"
)


@pytest.fixture(scope="module")
def placed():
    spec = parse_cluster_spec(TEXT, "six.yaml")
    racked = racked_cluster(spec, catalog_for(spec))
    wiring = lay_wiring(racked.cluster, racked.parts)
    gpus = rank_gpus(racked.cluster, None, "shuffled", 1)
    scale_up = racked.parts.servers["dgx-h100"].scale_up
    return wiring, lay_job(racked.cluster, wiring.inside, gpus, scale_up, 0)


@pytest.mark.parametrize("algorithm", ["ring", "tree", "nvls_tree", "hierarchical"])
def test_flows_of_channels_add_up_to_the_stage_whoever_lays_them(placed, algorithm, monkeypatch):
    wiring, job = placed
    routes = find_routes(wiring, job, "ecmp", 3)
    schedule = ALGORITHMS["all_reduce"][algorithm](Collective("all_reduce", 1 << 30, job.gpu), job)
    stages = list(schedule_flows.schedule_flows(routes, schedule))
    monkeypatch.setattr(schedule_flows, "_THREADED_GPUS", 2)
    flows = list(schedule_flows.stage_flows(find_routes(wiring, job, "ecmp", 3), schedule))
    assert [times for _, times in flows] == [stage.times for stage in stages]
    for (own, _), stage in zip(flows, stages, strict=True):
        total = np.bincount(own.link, own.weight, minlength=wiring.graph.links)
        np.testing.assert_allclose(total, stage.link_bytes, rtol=1e-12)
        np.testing.assert_allclose(own.latency_s, stage.latency_s, rtol=1e-9)
