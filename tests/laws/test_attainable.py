"""What can be attained is no less than what is configured, and neither beats the ceiling of its own assumptions."""

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from gpufabric.catalog.load_library import load_library
from gpufabric.errors import GpufabricError
from gpufabric.jobs.collective import CollectiveOptions, ask, lay_asked, predict_collective
from gpufabric.jobs.even_spread_bound import even_spread_bound
from gpufabric.jobs.price_algorithm import price_algorithm
from gpufabric.records.collective import Collective
from gpufabric.records.spec_fields import Library

WIRINGS = {
    "adding": ("dgx-h100", 8, "rail-optimized", "qm9790"),
    "hashed": ("dgx-h100", 16, "leaf-spine", "sn5600", ", routing: ecmp, unit_servers: 4"),
    "tiers": ("dgx-h100", 24, "fat-tree", "qm9700", ", routing: ecmp, oversubscription: '2:1'"),
    "mesh": ("hgx-mi300x", 1, "single-switch", "sn5600"),
}
LIBRARY = load_library("nccl")
SPELLED = {
    "algorithms": sorted({rule.spelling for rule in LIBRARY.algorithms if rule.spelling}),
    "protocols": [rule.spelling for rule in LIBRARY.protocols],
}
# What gains less than 1 % is not worth a setting, so the figures may differ by that much.
WORTH = 1.0101
DEFAULTS = {}


@pytest.fixture(scope="module")
def wired(wire):
    return {name: wire(*case) for name, case in WIRINGS.items()}


def predicted(cluster, op, given, **options):
    library = Library.model_validate({"settings": given}) if given else None
    return predict_collective(*cluster, op, [8 << 30], CollectiveOptions(library=library, **options))[0]


def values_of(rule):
    """Any value that the library's own list allows for a setting."""
    if rule.kind == "lists":
        return st.sampled_from(SPELLED[rule.acts])
    if rule.kind == "names":
        return st.sampled_from(["=mlx5_0", "=mlx5_0,mlx5_3", "mlx5"])
    if rule.kind == "text":
        return st.just("SYS")
    return st.integers(rule.least, min(rule.most, 128)).map(str)


def price_ring(cluster, options):
    asked, gpus = ask(*cluster, "all_reduce", [8 << 30], options)
    ring = Collective("all_reduce", 8 << 30, gpus, options.order)
    job = lay_asked(asked, gpus)
    return asked.wiring, price_algorithm(asked.wiring, job, ring, "ring", "ecmp", options.hash_seed)


@st.composite
def some_settings(draw):
    acting = [rule for rule in LIBRARY.settings if rule.acts]
    idle = [rule for rule in LIBRARY.settings if not rule.acts]
    rules = [*draw(st.lists(st.sampled_from(acting), max_size=3, unique=True)), draw(st.sampled_from(idle))]
    if draw(st.booleans()):
        rules.append(next(rule for rule in acting if rule.acts == "queue-pairs"))
    return {rule.name: draw(values_of(rule)) for rule in rules}


@pytest.mark.slow
@settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
    derandomize=True,
)
@given(
    name=st.sampled_from(["adding", "hashed", "tiers"]),
    op=st.sampled_from(["all_reduce", "all_gather", "all_to_all"]),
    given_=some_settings(),
    order=st.sampled_from(["fabric", "shuffled"]),
)
def test_no_setting_beats_what_is_attainable(wired, name, op, given_, order):
    how = {"order": order, "in_network": name == "adding"}
    key = name, op, order
    if key not in DEFAULTS:
        DEFAULTS[key] = predicted(wired[name], op, {}, **how)
    try:
        found = predicted(wired[name], op, given_, **how)
    except GpufabricError:
        # Settings that contradict each other, or leave nothing to run.
        assume(False)
    assert found.busbw_bytes_per_s <= found.attainable_busbw_bytes_per_s * (1 + 1e-9)
    assert found.busbw_bytes_per_s <= DEFAULTS[key].attainable_busbw_bytes_per_s * WORTH
    assert found.busbw_bytes_per_s <= found.ceiling_busbw_bytes_per_s * (1 + 1e-9)
    assert found.attainable_busbw_bytes_per_s <= found.attainable_ceiling_busbw_bytes_per_s * (1 + 1e-9)
    # What is undone brings the defaults back.
    assert found.attainable_busbw_bytes_per_s * WORTH >= DEFAULTS[key].busbw_bytes_per_s


@pytest.mark.slow
@pytest.mark.parametrize("pairs", [1, 3, 16, 24, 64, 100, 128])
@pytest.mark.parametrize("op", ["all_reduce", "all_to_all"])
def test_no_number_of_queue_pairs_beats_what_is_attainable_for_shuffled_ranks(wired, op, pairs):
    beside = predict_collective(*wired["tiers"], op, [8 << 30], CollectiveOptions(compare_shuffled=True))[-1]
    found = predicted(wired["tiers"], op, {"NCCL_IB_QPS_PER_CONNECTION": str(pairs)}, order="shuffled")
    if beside.rank_order != "fabric":
        assert beside.attainable_busbw_bytes_per_s * WORTH >= found.busbw_bytes_per_s
    assert found.attainable_busbw_bytes_per_s * WORTH >= found.busbw_bytes_per_s


@pytest.mark.slow
@given(seed=st.integers(0, 99), pairs=st.integers(1, 40), polarised=st.booleans())
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_hash_beats_even_spreading(wired, seed, pairs, polarised):
    hashed = CollectiveOptions(order="shuffled", hash_seed=seed, queue_pairs=pairs, polarised=polarised)
    bound = even_spread_bound(*price_ring(wired["tiers"], CollectiveOptions(order="shuffled")))
    found = price_ring(wired["tiers"], hashed)[1]
    assert found.fabric_bytes_per_s <= bound.fabric_bytes_per_s * (1 + 1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("op", ["all_reduce", "all_gather", "all_to_all"])
def test_nvlink_kept_inside_servers_does_not_beat_what_is_attainable(wire, op):
    racks = wire("gb200-nvl72-tray", 36, "rail-optimized", "qm9700", ", routing: ecmp")
    split = predicted(racks, op, {"NCCL_MNNVL_ENABLE": "0"})
    assert predicted(racks, op, {}).attainable_busbw_bytes_per_s * WORTH >= split.busbw_bytes_per_s


def test_both_ceilings_stand_beside_the_figures(wired):
    result = predicted(wired["adding"], "all_reduce", {}, in_network=True)
    # 2 (n - 1)/n S over S per 400 GB/s with SHARP; NICs of all servers: 2 (N - 1) S over N times 400 GB/s without.
    assert result.in_network_ceiling_busbw_bytes_per_s == pytest.approx(400e9 * 2 * 63 / 64)
    assert result.plain_ceiling_busbw_bytes_per_s == pytest.approx(400e9 * 8 / 7 * 63 / 64)
    assert result.in_network_ceiling_name == "NICs of one server: S each way"
    assert result.plain_ceiling_name == "NICs of all servers: 2 (N - 1) S"
    assert result.ceiling_busbw_bytes_per_s == result.plain_ceiling_busbw_bytes_per_s
    assert result.attainable_algorithm.startswith("collnet")
    assert result.attainable_settings == ("NCCL_COLLNET_ENABLE=1",)
    assert result.attainable_ceiling_busbw_bytes_per_s == result.in_network_ceiling_busbw_bytes_per_s


def test_limits_are_undone_and_named_alone(wired):
    default = predicted(wired["adding"], "all_reduce", {}, ranks=16)
    few = predicted(wired["adding"], "all_reduce", {"NCCL_MAX_CTAS": "1"}, ranks=16)
    assert few.bottleneck == "the library's 1 channel: 8 ways lead out of a node"
    assert few.attainable_settings == ("NCCL_MAX_CTAS left out",)
    assert few.attainable_busbw_bytes_per_s == pytest.approx(default.busbw_bytes_per_s)
    one = predicted(wired["adding"], "all_reduce", {"NCCL_IB_HCA": "=mlx5_0"}, ranks=16)
    assert one.bottleneck == "1 NIC of 8 a node: the settings name no more"
    assert one.shares["nic"] == 1
    assert one.attainable_settings == ("NCCL_IB_HCA left out",)


def test_an_adapter_that_the_server_lacks_is_one_line(wired):
    with pytest.raises(
        GpufabricError, match="adapter mlx5_99 is not in dgx-h100; allowed are mlx5_0 to mlx5_11"
    ):
        predicted(wired["adding"], "all_reduce", {"NCCL_IB_HCA": "=mlx5_99"})


def test_what_the_library_reaches_inside_a_node_is_named_where_it_sets_the_time(wired):
    result = predicted(wired["adding"], "all_reduce", {}, ranks=16)
    assert result.algorithm == "nvls_tree"
    assert result.bottleneck.startswith(
        "rate of the library's 16 channels over scale-up inside nodes (nccl-published"
    )
    assert max(result.shares, key=result.shares.get) == "scale-up"
    assert result.nominal_shares["nic"] == pytest.approx(1)
    assert result.shares["nic"] < 0.8


def test_without_peer_access_a_server_is_as_fast_as_its_pcie(wired):
    result = predicted(wired["adding"], "all_reduce", {"NCCL_P2P_DISABLE": "1"}, ranks=8)
    # PCIe 5 x16 carries 63 GB/s; the data of a node crosses it once up and once down.
    assert 10e9 < result.busbw_bytes_per_s < 63e9
    assert result.clusters == 0
    assert result.attainable_settings == ("NCCL_P2P_DISABLE left out",)


@pytest.mark.parametrize(("ranks", "rate"), [(2, 64e9), (5, 256e9), (8, 448e9)])
def test_the_ceiling_of_a_mesh_is_that_of_the_links_to_the_peers_of_the_job(wired, ranks, rate):
    result = predicted(wired["mesh"], "all_reduce", {}, ranks=ranks)
    assert result.ceiling_busbw_bytes_per_s == pytest.approx(rate)
    assert result.busbw_bytes_per_s <= rate
