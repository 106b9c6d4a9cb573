"""Two ways, one answer: closed form, fluid simulation and the sum by hand agree where nothing is contended."""

from collections.abc import Callable

import pytest

from gpufabric.collectives.bus_factors import bus_factor
from gpufabric.collectives.job_wiring import lay_job
from gpufabric.collectives.rank_order import rank_gpus
from gpufabric.jobs.lay_wiring import lay_wiring
from gpufabric.jobs.price_algorithm import price_algorithm
from gpufabric.records.cluster import Cluster
from gpufabric.records.collective import Collective
from gpufabric.records.part_set import PartSet
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
    ("hgx-mi300x", 1, "single-switch", "sn5600", "448 GB/s"),
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


def ring_busbw(
    wired: tuple[Cluster, PartSet],
    simulator: str,
    routing: str = "adaptive",
    order: str = "fabric",
    seed: int = 0,
) -> float:
    """Return the bus bandwidth of a ring all-reduce over all GPUs, bytes/s."""
    cluster, parts = wired
    gpus = rank_gpus(cluster, None, order, seed)
    wiring = lay_wiring(cluster, parts)
    server = parts.servers[cluster.parts[cluster.devices.part[cluster.gpus.host[gpus[0]]]]]
    job = lay_job(cluster, wiring.inside, gpus, server.scale_up)
    priced = price_algorithm(
        wiring, job, Collective("all_reduce", SIZE, gpus, order), "ring", routing, simulator=simulator
    )
    return priced.line_bytes_per_s * bus_factor("all_reduce", len(gpus))


@pytest.mark.parametrize("case", UNCONTENDED)
def test_simulators_and_arithmetic_agree(wire: Callable, case: tuple) -> None:
    wired = wire(*case[:4])
    rates = {simulator: ring_busbw(wired, simulator) for simulator in ("fluid", "alpha_beta")}
    # 1 %: the design's promise for an uncontended case.
    assert rates["alpha_beta"] == pytest.approx(rates["fluid"], rel=0.01)
    assert rates["fluid"] == pytest.approx(parse_rate(case[4]), rel=0.01)


def test_the_fluid_simulation_is_never_slower_than_equal_shares(wire: Callable) -> None:
    wired = wire("dgx-h100", 64, "leaf-spine", "qm9790")
    for seed in range(5):
        found = {
            simulator: ring_busbw(wired, simulator, "ecmp", "shuffled", seed)
            for simulator in ("fluid", "alpha_beta")
        }
        assert found["fluid"] >= found["alpha_beta"] * (1 - 1e-9)


def test_a_shuffled_ring_over_hashed_paths_is_far_slower(wire: Callable) -> None:
    wired = wire("dgx-h100", 128, "rail-optimized", "qm9790")

    def busbw(order: str, routing: str) -> float:
        return ring_busbw(wired, "fluid", routing, order)

    assert busbw("fabric", "ecmp") == pytest.approx(busbw("fabric", "adaptive"))
    assert busbw("shuffled", "adaptive") == pytest.approx(busbw("fabric", "adaptive"), rel=0.01)
    # The fullest of 256 up links of a rail carries three hashed messages or more, and every edge waits for it.
    assert busbw("shuffled", "ecmp") <= busbw("fabric", "ecmp") / 2.9
