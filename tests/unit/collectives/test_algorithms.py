"""What algorithms do on known wirings, and what each refuses in one line."""

from dataclasses import replace

import numpy as np
import pytest

from gpufabric.collectives import ALGORITHMS
from gpufabric.collectives.exchange_steps import MAX_EDGES
from gpufabric.collectives.execute import MAX_RANKS, execute
from gpufabric.collectives.expand import expand
from gpufabric.collectives.job_wiring import lay_job
from gpufabric.collectives.longest_chain import NO_CHAIN, longest_chain
from gpufabric.errors import InputError, UnbuildableError
from gpufabric.graphs.gpu_level import build_gpu_graph
from gpufabric.graphs.link_latency import link_latencies
from gpufabric.records.collective import Collective
from gpufabric.records.parts import ScaleUp


def job_on(wired, gpus, in_network=False, scale_up=None):
    cluster, parts = wired
    _, inside = build_gpu_graph(cluster, parts.servers, link_latencies(cluster, parts))
    gpus = np.array(gpus, np.int32)
    server = parts.servers[cluster.parts[cluster.devices.part[cluster.gpus.host[gpus[0]]]]]
    return lay_job(cluster, inside, gpus, scale_up or server.scale_up, 0, in_network)


def planned(op, algorithm, job, **more):
    gpus = job.gpu[np.argsort(job.rank)]
    return ALGORITHMS[op][algorithm](Collective(op, 1 << 20, gpus, **more), job)


@pytest.fixture(scope="module")
def four_servers(wire):
    return wire("dgx-h100", 4, "rail-optimized", "qm9790")


def test_a_pairwise_exchange_crosses_rails_and_pxn_does_not(four_servers):
    job = job_on(four_servers, range(32))
    rail = four_servers[0].ports.rail
    for algorithm, stays in (("pairwise", False), ("pxn", True)):
        (channel,) = planned("all_to_all", algorithm, job).channels
        for phase in channel.phases:
            edges, _ = phase.steps.total(phase.repeat)
            between = edges.exit_port >= 0
            assert (rail[edges.exit_port[between]] == rail[edges.entry_port[between]]).all() == stays
    assert len(edges) == 32 * 3


@pytest.mark.parametrize("op", ["gather", "scatter", "send_recv"])
def test_pxn_keeps_plain_sends_on_the_receivers_rail(four_servers, op):
    job = job_on(four_servers, range(32))
    rail, beside = four_servers[0].ports.rail, job.inside.port_gpu
    (channel,) = planned(op, "pxn", job).channels
    edges, _ = channel.phases[0].steps.total(1)
    between = edges.exit_port >= 0
    assert between.sum() == {"gather": 24, "scatter": 24, "send_recv": 4}[op]
    leaves, enters = edges.exit_port[between], edges.entry_port[between]
    assert (rail[leaves] == rail[enters]).all()
    assert (beside[leaves] // 8 == edges.sender[between] // 8).all()
    assert set(rail[leaves]) == (set(range(8)) if op == "scatter" else {0})
    (direct,) = planned(op, "direct", job).channels
    plain, _ = direct.phases[0].steps.total(1)
    assert np.array_equal(plain.sender, edges.sender)
    assert np.array_equal(plain.entry_port, edges.entry_port)


@pytest.mark.parametrize(
    ("op", "algorithm"),
    [
        *((op, algorithm) for op in ("gather", "scatter") for algorithm in ("direct", "pxn")),
        *((op, algorithm) for op in ("all_to_all",) for algorithm in ("pairwise", "pxn")),
        *((op, "direct") for op in ("broadcast", "reduce", "all_gather", "reduce_scatter")),
    ],
)
def test_messages_to_peers_cost_the_same_in_every_operation(wire, op, algorithm):
    job = job_on(wire("dgx-h100", 5, "rail-optimized", "qm9790"), range(40))
    (channel,) = planned(op, algorithm, job).channels
    chain = sum((longest_chain(phase) for phase in channel.phases), NO_CHAIN)
    assert (chain.inside_steps, chain.fabric_steps) == (7, 4)


def test_both_ports_of_a_nic_share_an_exchange(wire):
    wired = wire("dgx-b300-spectrum", 3, "multi-plane", "sn5600")
    channels = planned("all_to_all", "pairwise", job_on(wired, range(24))).channels
    assert len(channels) == 2
    exits = [set(c.phases[0].steps.total(23)[0].exit_port) - {-1} for c in channels]
    assert not exits[0] & exits[1]
    assert all(len(ports) == 24 for ports in exits)


def test_each_lane_of_a_tree_has_two_channels_on_its_rail(four_servers):
    schedule = planned("all_reduce", "tree", job_on(four_servers, range(32)))
    assert [c.rail for c in schedule.channels] == np.repeat(np.arange(8), 2).tolist()
    for channel in schedule.channels:
        for phase in channel.phases:
            edges, _ = phase.steps.total(phase.repeat)
            ports = np.concatenate([edges.exit_port, edges.entry_port])
            between = phase.name.endswith("the tree")
            assert set(four_servers[0].ports.rail[ports[ports >= 0]]) == (
                {channel.rail} if between else set()
            )
            assert (edges.exit_port >= 0).sum() == (3 if between else 0)


def test_pat_takes_logarithmic_steps_and_few_bytes_far(wire):
    wired = wire("{gpus: 1, nics: 1, nic_rate: 100 Gb/s}", 13, "single-switch", "{ports: 64, rate: 100 Gb/s}")
    for op, names in (("all_gather", [8, 4, 2, 1]), ("reduce_scatter", [1, 2, 4, 8])):
        (channel,) = planned(op, "pat", job_on(wired, range(13))).channels
        assert [phase.name for phase in channel.phases] == [f"distance {d}" for d in names]
        shares = {p.name: p.steps.at(0).share[0] * 13 for p in channel.phases}
        assert shares == pytest.approx({"distance 8": 1, "distance 4": 2, "distance 2": 3, "distance 1": 6})


def test_chunks_of_a_step_expand_to_single_transfers(four_servers):
    schedule = planned("all_reduce", "ring", job_on(four_servers, [0, 1, 8, 9]))
    single = expand(schedule)
    assert len(single) == 2 * 4 * 3 * len(schedule.channels)
    assert single.share.sum() == pytest.approx(4 * 2 * 3 / 4)
    assert set(single.chunk) == set(range(4))
    with pytest.raises(InputError, match="more than 10 single transfers"):
        expand(schedule, most=10)


def test_an_uneven_all_to_all_follows_its_table(four_servers):
    job = job_on(four_servers, [9, 0, 1])
    table = np.array([[1.0, 2, 0], [5, 0, 7], [11, 13, 3]])
    schedule = planned("all_to_all_v", "pairwise", job, pair_bytes=table)
    single = expand(schedule)
    rank = {9: 0, 0: 1, 1: 2}
    moved = np.zeros((3, 3))
    for sender, receiver, share in zip(single.sender, single.receiver, single.share, strict=True):
        moved[rank[int(sender)], rank[int(receiver)]] += share * (1 << 20)
    assert moved == pytest.approx(table - np.diag(np.diag(table)))


PCIE = ScaleUp(kind="pcie", gpu_bytes_per_s="32 GB/s")
MESH = ScaleUp(kind="mesh", gpu_bytes_per_s="448 GB/s", pair_bytes_per_s="64 GB/s")
PLAIN = ScaleUp(kind="switched", gpu_bytes_per_s="450 GB/s", switches=4)


@pytest.mark.parametrize(
    ("op", "algorithm", "gpus", "scale_up", "message"),
    [
        ("all_reduce", "nvls", range(8), PCIE, "NVSwitches, and the GPUs of these servers share PCIe only"),
        ("all_reduce", "nvls_tree", range(16), MESH, "share direct links only"),
        ("all_gather", "nvls", range(8), PLAIN, "do not add and multicast"),
        ("all_reduce", "nvls", range(9), None, "stays inside one NVLink domain, and this job has 2"),
        ("all_reduce", "nvls_tree", range(8), None, "joins NVLink domains, and this job has one"),
        ("all_gather", "pat", range(9), None, "pat: it needs one rank a node, and a node of this job has 8"),
        ("all_reduce", "collnet_direct", range(16), None, "no switch of the fabric adds"),
        ("all_reduce", "collnet_chain", range(8), None, "and this job has one node"),
        ("all_to_all", "pxn", range(16), PCIE, "hands messages to other GPUs over NVLink"),
        ("scatter", "pxn", range(16), PCIE, "hands messages to other GPUs over NVLink"),
        ("reduce_scatter", "halving_doubling", range(12), None, "needs a power of two of ranks.* 8 ranks"),
    ],
)
def test_what_an_algorithm_can_not_do_is_refused(four_servers, op, algorithm, gpus, scale_up, message):
    with pytest.raises(UnbuildableError, match=message) as refused:
        planned(op, algorithm, job_on(four_servers, gpus, scale_up=scale_up))
    assert "\n" not in str(refused.value)


def test_in_network_reduction_needs_switches(wire):
    job = job_on(wire("dgx-h100", 3, "full-mesh", "qm9790"), range(24), in_network=True)
    with pytest.raises(UnbuildableError, match="servers are cabled to each other"):
        planned("all_reduce", "collnet_direct", job)


def test_servers_that_are_not_cabled_to_each_other_can_not_exchange(wire):
    wired = wire("{gpus: 1, nics: 2, nic_rate: 100 Gb/s}", 3, "full-mesh", "{ports: 8, rate: 100 Gb/s}")
    job, links = job_on(wired, range(3)), wired[0].links
    devices = wired[0].ports.device
    kept = (devices[links.port_a] + devices[links.port_b]) != 1
    columns = ("port_a", "port_b", "bytes_per_s", "assembly")
    cut = replace(links, **{column: getattr(links, column)[kept] for column in columns})
    job = replace(job, cluster=replace(job.cluster, links=cut))
    with pytest.raises(UnbuildableError, match="exchange data and have no direct link"):
        planned("all_to_all", "pairwise", job)


def test_wrong_questions_are_refused(four_servers):
    job = job_on(four_servers, range(8))
    gpus = np.arange(8, dtype=np.int32)
    with pytest.raises(InputError, match='algorithm tree: it has no schedule for operation "broadcast"'):
        ALGORITHMS["all_reduce"]["tree"](Collective("broadcast", 8, gpus), job)
    with pytest.raises(InputError, match="root: 8 is out of range; allowed is 0 to 7"):
        planned("broadcast", "ring", job, root=8)
    with pytest.raises(InputError, match=r"needs a table of 8 × 8, a row for each sender \(found none\)"):
        planned("all_to_all_v", "pxn", job)
    with pytest.raises(InputError, match=r"found 2 × 2"):
        planned("all_to_all_v", "pairwise", job, pair_bytes=np.ones((2, 2)))
    with pytest.raises(InputError, match="size: 0 bytes is out of range"):
        empty = Collective("all_to_all_v", 0, gpus, pair_bytes=np.ones((8, 8)))
        ALGORITHMS["all_to_all_v"]["pairwise"](empty, job)
    with pytest.raises(InputError, match="negative or not finite"):
        planned("all_to_all_v", "pairwise", job, pair_bytes=np.full((8, 8), -1.0))


def test_lone_ranks_and_shared_gpus_are_refused(four_servers):
    with pytest.raises(InputError, match="two ranks share a GPU"):
        job_on(four_servers, [0, 1, 1])
    with pytest.raises(InputError, match="ranks: 1 is out of range"):
        job_on(four_servers, [3])


def test_large_jobs_are_not_written_out(wire):
    wired = wire("dgx-h100", 700, "fat-tree", "qm9790")
    job = job_on(wired, range(5600))
    schedule = planned("all_to_all", "pairwise", job)
    with pytest.raises(InputError, match=f"at most {MAX_RANKS}"):
        execute(Collective("all_to_all", 8, job.gpu), schedule)
    (phase,) = schedule.channels[0].phases
    assert phase.repeat * 5600 > MAX_EDGES
    with pytest.raises(InputError, match="more than 20,000,000 edges"):
        phase.steps.total(phase.repeat)
    assert len(phase.steps.at(phase.repeat - 1).edges) == 5600


def test_thousands_of_ranks_are_planned_in_arrays(wire):
    count, nodes = 5600, 700
    job = job_on(wire("dgx-h100", nodes, "fat-tree", "qm9790"), range(count), in_network=True)
    one = 2 * (count - 1) / count
    due = {
        "ring": one * count,
        "hierarchical": one * count,
        "tree": 2 * (count - 1),
        # The switches' own sends are not counted: GPUs send up, along the trees, and once more up.
        "nvls_tree": count + 2 * (nodes - 1) + nodes,
        "collnet_chain": 2 * (count - nodes) + nodes,
        "collnet_direct": 2 * (count - nodes) + nodes,
        # 4096 ranks halve and double; the other 1504 hand over everything and get it back.
        "halving_doubling": 2 * 4095 + 2 * (count - 4096),
    }
    for algorithm, total in due.items():
        sent = 0.0
        for channel in planned("all_reduce", algorithm, job).channels:
            for phase in channel.phases:
                edges, share = phase.steps.total(phase.repeat)
                sent += share[edges.sender >= 0].sum()
        assert sent == pytest.approx(total), algorithm
    for algorithm in ("pairwise", "pxn"):
        for phase in planned("all_to_all", algorithm, job).channels[0].phases:
            assert len(phase.steps.at(phase.repeat - 1).edges) == count
