"""No algorithm of any operation beats the ceiling of the wiring, whatever the routing, the order of the ranks or the root."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from gpufabric.collectives import ALGORITHMS
from gpufabric.collectives.job_wiring import JobWiring, lay_job
from gpufabric.collectives.rank_order import rank_gpus
from gpufabric.errors import UnbuildableError
from gpufabric.jobs.find_cuts import find_cuts
from gpufabric.jobs.lay_wiring import Wiring, lay_wiring
from gpufabric.jobs.price_algorithm import price_algorithm
from gpufabric.records.cluster import Cluster
from gpufabric.records.collective import Collective
from gpufabric.records.part_set import PartSet
from gpufabric.routing import ROUTING
from gpufabric.simulators import SIMULATORS
from gpufabric.simulators.ceilings import least_time

WIRINGS = {
    "one server": ("dgx-h100", 1, "single-switch", "qm9790"),
    "one mesh": ("hgx-mi300x", 1, "single-switch", "sn5600"),
    "one pcie box": ("pcie-8x-l40s", 1, "single-switch", "sn5600"),
    "pcie boxes": ("pcie-8x-l40s", 5, "single-switch", "sn5600"),
    "rails": ("dgx-h100", 12, "rail-optimized", "{ports: 16, rate: 400 Gb/s}"),
    "thin": ("dgx-h100", 12, "leaf-spine", "{ports: 16, rate: 400 Gb/s}", ", oversubscription: '3:1'"),
    "three tiers": ("dgx-a100", 14, "fat-tree", "{ports: 8, rate: 200 Gb/s}", ", tiers: 3"),
    "two ports": ("dgx-b300-spectrum", 6, "multi-plane", "sn5600"),
    "meshes": ("hgx-mi300x", 5, "leaf-spine", "sn5600"),
    "racks": ("gb200-nvl72-tray", 36, "rail-optimized", "qm9790"),
    "few nics": ("{gpus: 5, nics: 2, nic_rate: 100 Gb/s}", 9, "leaf-spine", "{ports: 8, rate: 100 Gb/s}"),
    "slow inside": (
        "{gpus: 4, nics: 4, nic_rate: 100 Gb/s, scale_up: 10 GB/s}",
        7,
        "leaf-spine",
        "{ports: 16, rate: 100 Gb/s}",
    ),
    "one gpu": ("{gpus: 1, nics: 1, nic_rate: 100 Gb/s}", 30, "leaf-spine", "{ports: 8, rate: 100 Gb/s}"),
    "cabled": ("dgx-h100", 4, "full-mesh", "qm9790"),
}
PAIRS = [(op, name) for op, plans in ALGORITHMS.items() for name in plans]


@pytest.fixture(scope="module")
def wired(wire: Callable) -> Callable[[str], tuple[Cluster, PartSet, Wiring]]:
    """Return a function that finds a wiring by its name."""
    known = {}

    def find(name: str) -> tuple[Cluster, PartSet, Wiring]:
        if name not in known:
            cluster, parts = wire(*WIRINGS[name])
            known[name] = cluster, parts, lay_wiring(cluster, parts)
        return known[name]

    return find


def asked(op: str, job: JobWiring, root: int, seed: int) -> Collective:
    ranks = job.gpu[np.argsort(job.rank)]
    pairs = np.random.default_rng(seed).integers(0, 9, (len(ranks), len(ranks))) + 1.0
    size = int(max(pairs.sum(axis=0).max(), pairs.sum(axis=1).max()))
    return Collective(op, size, ranks, root=root, pair_bytes=pairs if op == "all_to_all_v" else None)


@settings(
    max_examples=400,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.filter_too_much],
)
@given(data=st.data())
def test_no_algorithm_beats_its_ceiling(wired: Callable, data: st.DataObject) -> None:
    cluster, parts, wiring = wired(data.draw(st.sampled_from(sorted(WIRINGS)), label="wiring"))
    ranks = data.draw(st.integers(2, min(len(cluster.gpus), 100)), label="ranks")
    if data.draw(st.booleans(), label="any GPUs"):
        seed = data.draw(st.integers(0, 9), label="seed")
        gpus = np.random.default_rng(seed).permutation(len(cluster.gpus))[:ranks].astype(np.int32)
    else:
        gpus = rank_gpus(cluster, ranks, data.draw(st.sampled_from(["fabric", "shuffled"]), label="order"))
    server = parts.servers[cluster.parts[cluster.devices.part[cluster.gpus.host[gpus[0]]]]]
    job = lay_job(cluster, wiring.inside, gpus, server.scale_up, in_network=True)
    op, algorithm = data.draw(st.sampled_from(PAIRS), label="algorithm")
    collective = asked(op, job, data.draw(st.integers(0, ranks - 1), label="root"), ranks)
    routing = data.draw(st.sampled_from(sorted(ROUTING)), label="routing")
    simulator = data.draw(st.sampled_from(sorted(SIMULATORS)), label="simulator")
    try:
        priced = price_algorithm(wiring, job, collective, algorithm, routing, simulator=simulator)
    except UnbuildableError:
        assume(False)
    ceiling = least_time(op, find_cuts(wiring, job), 1.0, in_network=algorithm.startswith("collnet"))
    assert 1 / priced.line_bytes_per_s >= ceiling.time_s * (1 - 1e-9)
    assert priced.line_bytes_per_s <= min(priced.inside_bytes_per_s, priced.fabric_bytes_per_s) * (1 + 1e-9)
    assert all(0 < share <= 1 + 1e-9 for share in priced.shares.values())
    assert priced.inside_steps + priced.fabric_steps >= 1
    assert (priced.fabric_steps > 0) == (priced.nodes > 1)
    assert (priced.path_latency_s > 0) == (priced.nodes > 1)
    assert np.isfinite(priced.fabric_bytes_per_s) == (priced.nodes > 1)
