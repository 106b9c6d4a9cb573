"""Least times of collectives, by hand."""

import pytest

from gpufabric.collectives.bus_factors import OPS
from gpufabric.errors import InputError
from gpufabric.simulators.ceilings import CutRates, least_all_reduce_time, least_time
from gpufabric.simulators.nccl_ring_latency import (
    PROTOCOLS,
    protocol_bus_rate,
    ring_latency_s,
    tree_latency_s,
)


def cuts(**changes):
    rates = {
        "ranks": 8,
        "nodes": 1,
        "smallest_node_bytes_per_s": 400.0,
        "all_nodes_bytes_per_s": 400.0,
        "smallest_part_bytes_per_s": float("inf"),
        "gpu_bytes_per_s": 450.0,
        "all_gpus_bytes_per_s": 8 * 450.0,
        "multicast": False,
    }
    return CutRates(**(rates | changes))


def test_one_server_sends_twice_n_minus_one():
    assert least_all_reduce_time(cuts(), 1000).time_s == pytest.approx(2 * 7 / 8 * 1000 / 450)


def test_multicast_needs_less():
    ceiling = least_all_reduce_time(cuts(multicast=True), 1000)
    assert ceiling.time_s == pytest.approx((1 + 1 / 8) * 1000 / 450)
    assert "in-switch reduction" in ceiling.name


def test_multicast_is_no_help_to_two_gpus():
    two = cuts(ranks=2, all_gpus_bytes_per_s=900.0, multicast=True)
    assert least_all_reduce_time(two, 1000).time_s == pytest.approx(1000 / 450)


def test_servers_share_the_work_between_them():
    four = cuts(
        ranks=32, nodes=4, all_nodes_bytes_per_s=1600.0, all_gpus_bytes_per_s=32 * 450.0, multicast=True
    )
    ceiling = least_all_reduce_time(four, 1000)
    busbw = 1000 / ceiling.time_s * 2 * 31 / 32
    assert busbw == pytest.approx(400 * 31 / 32 * 4 / 3)
    with_sharp = least_all_reduce_time(four, 1000, in_network=True)
    assert with_sharp.time_s == pytest.approx(1000 / 400)


def test_every_gpu_sends_its_own_part_whatever_the_switches_add():
    """Two racks of 72: the NICs of 18 trays are faster than one GPU's links, so these bound."""
    racks = cuts(
        ranks=144,
        nodes=2,
        smallest_node_bytes_per_s=3600.0,
        all_nodes_bytes_per_s=7200.0,
        gpu_bytes_per_s=900.0,
        all_gpus_bytes_per_s=144 * 900.0,
        multicast=True,
    )
    ceiling = least_all_reduce_time(racks, 1000)
    assert ceiling.time_s == pytest.approx(1000 / (900 + 50))
    assert "every GPU sends S" in ceiling.name


def test_the_smallest_cut_bounds():
    thin = cuts(ranks=32, nodes=4, all_nodes_bytes_per_s=1600.0, smallest_part_bytes_per_s=50.0)
    ceiling = least_all_reduce_time(thin, 1000)
    assert (ceiling.time_s, ceiling.name) == (20.0, "links out of one part of the fabric: S each way")


FOUR = {"ranks": 32, "nodes": 4, "all_nodes_bytes_per_s": 1600.0, "all_gpus_bytes_per_s": 32 * 900.0}


@pytest.mark.parametrize(
    ("op", "changes", "seconds"),
    [
        ("all_gather", {}, 7 / 8 / 450),
        ("reduce_scatter", {}, 7 / 8 / 450),
        ("broadcast", {}, 1 / 450),
        ("reduce", {}, 1 / 450),
        ("gather", {}, 7 / 8 / 450),
        ("all_to_all", {}, 7 / 8 / 450),
        ("send_recv", {}, 1 / 450),
        ("all_gather", FOUR | {"largest_node_ranks": 8}, 24 / 32 / 400),
        ("all_gather", FOUR | {"smallest_part_bytes_per_s": 50.0}, 0.5 / 50),
        ("broadcast", FOUR, 1 / 400),
        ("reduce", FOUR | {"smallest_part_bytes_per_s": 50.0}, 1 / 50),
        ("scatter", FOUR | {"largest_node_ranks": 8}, 24 / 32 / 400),
        # The root's server may be the one that has more.
        ("scatter", FOUR | {"largest_node_ranks": 8, "all_nodes_bytes_per_s": 2400.0}, 24 / 32 / 1200),
        ("all_to_all", FOUR | {"largest_node_ranks": 8}, 24 / 1600),
        ("all_to_all", FOUR | {"largest_node_ranks": 8, "exchange_bytes_per_s": 20.0}, 1 / 20),
        ("send_recv", FOUR, 1 / 400),
        ("all_to_all_v", FOUR, 0.0),
        ("all_reduce", FOUR, 2 * 3 / 1600),
    ],
)
def test_every_operation_has_a_bound(op, changes, seconds):
    assert least_time(op, cuts(**changes), 1000).time_s == pytest.approx(1000 * seconds)


def test_the_bound_of_an_exchange_in_bus_bandwidth():
    """NIC × (n - 1)/(n - g): 50 × 31/24."""
    ceiling = least_time("all_to_all", cuts(**FOUR, largest_node_ranks=8), 1000)
    assert 1000 / ceiling.time_s * 31 / 32 == pytest.approx(50 * 31 / 24)
    assert ceiling.name == "NICs of all servers: (n - g) S"


def test_a_node_whose_size_is_not_said_may_be_the_largest_possible():
    assert cuts(**FOUR).far_ranks == 3
    assert cuts(**FOUR, largest_node_ranks=8).far_ranks == 24


def test_operations_are_those_of_the_bus_factors():
    for op in OPS:
        assert least_time(op, cuts(**FOUR), 1.0).time_s >= 0
    with pytest.raises(InputError, match=r"operation .all_reduc. is unknown.*Did you mean .all_reduce."):
        least_time("all_reduc", cuts(), 1.0)


def test_switches_that_add_halve_what_links_must_carry():
    slow = FOUR | {"all_gpus_bytes_per_s": 320.0}
    assert least_time("all_reduce", cuts(**slow), 1000).name == "links of all GPUs and NICs: 2 (n - 1) S"
    added = least_time("all_reduce", cuts(**slow), 1000, in_network=True)
    assert added.time_s == pytest.approx(32 * 1000 / (320 + 1600))


def test_latency_of_a_ring_grows_with_its_edges():
    simple = PROTOCOLS[2]
    assert ring_latency_s(simple, 8, 1, False) == pytest.approx(8.4e-6 + 14 * 3.4e-6)
    assert ring_latency_s(simple, 16, 2, False) == pytest.approx(8.4e-6 + 26 * 3.4e-6 + 4 * 14.0e-6)
    assert ring_latency_s(simple, 2, 2, True) == pytest.approx(8.4e-6 + 4 * 14.0e-6)
    assert tree_latency_s(1024, 128, False) == pytest.approx(6.8e-6 + 2 * (7 * 0.6e-6 + 7 * 5.0e-6))


def test_low_latency_protocols_pay_with_rate():
    assert [protocol_bus_rate(p, 400e9, 16) for p in PROTOCOLS] == [20.4e9, 0.92 * 400e9, 400e9]
