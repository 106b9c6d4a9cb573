"""What travels is the least that can, where an algorithm claims so, and never less than any algorithm needs.

Bounds: Patarasuk and Yuan 2009 (all_reduce: 2 (n - 1) S over all ranks); Chan et al. 2007 (the other operations); Thakur et al.
2005 (halving and doubling). Switches that add are outside of them.
"""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from gpufabric.collectives import ALGORITHMS
from gpufabric.collectives.job_wiring import JobWiring, lay_job
from gpufabric.errors import UnbuildableError
from gpufabric.graphs.gpu_level import build_gpu_graph
from gpufabric.graphs.link_latency import link_latencies
from gpufabric.records.collective import Collective
from gpufabric.records.schedule import Schedule

ADDING_SWITCHES = ("nvls", "nvls_tree", "collnet_direct", "collnet_chain")


@pytest.fixture(scope="module")
def jobs(wire: Callable) -> Callable[..., JobWiring]:
    """Return a function that lays a job on some GPUs of a wiring."""
    wired = {}
    for name, case in {
        "rails": ("dgx-h100", 8, "rail-optimized", "qm9790"),
        "one gpu": (
            "{gpus: 1, nics: 1, nic_rate: 100 Gb/s}",
            64,
            "single-switch",
            "{ports: 64, rate: 100 Gb/s}",
        ),
        "rack": ("gb200-nvl72-tray", 18, "leaf-spine", "qm9790"),
    }.items():
        cluster, parts = wire(*case)
        _, inside = build_gpu_graph(cluster, parts.servers, link_latencies(cluster, parts))
        part = parts.servers[cluster.parts[cluster.devices.part[cluster.gpus.host[0]]]]
        wired[name] = cluster, inside, part.scale_up

    def lay(name: str, gpus: list[int]) -> JobWiring:
        cluster, inside, scale_up = wired[name]
        return lay_job(cluster, inside, np.array(gpus, np.int32), scale_up, in_network=True)

    return lay


def planned(op: str, algorithm: str, job: JobWiring, root: int = 0) -> Schedule:
    ranks = job.gpu[np.argsort(job.rank)]
    return ALGORITHMS[op][algorithm](Collective(op, 1 << 20, ranks, root=root), job)


def volumes(schedule: Schedule, job: JobWiring) -> dict[str, np.ndarray]:
    """Return bytes per byte of the message: sent and received by each rank, out of and into each node by its ports."""
    ranks, nodes = len(job.gpu), len(job.nodes)
    place = {int(gpu): k for k, gpu in enumerate(job.gpu)}
    found = {
        "sent": np.zeros(ranks),
        "received": np.zeros(ranks),
        "out": np.zeros(nodes),
        "in": np.zeros(nodes),
    }
    for channel in schedule.channels:
        for phase in channel.phases:
            edges, share = phase.steps.total(phase.repeat)
            for key, end, port, node in (
                ("sent", edges.sender, edges.exit_port, "out"),
                ("received", edges.receiver, edges.entry_port, "in"),
            ):
                gpu = end >= 0
                at = np.array([place[int(x)] for x in end[gpu]], np.int64)
                np.add.at(found[key], job.rank[at], share[gpu])
                leaves = port[gpu] >= 0
                np.add.at(found[node], job.node[at[leaves]], share[gpu][leaves])
    return found


@pytest.mark.parametrize("count", [2, 3, 5, 8, 13, 16, 24, 64])
def test_a_rank_moves_the_least_there_is(jobs: Callable, count: int) -> None:
    one = (count - 1) / count
    due = {
        ("all_reduce", "ring"): 2 * one,
        ("all_gather", "ring"): one,
        ("reduce_scatter", "ring"): one,
        ("all_reduce", "direct"): 2 * one,
        ("all_gather", "direct"): one,
        ("reduce_scatter", "direct"): one,
        ("all_gather", "pat"): one,
        ("reduce_scatter", "pat"): one,
        ("all_to_all", "pairwise"): one,
        ("send_recv", "direct"): 1.0,
    }
    if count & (count - 1) == 0:
        due |= {("all_reduce", "halving_doubling"): 2 * one, ("all_gather", "halving_doubling"): one}
    if count % 8 == 0:
        due["all_reduce", "hierarchical"] = 2 * one
    for (op, algorithm), least in due.items():
        job = jobs("one gpu" if algorithm == "pat" else "rails", list(range(count)))
        found = volumes(planned(op, algorithm, job), job)
        assert found["sent"] == pytest.approx(least), (op, algorithm)
        assert found["received"] == pytest.approx(least), (op, algorithm)


@pytest.mark.parametrize("root", [0, 3, 10])
def test_rooted_operations_move_the_least_there_is(jobs: Callable, root: int) -> None:
    job = jobs("rails", list(range(11)))
    others = np.arange(11) != root
    found = volumes(planned("broadcast", "ring", job, root), job)
    assert found["received"] == pytest.approx(others.astype(float))
    assert found["sent"].max() == pytest.approx(1)
    found = volumes(planned("reduce", "ring", job, root), job)
    assert found["sent"] == pytest.approx(others.astype(float))
    assert found["received"].max() == pytest.approx(1)
    found = volumes(planned("scatter", "direct", job, root), job)
    assert found["received"] == pytest.approx(others / 11)
    assert found["sent"][root] == pytest.approx(10 / 11)
    found = volumes(planned("gather", "direct", job, root), job)
    assert found["sent"] == pytest.approx(others / 11)
    assert found["received"][root] == pytest.approx(10 / 11)


@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_no_algorithm_moves_less_than_needed(jobs: Callable, data: st.DataObject) -> None:
    gpus = data.draw(st.lists(st.integers(0, 63), min_size=2, max_size=24, unique=True))
    op = data.draw(st.sampled_from(sorted(set(ALGORITHMS) - {"all_to_all_v"})))
    algorithm = data.draw(st.sampled_from(sorted(set(ALGORITHMS[op]) - set(ADDING_SWITCHES))))
    root = data.draw(st.integers(0, len(gpus) - 1))
    job = jobs(data.draw(st.sampled_from(["rails", "one gpu", "rack"])), gpus)
    try:
        found = volumes(planned(op, algorithm, job, root), job)
    except UnbuildableError:
        assume(False)
    n, nodes = len(gpus), len(job.nodes)
    total = {"all_reduce": 2 * (n - 1), "send_recv": n, "gather": (n - 1) / n, "scatter": (n - 1) / n}
    assert found["sent"].sum() >= total.get(op, n - 1) * (1 - 1e-9)
    assert found["sent"].sum() == pytest.approx(found["received"].sum())
    assert found["out"].sum() == pytest.approx(found["in"].sum())
    if nodes > 1 and op == "all_reduce":
        # Every node's sum has to leave it, and the others' to come in.
        assert found["out"].min() >= 1 - 1e-9
        assert found["in"].min() >= 1 - 1e-9
        assert found["out"].sum() >= 2 * (nodes - 1) * (1 - 1e-9)
    if op == "all_to_all":
        due = job.nodes.size * (n - job.nodes.size) / n
        assert found["out"] == pytest.approx(due)
        assert found["in"] == pytest.approx(due)


@pytest.mark.parametrize("count", [2, 3, 8])
def test_a_gpu_under_nvls_moves_its_buffer_and_an_nth(jobs: Callable, count: int) -> None:
    job = jobs("rails", list(range(count)))
    for op, sent, received in (
        ("all_reduce", 1 + 1 / count, 1 + 1 / count),
        ("all_gather", 1 / count, 1),
        ("reduce_scatter", 1, 1 / count),
    ):
        found = volumes(planned(op, "nvls", job), job)
        assert found["sent"] == pytest.approx(sent)
        assert found["received"] == pytest.approx(received)


@pytest.mark.parametrize("algorithm", ["collnet_direct", "collnet_chain"])
def test_fabrics_that_add_carry_the_buffer_once_each_way(jobs: Callable, algorithm: str) -> None:
    found = volumes(planned("all_reduce", algorithm, job := jobs("rails", list(range(43)))), job)
    assert found["out"] == pytest.approx(1)
    assert found["in"] == pytest.approx(1)


@pytest.mark.parametrize("algorithm", ["tree", "nvls_tree"])
@pytest.mark.parametrize("nodes", [2, 3, 4, 5, 8])
def test_two_trees_carry_the_buffer_at_most_twice(jobs: Callable, algorithm: str, nodes: int) -> None:
    job = jobs("rails", list(range(8 * nodes)))
    found = volumes(planned("all_reduce", algorithm, job), job)
    assert found["out"].sum() == pytest.approx(2 * (nodes - 1))
    # Two nodes are child in one tree and root in the other: this is why nccl-tests shows nearly twice the NIC's rate.
    assert found["out"].max() <= (1 if nodes == 2 else 2) + 1e-9
    assert found["in"] == pytest.approx(found["out"])


def test_rails_carry_a_ring_once_round(jobs: Callable) -> None:
    job = jobs("rails", list(range(32)))
    found = volumes(planned("all_reduce", "ring", job), job)
    assert found["out"] == pytest.approx(2 * 31 / 32)
    found = volumes(planned("all_reduce", "hierarchical", job), job)
    assert found["out"] == pytest.approx(2 * 3 / 4)
