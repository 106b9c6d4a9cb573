from __future__ import annotations

import math
from dataclasses import replace

import pytest

from gpufabric.catalog.calibrations import load_collective_calibration
from gpufabric.errors import InputError
from gpufabric.libraries.estimate import estimate, limit_rates_of, time_parts
from gpufabric.records.calibration import Adjustment
from gpufabric.records.job_situation import JobSituation
from gpufabric.records.priced_algorithm import PricedAlgorithm

RING = PricedAlgorithm(
    op="all_reduce",
    algorithm="ring",
    ranks=16,
    nodes=2,
    channels=8,
    line_bytes_per_s=200e9,
    inside_bytes_per_s=240e9,
    fabric_bytes_per_s=200e9,
    inside_steps=26,
    fabric_steps=4,
    path_latency_s=2e-6,
    bottleneck="",
)
JOB = JobSituation(
    ranks=16,
    nodes=2,
    node_ranks=8,
    even=True,
    gpu="h100-sxm",
    scale_up="switched",
    multicast=True,
    domain_servers=1,
    network="infiniband",
    nic="connectx-7-400g",
    node_nics=8,
    nic_bytes_per_s=50e9,
    in_network=False,
)
ONE_NODE = replace(JOB, ranks=8, nodes=1, network="", nic="", node_nics=0, nic_bytes_per_s=0.0)
INSIDE = replace(
    RING, ranks=8, nodes=1, fabric_bytes_per_s=math.inf, inside_steps=14, fabric_steps=0, path_latency_s=0.0
)
CALIBRATION = load_collective_calibration()


def test_nothing_moves_in_the_latency_alone():
    found = estimate(RING, "ll", JOB, CALIBRATION, 0)
    ll, fast = CALIBRATION.protocols["ll"], CALIBRATION.scale_ups["nvlink4"]
    steps = 26 * ll.inside_step_s * fast.step_factor
    steps += 4 * ll.fabric_step_s * CALIBRATION.networks["infiniband"].step_factor
    assert found.time_s == pytest.approx(ll.base_s * fast.base_factor + steps + 2e-6)
    assert found.wire_s == 0
    assert found.latency_s == pytest.approx(found.time_s)


def test_a_long_message_runs_at_the_share_of_the_slower_limit():
    size = 1 << 40
    inside = size / (240e9 * CALIBRATION.scale_ups["nvlink4"].rate_share)
    slow_inside = replace(INSIDE, inside_bytes_per_s=240e9, line_bytes_per_s=240e9)
    found = estimate(slow_inside, "simple", ONE_NODE, CALIBRATION, size)
    assert found.time_s == pytest.approx(inside, rel=0.001)
    fabric = size / (200e9 * CALIBRATION.networks["infiniband"].rate_share)
    wide = replace(RING, inside_bytes_per_s=math.inf)
    assert estimate(wide, "simple", JOB, CALIBRATION, size).time_s == pytest.approx(fabric, rel=0.001)


def test_the_short_protocol_wins_short_messages_and_the_long_one_long_messages():
    def best(size: int) -> str:
        return min(
            CALIBRATION.protocols, key=lambda p: estimate(INSIDE, p, ONE_NODE, CALIBRATION, size).time_s
        )

    assert best(1024) == "ll"
    assert best(4 << 20) == "ll128"
    assert best(8 << 30) == "simple"


def test_switches_that_add_take_a_round_for_each_gpu_of_the_node():
    nvls = replace(INSIDE, algorithm="nvls", inside_steps=2)
    eight = time_parts(nvls, "simple", ONE_NODE, CALIBRATION, 0).start_s
    many = time_parts(nvls, "simple", replace(ONE_NODE, node_ranks=72), CALIBRATION, 0).start_s
    step = CALIBRATION.multicast.inside_step_s * CALIBRATION.scale_ups["nvlink4"].step_factor
    assert many - eight == pytest.approx(64 * step)


def test_pcie_on_the_way_to_a_nic_belongs_to_the_nics():
    priced = replace(RING, inside_bytes_per_s=100e9, shares={"scale-up": 0.25, "pcie": 0.5, "nic": 0.6})
    assert limit_rates_of(priced, JOB) == (200e9, 100e9)
    assert limit_rates_of(priced, replace(JOB, scale_up="pcie")) == (100e9, 200e9)
    assert limit_rates_of(replace(priced, shares={}), JOB) == (100e9, 200e9)
    alone = replace(JOB, ranks=2, node_ranks=1, scale_up="none")
    assert limit_rates_of(priced, alone) == (math.inf, 100e9)


@pytest.mark.parametrize("kind", ["none", "pcie", "switched"])
def test_one_gpu_a_node_is_classed_by_its_generation_and_bound_by_its_nic(kind: str):
    line = replace(
        RING,
        ranks=4,
        nodes=4,
        inside_bytes_per_s=55e9,
        fabric_bytes_per_s=50e9,
        line_bytes_per_s=50e9,
        shares={"pcie": 0.9},
    )
    alone = replace(JOB, ranks=4, nodes=4, node_ranks=1, scale_up=kind, node_nics=1)
    found = estimate(line, "simple", alone, CALIBRATION, 1 << 34)
    assert found.calibration.split()[1:3] == ["nvlink4", "infiniband"]
    share = CALIBRATION.networks["infiniband"].rate_share
    assert (1 << 34) / found.time_s / 50e9 == pytest.approx(share, rel=0.02)
    assert CALIBRATION.scale_up_of(replace(alone, nodes=1, scale_up="pcie")) == "pcie"


@pytest.mark.parametrize(
    ("situation", "clusters"),
    [
        (JOB, len(CALIBRATION.networks["infiniband"].clusters)),
        (replace(JOB, gpu="rubin"), 0),
        (replace(JOB, nic="slingshot-11", network="ethernet"), 0),
    ],
)
def test_a_class_without_clusters_says_so_and_widens_its_range(situation: JobSituation, clusters: int):
    found = estimate(RING, "simple", situation, CALIBRATION, 1 << 30)
    assert found.clusters == clusters
    assert found.widened == (clusters == 0)
    known = estimate(RING, "simple", JOB, CALIBRATION, 1 << 30)
    if clusters == 0:
        assert found.high_s / found.time_s > known.high_s / known.time_s


def test_unknown_nics_widen_the_range():
    assert estimate(RING, "simple", replace(JOB, nic_bytes_per_s=math.nan), CALIBRATION, 1 << 30).widened


def test_no_estimate_beats_the_line():
    factor = Adjustment(
        scale_up="nvlink4",
        network="infiniband",
        protocol="simple",
        latency_factor=0.5,
        rate_factor=5,
        observations=9,
    )
    found = estimate(RING, "simple", JOB, CALIBRATION.model_copy(update={"adjustments": (factor,)}), 1 << 33)
    assert found.time_s == (1 << 33) / 200e9
    assert found.low_s == found.time_s


def test_own_factors_count_for_their_class_only():
    factor = Adjustment(
        scale_up="nvlink4",
        network="infiniband",
        protocol="ll",
        latency_factor=2,
        rate_factor=1,
        observations=9,
    )
    own = CALIBRATION.model_copy(update={"adjustments": (factor,)})
    plain = estimate(RING, "ll", JOB, CALIBRATION, 0)
    assert estimate(RING, "ll", JOB, own, 0).time_s == pytest.approx(2 * (plain.time_s - 2e-6) + 2e-6)
    other = replace(JOB, network="ethernet")
    assert estimate(RING, "ll", other, own, 0) == estimate(RING, "ll", other, CALIBRATION, 0)


def test_the_name_says_which_constants():
    assert (
        estimate(RING, "ll128", JOB, CALIBRATION, 1).calibration == "nccl-published nvlink4 infiniband ll128"
    )
    assert estimate(INSIDE, "ll", ONE_NODE, CALIBRATION, 1).calibration == "nccl-published nvlink4 ll"


def test_an_unknown_protocol_is_one_line():
    with pytest.raises(InputError, match='protocol "ll256" is unknown'):
        estimate(RING, "ll256", JOB, CALIBRATION, 1)
