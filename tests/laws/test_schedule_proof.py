"""Every algorithm is right: executed symbolically, each rank ends with each contribution exactly once; broken ones are caught."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from gpufabric.collectives import ALGORITHMS
from gpufabric.collectives.execute import execute
from gpufabric.collectives.job_wiring import JobWiring, lay_job
from gpufabric.errors import UnbuildableError
from gpufabric.graphs.gpu_level import build_gpu_graph
from gpufabric.graphs.link_latency import link_latencies
from gpufabric.records.cluster import Cluster
from gpufabric.records.collective import Collective
from gpufabric.records.graph import Inside
from gpufabric.records.parts import ScaleUp
from gpufabric.records.schedule import Edges, Schedule, Steps, Transfers

WIRINGS = {
    "rails": ("dgx-h100", 8, "rail-optimized", "qm9790"),
    "mesh": ("hgx-mi300x", 8, "single-switch", "sn5600"),
    "two ports": ("dgx-b300-spectrum", 4, "multi-plane", "sn5600"),
    "few nics": ("{gpus: 5, nics: 2, nic_rate: 100 Gb/s}", 12, "leaf-spine", "{ports: 16, rate: 100 Gb/s}"),
    "cabled": ("dgx-h100", 4, "full-mesh", "qm9790"),
    "one gpu": ("{gpus: 1, nics: 1, nic_rate: 100 Gb/s}", 64, "single-switch", "{ports: 64, rate: 100 Gb/s}"),
    "rack": ("gb200-nvl72-tray", 36, "leaf-spine", "qm9790"),
}
PAIRS = [(op, name) for op, plans in ALGORITHMS.items() for name in plans]


@dataclass
class Wired:
    cluster: Cluster
    inside: Inside
    scale_up: ScaleUp

    def job(self, gpus: list[int], scale_up: ScaleUp | None = None) -> JobWiring:
        ranks = np.array(gpus, np.int32)
        return lay_job(self.cluster, self.inside, ranks, scale_up or self.scale_up, in_network=True)


@pytest.fixture(scope="module")
def wired(wire: Callable) -> Callable[[str], Wired]:
    """Return a function that finds a wiring by its name."""
    found = {}
    for name, case in WIRINGS.items():
        cluster, parts = wire(*case)
        _, inside = build_gpu_graph(cluster, parts.servers, link_latencies(cluster, parts))
        server = parts.servers[cluster.parts[cluster.devices.part[cluster.gpus.host[0]]]]
        found[name] = Wired(cluster, inside, server.scale_up)
    return found.__getitem__


def refused(op: str, algorithm: str, job: JobWiring, cabled: bool) -> bool:
    """Return whether the algorithm can't do this, by what is known of the job."""
    nodes, ranks = len(job.nodes), len(job.gpu)
    power = ranks & (ranks - 1) == 0
    return {
        "nvls": not job.scale_up.multicast or nodes > 1,
        "nvls_tree": not job.scale_up.multicast or nodes == 1,
        "collnet_direct": nodes == 1 or cabled,
        "collnet_chain": nodes == 1 or cabled,
        "pat": job.nodes.size.max() > 1,
        "pxn": job.scale_up.kind == "pcie" and nodes > 1,
        "halving_doubling": op != "all_reduce" and not power,
    }.get(algorithm, False)


def asked(op: str, gpus: list[int], root: int = 0, seed: int = 0) -> Collective:
    count = len(gpus)
    table = np.random.default_rng(seed).integers(0, 9, (count, count)).astype(float)
    ranks = np.array(gpus, np.int32)
    return Collective(op, 1 << 20, ranks, root=root, pair_bytes=table + 1 if op == "all_to_all_v" else None)


def check_ports(cluster: Cluster, schedule: Schedule, job: JobWiring) -> None:
    """Hold that exactly what leaves a node has ports, that they are its node's own, and that cables join them."""
    of_device = job.nodes.node_of_device
    node_of_gpu = np.full(len(cluster.gpus), -1)
    node_of_gpu[job.gpu] = job.node
    far = np.full(len(cluster.ports), -1)
    far[cluster.links.port_a], far[cluster.links.port_b] = cluster.links.port_b, cluster.links.port_a
    for channel in schedule.channels:
        for phase in channel.phases:
            edges = phase.steps.at(0).edges
            fabric = ~np.minimum(edges.sender, edges.receiver) >= len(job.nodes)
            start = np.where(edges.sender >= 0, node_of_gpu[edges.sender], ~edges.sender)
            end = np.where(edges.receiver >= 0, node_of_gpu[edges.receiver], ~edges.receiver)
            for port, node in ((edges.exit_port, start), (edges.entry_port, end)):
                has = port >= 0
                assert (has == np.where(fabric, node < len(job.nodes), start != end)).all()
                assert (of_device[cluster.ports.device[port[has]]] == node[has]).all()
            both = (edges.exit_port >= 0) & (edges.entry_port >= 0)
            other = far[edges.exit_port[both]]
            direct = of_device[cluster.ports.device[other]] >= 0
            assert (other[direct] == edges.entry_port[both][direct]).all()


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_every_contribution_arrives_exactly_once(wired: Callable[[str], Wired], data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(sorted(WIRINGS)), label="wiring")
    wiring = wired(name)
    limit = min(len(wiring.cluster.gpus), 144) - 1
    gpus = data.draw(st.lists(st.integers(0, limit), min_size=2, max_size=40, unique=True), label="ranks")
    op, algorithm = data.draw(st.sampled_from(PAIRS), label="algorithm")
    collective = asked(op, gpus, data.draw(st.integers(0, len(gpus) - 1), label="root"))
    job = wiring.job(gpus)
    if refused(op, algorithm, job, cabled=name == "cabled"):
        with pytest.raises(UnbuildableError):
            ALGORITHMS[op][algorithm](collective, job)
        return
    schedule = ALGORITHMS[op][algorithm](collective, job)
    assert execute(collective, schedule) == ()
    check_ports(wiring.cluster, schedule, job)
    for channel in schedule.channels:
        stages = [phase.stage for phase in channel.phases]
        assert stages == sorted(stages)
        assert stages[0] == 0


def by_edge(parts: list[tuple[Edges, np.ndarray]]) -> dict[tuple[int, ...], float]:
    """Return the bytes over each different edge."""
    found: dict[tuple[int, ...], float] = {}
    for edges, share in parts:
        rows = zip(edges.sender, edges.receiver, edges.exit_port, edges.entry_port, share, strict=True)
        for *edge, amount in rows:
            key = tuple(int(x) for x in edge)
            found[key] = found.get(key, 0.0) + float(amount)
    return found


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_a_phase_adds_up_to_its_steps(wired: Callable[[str], Wired], data: st.DataObject) -> None:
    gpus = data.draw(st.lists(st.integers(0, 19), min_size=2, max_size=12, unique=True))
    op, algorithm = data.draw(st.sampled_from(PAIRS))
    name = data.draw(st.sampled_from(["rails", "few nics", "one gpu", "cabled"]))
    job = wired(name).job(gpus)
    assume(not refused(op, algorithm, job, cabled=name == "cabled"))
    schedule = ALGORITHMS[op][algorithm](asked(op, gpus), job)
    for phase in schedule.channels[-1].phases:
        steps = [phase.steps.at(step) for step in range(phase.repeat)]
        whole = by_edge([phase.steps.total(phase.repeat)] if phase.repeat else [])
        assert whole == pytest.approx(by_edge([(moved.edges, moved.share) for moved in steps]))


def prove_on(wired: Callable[[str], Wired], op: str, algorithm: str, counts: list[int]) -> int:
    """Prove an algorithm on the first GPUs of wirings that fit, and return how many schedules were right."""
    proved = 0
    for wiring in ("rails", "few nics", "one gpu", "rack"):
        for number, count in enumerate(counts):
            # Of many counts the wirings take turns; one GPU a node has all.
            if len(counts) > 8 and number % 3 != {"rails": 0, "few nics": 1, "rack": 2}.get(
                wiring, number % 3
            ):
                continue
            if count > len(wired(wiring).cluster.gpus):
                continue
            job = wired(wiring).job(list(range(count)))
            collective = asked(op, list(range(count)), root=count // 2)
            if not refused(op, algorithm, job, cabled=False):
                assert execute(collective, ALGORITHMS[op][algorithm](collective, job)) == ()
                proved += 1
    return proved


@pytest.mark.parametrize(("op", "algorithm"), PAIRS)
def test_odd_and_prime_counts_are_right(wired: Callable[[str], Wired], op: str, algorithm: str) -> None:
    assert prove_on(wired, op, algorithm, [2, 3, 4, 7, 8, 13, 17]) > 0


@pytest.mark.slow
@pytest.mark.parametrize(("op", "algorithm"), PAIRS)
def test_all_counts_to_64_are_right(wired: Callable[[str], Wired], op: str, algorithm: str) -> None:
    assert prove_on(wired, op, algorithm, list(range(2, 65))) >= 6


@pytest.mark.parametrize(
    ("op", "algorithm"), [p for p in PAIRS if p[0] in ("broadcast", "reduce", "gather", "scatter")]
)
def test_every_root_is_right(wired: Callable[[str], Wired], op: str, algorithm: str) -> None:
    gpus = [12, 0, 1, 8, 9, 10, 3, 11, 40, 41, 2]
    job = wired("rails").job(gpus)
    for root in range(len(gpus)):
        collective = asked(op, gpus, root)
        assert execute(collective, ALGORITHMS[op][algorithm](collective, job)) == ()


@dataclass(frozen=True)
class Broken:
    """Steps of which one is changed."""

    steps: Steps
    step: int
    change: Callable[[Transfers], Transfers]

    def at(self, step: int) -> Transfers:
        moved = self.steps.at(step)
        return self.change(moved) if step == self.step else moved

    def total(self, repeat: int) -> object:
        return self.steps.total(repeat)


def pick(moved: Transfers, rows: np.ndarray) -> Transfers:
    ends = moved.edges
    edges = replace(
        ends,
        sender=ends.sender[rows],
        receiver=ends.receiver[rows],
        exit_port=ends.exit_port[rows],
        entry_port=ends.entry_port[rows],
    )
    return Transfers(
        edges,
        moved.first_chunk[rows],
        moved.chunk_stride[rows],
        moved.chunk_count[rows],
        moved.share[rows],
    )


def with_edge(moved: Transfers, row: int, **values: np.ndarray) -> Transfers:
    """Return transfers whose row has other values."""
    columns = {}
    for column, value in values.items():
        columns[column] = getattr(moved, column).copy()
        columns[column][row] = value
    return replace(moved, **columns)


MUTATIONS = {
    "one transfer is lost": lambda m, row: pick(m, np.delete(np.arange(len(m.edges)), row)),
    "one transfer happens twice": lambda m, row: pick(m, np.append(np.arange(len(m.edges)), row)),
    "one carries the next chunk": lambda m, row: with_edge(m, row, first_chunk=m.first_chunk[row] + 1),
    "one carries more bytes": lambda m, row: with_edge(m, row, share=m.share[row] * 1.1),
}


@settings(max_examples=120, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_a_broken_step_is_caught(wired: Callable[[str], Wired], data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(["rails", "one gpu", "rack"]))
    gpus = data.draw(st.lists(st.integers(0, 20), min_size=3, max_size=14, unique=True))
    op, algorithm = data.draw(st.sampled_from(PAIRS))
    job, collective = wired(name).job(gpus), asked(op, gpus)
    assume(not refused(op, algorithm, job, cabled=False))
    schedule = ALGORITHMS[op][algorithm](collective, job)
    c = data.draw(st.integers(0, len(schedule.channels) - 1))
    channel = schedule.channels[c]
    p = data.draw(st.integers(0, len(channel.phases) - 1))
    phase = channel.phases[p]
    assume(phase.repeat > 0)
    step = data.draw(st.integers(0, phase.repeat - 1))
    moved = phase.steps.at(step)
    # A switch that multicasts tells also the GPU that it has the result from; that one copy changes nothing.
    rows = np.flatnonzero(moved.edges.sender >= 0)
    assume(len(rows))
    row = int(data.draw(st.sampled_from(rows.tolist())))
    mutation = data.draw(st.sampled_from(sorted(MUTATIONS)))
    if mutation == "one carries the next chunk":
        assume(moved.chunk_count[row] * abs(moved.chunk_stride[row]) < channel.chunks)
    broken = replace(phase, steps=Broken(phase.steps, step, lambda m: MUTATIONS[mutation](m, row)))
    phases = (*channel.phases[:p], broken, *channel.phases[p + 1 :])
    channels = list(schedule.channels)
    channels[c] = replace(channel, phases=phases)
    assert execute(collective, replace(schedule, channels=tuple(channels))) != ()


def test_a_broken_whole_is_caught(wired: Callable[[str], Wired]) -> None:
    gpus = [0, 1, 8, 9, 10]
    collective, job = asked("all_reduce", gpus), wired("rails").job(gpus)
    for algorithm, plan in ALGORITHMS["all_reduce"].items():
        if refused("all_reduce", algorithm, job, cabled=False):
            continue
        schedule = plan(collective, job)
        first, *rest = schedule.channels
        assert any(
            "of the message in all" in x
            for x in execute(collective, replace(schedule, channels=(first, *rest, first)))
        )
        for number, phase in enumerate(first.phases):
            others = [*first.phases[:number], *first.phases[number + 1 :]]
            changed = {"left out": tuple(others)}
            if phase.repeat > 1:
                changed["stopped early"] = (
                    *first.phases[:number],
                    replace(phase, repeat=phase.repeat - 1),
                    *first.phases[number + 1 :],
                )
            if phase.reduces:
                changed["put in place"] = (
                    *first.phases[:number],
                    replace(phase, reduces=False),
                    *first.phases[number + 1 :],
                )
            changed["in reverse"] = first.phases[::-1]
            for how, phases in changed.items():
                broken = replace(schedule, channels=(replace(first, phases=phases), *rest))
                assert execute(collective, broken) != (), (algorithm, phase.name, how)
        strangers = replace(first, gpus=np.array([0, 1, 8, 9, 9], np.int32))
        assert execute(collective, replace(schedule, channels=(strangers, *rest))) == (
            "channel 0: its GPUs are not those of the ranks, once each",
        )
