"""Two ways, one answer: every algorithm of every operation is priced alike by both simulators, and exchanges alike by sums."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest

from gpufabric.collectives import ALGORITHMS
from gpufabric.collectives.job_wiring import JobWiring, lay_job
from gpufabric.collectives.rank_order import rank_gpus
from gpufabric.errors import UnbuildableError
from gpufabric.jobs import exchange_loads
from gpufabric.jobs.lay_wiring import Wiring, lay_wiring
from gpufabric.jobs.price_algorithm import price_algorithm
from gpufabric.records.collective import Collective
from gpufabric.records.flows import PortEdges
from gpufabric.records.priced_algorithm import PricedAlgorithm
from gpufabric.routing import ROUTING
from gpufabric.routing.unicast_flows import unicast_flows
from gpufabric.simulators import fluid

PAIRS = [(op, name) for op, plans in ALGORITHMS.items() for name in plans]
# Nothing is contended: equal channels, and enough links above every leaf.
WIRINGS = {
    "one server": ("dgx-h100", 1, "single-switch", "qm9790"),
    "rails": ("dgx-h100", 8, "rail-optimized", "qm9790"),
    "two ports": ("dgx-b300-spectrum", 4, "multi-plane", "sn5600"),
    "mesh": ("hgx-mi300x", 4, "leaf-spine", "sn5600"),
    "racks": ("gb200-nvl72-tray", 36, "rail-optimized", "qm9790"),
    "one gpu": ("{gpus: 1, nics: 1, nic_rate: 100 Gb/s}", 16, "single-switch", "{ports: 16, rate: 100 Gb/s}"),
    "cabled": ("dgx-h100", 3, "full-mesh", "qm9790"),
}
SMALL_SWITCH = "{ports: 16, rate: 400 Gb/s}"


@dataclass
class Laid:
    wiring: Wiring
    job: JobWiring

    def collective(self, op: str) -> Collective:
        ranks = self.job.gpu[np.argsort(self.job.rank)]
        count = len(ranks)
        if op != "all_to_all_v":
            return Collective(op, 1 << 20, ranks)
        # A shift by one node and one GPU: everyone sends and receives as much.
        pairs = np.zeros((count, count))
        for by in (1, 9):
            pairs[np.arange(count), (np.arange(count) + by) % count] += 1 << 19
        return Collective(op, 1 << 20, ranks, pair_bytes=pairs)

    def price(self, op: str, algorithm: str, routing: str = "adaptive", **more: object) -> PricedAlgorithm:
        return price_algorithm(self.wiring, self.job, self.collective(op), algorithm, routing, **more)


@pytest.fixture(scope="module")
def lay(wire: Callable) -> Callable[..., Laid]:
    """Return a function that lays a job of all GPUs on a wiring."""
    known: dict[tuple, Laid] = {}

    def find(*case: object, ranks: int | None = None, order: str = "fabric") -> Laid:
        key = (*case, ranks, order)
        if key not in known:
            cluster, parts = wire(*case)
            wiring = lay_wiring(cluster, parts)
            gpus = rank_gpus(cluster, ranks, order)
            server = parts.servers[cluster.parts[cluster.devices.part[cluster.gpus.host[gpus[0]]]]]
            job = lay_job(cluster, wiring.inside, gpus, server.scale_up, in_network=True)
            known[key] = Laid(wiring, job)
        return known[key]

    return find


@pytest.mark.parametrize("name", WIRINGS)
@pytest.mark.parametrize(("op", "algorithm"), PAIRS)
def test_both_simulators_agree(lay: Callable, name: str, op: str, algorithm: str) -> None:
    laid = lay(*WIRINGS[name])
    try:
        fluid = laid.price(op, algorithm)
    except UnbuildableError:
        with pytest.raises(UnbuildableError):
            laid.price(op, algorithm, simulator="alpha_beta")
        return
    closed = laid.price(op, algorithm, simulator="alpha_beta")
    # 1 %: the design's promise for an uncontended case.
    for rate in ("line_bytes_per_s", "inside_bytes_per_s", "fabric_bytes_per_s"):
        assert getattr(closed, rate) == pytest.approx(getattr(fluid, rate), rel=0.01)
    assert fluid.line_bytes_per_s <= min(fluid.inside_bytes_per_s, fluid.fabric_bytes_per_s) * (1 + 1e-9)
    assert 0 < max(fluid.shares.values()) <= 1 + 1e-9
    # Uncontended, the fullest kind of link alone explains the time of one stage; stages may differ in what is fullest.
    assert max(fluid.shares.values()) > 0.3


def enumerated(monkeypatch: pytest.MonkeyPatch, price: Callable[[], PricedAlgorithm]) -> PricedAlgorithm:
    """Return what *price* says when every single message is looked at."""
    with monkeypatch.context() as patched:
        patched.setattr("gpufabric.jobs.schedule_flows.summed_up", lambda *_: None)
        return price()


@pytest.mark.parametrize("algorithm", ["pairwise", "pxn"])
@pytest.mark.parametrize("routing", ["adaptive", "static", "shortest"])
@pytest.mark.parametrize(
    ("case", "ranks", "order"),
    [
        (("dgx-h100", 14, "leaf-spine", SMALL_SWITCH), None, "fabric"),
        (("dgx-h100", 22, "leaf-spine", SMALL_SWITCH, ", oversubscription: '3:1'"), 163, "shuffled"),
        (("dgx-h100", 20, "rail-optimized", SMALL_SWITCH), 150, "fabric"),
        (("dgx-h100", 14, "fat-tree", "{ports: 8, rate: 400 Gb/s}", ", tiers: 3"), 100, "shuffled"),
        (("gb200-nvl72-tray", 36, "rail-optimized", "{ports: 16, rate: 400 Gb/s}"), 130, "fabric"),
        (
            (
                "{gpus: 5, nics: 2, nic_rate: 100 Gb/s, scale_up: 20 GB/s}",
                14,
                "leaf-spine",
                "{ports: 8, rate: 100 Gb/s}",
            ),
            67,
            "fabric",
        ),
    ],
)
def test_sums_are_those_of_all_messages(
    lay: Callable,
    monkeypatch: pytest.MonkeyPatch,
    algorithm: str,
    routing: str,
    case: tuple,
    ranks: int,
    order: str,
) -> None:
    laid = lay(*case, ranks=ranks, order=order)
    summed = laid.price("all_to_all", algorithm, routing)
    single = enumerated(monkeypatch, lambda: laid.price("all_to_all", algorithm, routing))
    assert summed.link_bytes == pytest.approx(single.link_bytes, rel=1e-9, abs=1e-12)
    assert summed.line_bytes_per_s == pytest.approx(single.line_bytes_per_s)
    assert summed.path_latency_s == pytest.approx(single.path_latency_s)
    assert (summed.inside_steps, summed.fabric_steps) == (single.inside_steps, single.fabric_steps)


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", ["pairwise", "pxn"])
@pytest.mark.parametrize("topology", ["leaf-spine", "rail-optimized"])
def test_drawn_counts_are_as_uneven_as_hashed_messages(
    lay: Callable, monkeypatch: pytest.MonkeyPatch, algorithm: str, topology: str
) -> None:
    """1,024 GPUs: within the 3 % that were promised of a hash that is asked for every message."""
    laid = lay("dgx-h100", 128, topology, "qm9790")
    # One draw of the fullest link differs from the next by some per cent, so means are held against each other.
    seeds = range(3 if algorithm == "pairwise" else 12)
    single = [laid.price("all_to_all", algorithm, "ecmp", seed=seed) for seed in seeds]
    monkeypatch.setattr(exchange_loads, "MOST_HASHED", 0)
    drawn = [laid.price("all_to_all", algorithm, "ecmp", seed=seed) for seed in seeds]
    means = [np.mean([p.line_bytes_per_s for p in found]) for found in (single, drawn)]
    assert means[1] == pytest.approx(means[0], rel=0.03)
    even = laid.price("all_to_all", algorithm, "adaptive")
    assert means[0] < 0.999 * even.line_bytes_per_s
    assert single[0].link_bytes.sum() == pytest.approx(drawn[0].link_bytes.sum(), rel=0.01)


@pytest.mark.parametrize("op", ["all_to_all", "send_recv"])
@pytest.mark.parametrize("routing", ["ecmp", "static"])
def test_the_fullest_link_says_how_long_single_messages_take(lay: Callable, op: str, routing: str) -> None:
    """Every message as a flow of its own, all at once and max-min fairly: the last one ends when the fullest link is done."""
    case = ("dgx-h100", 12, "leaf-spine", SMALL_SWITCH, ", oversubscription: '3:1'")
    laid = lay(*case, order="shuffled")
    cluster, graph = laid.wiring.cluster, laid.wiring.graph
    algorithm = "pairwise" if op == "all_to_all" else "direct"
    (channel,) = ALGORITHMS[op][algorithm](laid.collective(op), laid.job).channels
    (phase,) = channel.phases
    edges, share = phase.steps.total(phase.repeat)
    out = edges.exit_port >= 0
    ends = (edges.sender, edges.receiver) if op == "all_to_all" else (edges.exit_port, edges.entry_port)
    key = (ends[0][out].astype(np.int64) << 32) ^ (ends[1][out].astype(np.int64) << 8)
    between = PortEdges(edges.exit_port[out], edges.entry_port[out], key)
    flows = unicast_flows(graph, between, ROUTING[routing](cluster, graph, laid.wiring.tiers, between, 0))
    single = fluid.run(graph, flows, share[out])
    priced = laid.price(op, algorithm, routing)
    assert 1 / priced.fabric_bytes_per_s == pytest.approx(single.total_s, rel=0.03)
