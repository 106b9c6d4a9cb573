"""What algorithms do on wirings, by hand: rates, steps, loads, and refusals in one line."""

import numpy as np
import pytest

from gpufabric.collectives.bus_factors import bus_factor
from gpufabric.collectives.job_wiring import lay_job
from gpufabric.collectives.rank_order import rank_gpus
from gpufabric.errors import InputError, UnbuildableError
from gpufabric.graphs.link_resources import NIC, link_resources
from gpufabric.jobs.lay_wiring import lay_wiring
from gpufabric.jobs.price_algorithm import price_algorithm
from gpufabric.records.collective import Collective
from gpufabric.records.graph import VertexKind
from gpufabric.units import gigabytes

H100 = ("dgx-h100", 1, "single-switch", "qm9790")
TWO = ("dgx-h100", 2, "single-switch", "qm9790")


@pytest.fixture(scope="module")
def priced(wire):
    """Return a function from a case, operation and algorithm to wiring, job and price."""
    known = {}

    def price(case, op, algorithm, routing="adaptive", **more):
        order, ranks = more.pop("order", "fabric"), more.pop("ranks", None)
        root = more.pop("root", 0)
        if (case, order, ranks) not in known:
            cluster, parts = wire(*case)
            wiring = lay_wiring(cluster, parts)
            gpus = rank_gpus(cluster, ranks, order)
            server = parts.servers[cluster.parts[cluster.devices.part[cluster.gpus.host[gpus[0]]]]]
            known[case, order, ranks] = (
                wiring,
                lay_job(cluster, wiring.inside, gpus, server.scale_up, in_network=True),
                gpus,
            )
        wiring, job, gpus = known[case, order, ranks]
        found = price_algorithm(
            wiring, job, Collective(op, 1 << 20, gpus, order, root), algorithm, routing, **more
        )
        return wiring, job, found

    return price


def busbw(found, rate="line_bytes_per_s"):
    return gigabytes(getattr(found, rate)) * bus_factor(found.op, found.ranks)


def test_one_server(priced):
    _, _, ring = priced(H100, "all_reduce", "ring")
    assert busbw(ring) == pytest.approx(450)
    assert (ring.inside_steps, ring.fabric_steps, ring.path_latency_s) == (14, 0, 0.0)
    assert ring.fabric_bytes_per_s == np.inf
    assert ring.shares == {"scale-up": pytest.approx(1.0)}
    wiring, job, nvls = priced(H100, "all_reduce", "nvls")
    assert busbw(nvls) == pytest.approx(450 * 2 * 7 / 8 / (1 + 1 / 8))  # 700
    # A GPU moves (1 + 1/n) S each way.
    for links in (wiring.inside.scale_up_out, wiring.inside.scale_up_in):
        assert nvls.link_bytes[links[job.gpu]] == pytest.approx(np.full(8, 9 / 8))
    assert (nvls.inside_steps, nvls.fabric_steps) == (2, 0)


def test_trees_on_two_servers_beat_their_nics(priced):
    _, _, tree = priced(TWO, "all_reduce", "tree")
    assert busbw(tree, "fabric_bytes_per_s") == pytest.approx(400 * 15 / 8)
    # Inside, each GPU of the chains sends and receives 2 S but for the ends: the NVSwitches are in the way.
    assert busbw(tree) == pytest.approx(450 * 15 / 14)
    assert (tree.inside_steps, tree.fabric_steps) == (14, 2)
    _, _, nvls_tree = priced(TWO, "all_reduce", "nvls_tree")
    assert busbw(nvls_tree) == pytest.approx(750)
    assert (nvls_tree.inside_steps, nvls_tree.fabric_steps) == (2, 2)


@pytest.mark.parametrize(
    ("algorithm", "figures"),
    [
        ("ring", (450, 400, 400)),
        ("tree", (482, 750, 482)),
        ("nvls_tree", (750, 750, 750)),
        ("halving_doubling", (319, 750, 293)),
    ],
)
def test_the_table_of_the_explanation(priced, algorithm, figures):
    """docs/explanation/collective-algorithms.md: two servers of eight H100."""
    _, _, found = priced(TWO, "all_reduce", algorithm)
    rates = ("inside_bytes_per_s", "fabric_bytes_per_s", "line_bytes_per_s")
    assert tuple(round(busbw(found, rate)) for rate in rates) == figures


def test_steps_of_a_ring_follow_its_data(priced):
    _, _, ring = priced(TWO, "all_reduce", "ring")
    assert (ring.inside_steps, ring.fabric_steps) == (2 * 15 - 4, 4)
    # Two cables of 10 m and a switch, four times.
    assert ring.path_latency_s == pytest.approx(4 * (0.45e-6 + 2 * 10 * 4.9e-9))
    _, _, chain = priced(TWO, "broadcast", "ring")
    assert (chain.inside_steps, chain.fabric_steps) == (14, 1)
    _, _, exchange = priced(TWO, "all_to_all", "pairwise")
    # Messages to up to eight peers of other nodes are one step (docs/reference/collectives.md).
    assert (exchange.inside_steps, exchange.fabric_steps) == (7, 1)
    # Messages of an exchange do not wait for one another: cables and switches count once.
    assert exchange.path_latency_s == pytest.approx(0.45e-6 + 2 * 10 * 4.9e-9)


def test_oversubscription_spares_a_ring_in_order_and_no_exchange(priced):
    case = ("dgx-h100", 96, "rail-optimized", "qm9790", ", oversubscription: '2:1'")
    for routing in ("adaptive", "ecmp"):
        _, _, ring = priced(case, "all_reduce", "ring", routing)
        assert busbw(ring) == pytest.approx(400)
    thin = priced(case, "all_to_all", "pairwise")[2]
    # A leaf has 42 NICs below and 22 links above; of the 767 others 41 hang on the same leaf and 7 in the same server.
    assert thin.line_bytes_per_s == pytest.approx(22 * 50e9 / (42 * (767 - 41 - 7) / 768))
    assert thin.bottleneck.startswith(("leaf to spine", "spine to leaf"))


def test_pxn_stays_on_its_rail(priced):
    case = ("dgx-h100", 20, "rail-optimized", "qm9790")
    _, _, pairwise = priced(case, "all_to_all", "pairwise")
    _, _, pxn = priced(case, "all_to_all", "pxn")
    assert "leaf-spine" not in pxn.shares
    assert pairwise.shares["leaf-spine"] > 0.5
    assert pxn.shares["scale-up"] > 1.5 * pairwise.shares["scale-up"]
    assert pxn.fabric_steps == 19
    assert busbw(pxn) == pytest.approx(50 * 159 / 152)


def test_adding_switches_take_one_copy_up(priced):
    case = ("dgx-h100", 24, "leaf-spine", "{ports: 32, rate: 400 Gb/s}")
    wiring, job, sharp = priced(case, "all_reduce", "collnet_chain")
    assert busbw(sharp, "fabric_bytes_per_s") == pytest.approx(400 * 2 * 191 / 192)
    codes, names = link_resources(wiring.cluster, wiring.graph)
    start, end = wiring.graph.link_from, wiring.graph.link_to
    role, kind = wiring.cluster.devices.role, wiring.graph.vertex_kind
    out = (codes == NIC) & (kind[start] != VertexKind.SWITCH)
    into = (codes == NIC) & (kind[end] != VertexKind.SWITCH)
    # Each server sends S once and gets S once.
    assert sharp.link_bytes[out].sum() == sharp.link_bytes[into].sum() == pytest.approx(len(job.nodes))
    spines = codes == names.index("leaf-spine")
    rises = spines & (kind[start] == VertexKind.SWITCH) & (role[np.minimum(start, len(role) - 1)] == 1)
    # Each leaf passes on one copy of every channel, whatever hangs on it.
    leaves = len(np.unique(start[rises]))
    assert sharp.link_bytes[rises].sum() == pytest.approx(leaves)
    assert sharp.link_bytes[spines & ~rises].sum() == pytest.approx(leaves)
    assert sharp.fabric_steps == 1
    _, _, gather = priced(case, "all_gather", "collnet_direct")
    # Every server's own part goes up, the whole comes down: to the server and to the leaf.
    assert gather.link_bytes[out].sum() == pytest.approx(1.0)
    assert gather.link_bytes[into].sum() == pytest.approx(len(job.nodes))
    assert gather.link_bytes[rises].sum() == pytest.approx(1.0)
    assert gather.link_bytes[spines & ~rises].sum() == pytest.approx(leaves)


def test_adding_switches_over_cores(priced):
    case = ("dgx-a100", 14, "fat-tree", "{ports: 8, rate: 200 Gb/s}", ", tiers: 3")
    wiring, _, sharp = priced(case, "all_reduce", "collnet_chain")
    codes, names = link_resources(wiring.cluster, wiring.graph)
    core = codes == names.index("spine-core")
    role, pods = wiring.cluster.devices.role, np.unique(wiring.tiers.pod[wiring.cluster.devices.role == 1])
    rises = core & (role[np.minimum(wiring.graph.link_from, len(role) - 1)] == 2)
    # A pod passes on one copy, spread over its spines.
    assert sharp.link_bytes[rises].sum() == pytest.approx(len(pods))
    assert sharp.link_bytes[core & ~rises].sum() == pytest.approx(len(pods))


def test_gather_is_held_back_by_the_root(priced):
    wiring, job, gather = priced(TWO, "gather", "direct", root=11)
    assert gather.link_bytes[wiring.inside.scale_up_in[11]] == pytest.approx(7 / 16)
    assert busbw(gather) == pytest.approx(50 * 15 / 8)
    assert gather.bottleneck == "leaf to NIC link (400 Gb/s) with 8 messages at a time"
    assert len(job.gpu) == 16


def test_halves_of_a_halving_follow_one_another(priced):
    _, _, halving = priced(TWO, "reduce_scatter", "halving_doubling")
    inside = (1 / 2 + 1 / 4 + 1 / 8) / 450
    assert 1 / gigabytes(halving.line_bytes_per_s) == pytest.approx(inside + 1 / 16 / 50)
    assert sum(halving.shares.values()) >= 1
    assert (halving.inside_steps, halving.fabric_steps) == (3, 1)


def test_a_mesh_hands_each_pair_one_link(priced):
    _, _, exchange = priced(("hgx-mi300x", 1, "single-switch", "sn5600"), "all_to_all", "pairwise")
    assert busbw(exchange) == pytest.approx(7 * 64)


def test_gpus_that_share_pcie_only_use_the_nic_themselves(priced):
    wiring, job, ring = priced(("pcie-8x-l40s", 3, "single-switch", "sn5600"), "all_reduce", "ring")
    out = np.isin(wiring.graph.link_from, wiring.graph.gpu_vertex[job.gpu])
    # Every GPU sends 2 (n - 1)/n of S and forwards nothing for others.
    assert ring.link_bytes[out].sum() == pytest.approx(2 * (len(job.gpu) - 1))


@pytest.mark.parametrize(
    ("case", "op", "algorithm", "more", "error", "says"),
    [
        (H100, "all_sum", "ring", {}, InputError, 'operation "all_sum" is unknown; known: all_reduce'),
        (H100, "all_reduce", "rng", {}, InputError, 'Did you mean "ring"?'),
        (H100, "all_reduce", "ring", {"simulator": "exact"}, InputError, 'simulator "exact" is unknown'),
        (H100, "all_reduce", "ring", {"routing": "magic"}, InputError, 'routing "magic" is unknown'),
        (TWO, "all_reduce", "nvls", {}, UnbuildableError, "stays inside one NVLink domain"),
        (H100, "all_gather", "pat", {}, UnbuildableError, "one rank a node"),
    ],
)
def test_what_can_not_run_says_why(priced, case, op, algorithm, more, error, says):
    with pytest.raises(error, match=says.replace("?", r"\?")) as caught:
        priced(case, op, algorithm, **more)
    assert "\n" not in str(caught.value)
