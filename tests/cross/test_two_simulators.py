"""Two ways, one answer: closed form, fluid simulation and the sum by hand agree where nothing is contended."""

from collections.abc import Callable

import pytest

from gpufabric.jobs.collective import CollectiveOptions, predict_collective
from gpufabric.units import parse_rate

SIZE = 1 << 36
# Server, count, topology, switch, and the bus bandwidth that the slowest edge allows by hand.
UNCONTENDED = [
    ("dgx-a100", 1, "single-switch", "qm8790", "300 GB/s"),
    ("dgx-h100", 1, "single-switch", "qm9790", "450 GB/s"),
    ("dgx-a100", 5, "single-switch", "qm8790", "1600 Gb/s"),
    ("dgx-h100", 2, "single-switch", "qm9790", "3200 Gb/s"),
    ("dgx-h100", 37, "rail-optimized", "qm9790", "3200 Gb/s"),
    ("dgx-h100", 127, "rail-optimized", "qm9790", "3200 Gb/s"),
    ("dgx-b200", 16, "leaf-spine", "qm9790", "3200 Gb/s"),
    ("dgx-b300-xdr", 11, "rail-optimized", "q3400-ra", "6400 Gb/s"),
    ("dgx-b300-spectrum", 23, "multi-plane", "sn5600", "6400 Gb/s"),
    ("hgx-mi300x", 1, "single-switch", "sn5600", "384 GB/s"),
    ("hgx-mi300x", 12, "leaf-spine", "sn5600", "3200 Gb/s"),
    ("gb200-nvl72-tray", 18, "leaf-spine", "qm9790", "900 GB/s"),
    ("gb200-nvl72-tray", 36, "rail-optimized", "qm9790", "900 GB/s"),
    ("dgx-h100", 3, "full-mesh", "qm9790", "1600 Gb/s"),
    (
        "{gpus: 8, nics: 8, nic_rate: 400 Gb/s, scale_up: 450 GB/s}",
        300,
        "fat-tree",
        "{ports: 32, rate: 400 Gb/s}",
        "3200 Gb/s",
    ),
    (
        "{gpus: 4, nics: 2, nic_rate: 100 Gb/s, scale_up: 10 GB/s}",
        9,
        "leaf-spine",
        "{ports: 8, rate: 100 Gb/s}",
        "10 GB/s",
    ),
]


@pytest.mark.parametrize("case", UNCONTENDED)
def test_simulators_and_arithmetic_agree(wire: Callable, case: tuple) -> None:
    cluster, parts = wire(*case[:4])
    rates = {}
    for simulator in ("fluid", "alpha_beta"):
        options = CollectiveOptions(simulator=simulator, routing="adaptive")
        (result,) = predict_collective(cluster, parts, "all_reduce", [SIZE], options)
        rates[simulator] = result.attainable_busbw_bytes_per_s
    # 1 %: the design's promise for an uncontended case.
    assert rates["alpha_beta"] == pytest.approx(rates["fluid"], rel=0.01)
    assert rates["fluid"] == pytest.approx(parse_rate(case[4]), rel=0.01)


def test_the_fluid_simulation_is_never_slower_than_equal_shares(wire: Callable) -> None:
    cluster, parts = wire("dgx-h100", 64, "leaf-spine", "qm9790")
    for seed in range(5):
        found = {}
        for simulator in ("fluid", "alpha_beta"):
            options = CollectiveOptions(simulator=simulator, routing="ecmp", order="shuffled", seed=seed)
            (found[simulator],) = predict_collective(cluster, parts, "all_reduce", [SIZE], options)
        assert found["fluid"].time_s <= found["alpha_beta"].time_s * (1 + 1e-9)


def test_a_shuffled_ring_over_hashed_paths_is_far_slower(wire: Callable) -> None:
    cluster, parts = wire("dgx-h100", 128, "rail-optimized", "qm9790")

    def busbw(order: str, routing: str) -> float:
        options = CollectiveOptions(order=order, routing=routing)
        return predict_collective(cluster, parts, "all_reduce", [SIZE], options)[
            0
        ].attainable_busbw_bytes_per_s

    assert busbw("fabric", "ecmp") == pytest.approx(busbw("fabric", "adaptive"))
    assert busbw("shuffled", "adaptive") == pytest.approx(busbw("fabric", "adaptive"), rel=0.01)
    # The fullest of 256 up links of a rail carries three hashed messages or more, and every edge waits for it.
    assert busbw("shuffled", "ecmp") <= busbw("fabric", "ecmp") / 2.9
