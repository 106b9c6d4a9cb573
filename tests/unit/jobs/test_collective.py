"""Predictions: what they say, what they refuse."""

import json

import numpy as np
import pytest

from gpufabric.collectives import ALGORITHMS
from gpufabric.collectives.bus_factors import bus_factor
from gpufabric.errors import InputError, UnbuildableError
from gpufabric.jobs.collective import CollectiveOptions, predict_collective
from gpufabric.jobs.message_sizes import message_sizes
from gpufabric.libraries.choose import Forced
from gpufabric.records.spec_fields import Library
from gpufabric.report.collective_table import COLUMNS, collective_notes, collective_table

GIB8 = 8 << 30


def predicted(wired, sizes=(GIB8,), op="all_reduce", **options):
    return predict_collective(*wired, op, list(sizes), CollectiveOptions(**options))


def test_numbers_of_a_result_belong_together(wire):
    for result in predicted(wire("dgx-h100", 4, "single-switch", "qm9790"), (8, 1 << 20, GIB8)):
        assert result.gpus == 32
        assert result.algbw_bytes_per_s == pytest.approx(result.size_bytes / result.time_s)
        # nccl-tests, doc/PERFORMANCE.md: bus bandwidth of all-reduce is algbw x 2 (n - 1) / n.
        assert result.busbw_bytes_per_s == pytest.approx(result.algbw_bytes_per_s * 2 * 31 / 32)
        assert result.ceiling_busbw_bytes_per_s == pytest.approx(400e9 * 31 / 32 * 4 / 3)
        assert result.busbw_bytes_per_s <= result.attainable_busbw_bytes_per_s * (1 + 1e-9)
        assert result.attainable_busbw_bytes_per_s <= result.ceiling_busbw_bytes_per_s * (1 + 1e-9)
        assert result.time_low_s <= result.time_s <= result.time_high_s <= result.time_slow_s
        assert json.loads(json.dumps(result.to_dict()))["size_bytes"] == result.size_bytes


def test_the_bottleneck_is_named_with_its_load(wire):
    ring = Forced("ring", "simple")
    (result,) = predicted(wire("dgx-h100", 4, "single-switch", "qm9790"), forced=ring)
    assert result.bottleneck == "NIC to leaf link (400 Gb/s) with 1 message at a time"
    (result,) = predicted(wire("dgx-h100", 1, "single-switch", "qm9790"), forced=ring)
    assert result.bottleneck == "scale-up switch to GPU link (450 GB/s) with 8 messages at a time"
    thin = wire("dgx-h100", 32, "leaf-spine", "qm9790", ", oversubscription: '4:1'")
    (result,) = predicted(thin, order="shuffled", forced=ring)
    assert result.bottleneck.startswith(("leaf to spine link", "spine to leaf link"))


def test_method_says_simulator_and_routing(wire):
    wired = wire("dgx-h100", 4, "single-switch", "qm9790", ", routing: ecmp")
    assert predicted(wired)[0].method == "fluid, ecmp routing"
    assert (
        predicted(wired, simulator="alpha_beta", routing="static")[0].method == "alpha_beta, static routing"
    )


def test_small_messages_cost_latency_and_large_ones_rate(wire):
    wired = wire("dgx-h100", 4, "single-switch", "qm9790")
    small, large = predicted(wired, (8, 1 << 38))
    assert small.latency_s > 100 * small.wire_s
    assert small.bottleneck.startswith("latency: ")
    assert large.wire_s > 100 * large.latency_s
    (ring,) = predicted(wired, (1 << 38,), forced=Forced("ring"))
    assert (ring.algorithm, ring.protocol) == ("ring", "simple")
    assert 300e9 < ring.busbw_bytes_per_s <= 400e9


ALL_OPS = [op for op in ALGORITHMS if op != "all_to_all_v"]


@pytest.mark.parametrize("op", ALL_OPS)
@pytest.mark.parametrize("gpus", [2, 7, 8, 12, 16, 32])
def test_no_operation_beats_its_ceiling(wire, op, gpus):
    results = predicted(wire("dgx-h100", 4, "single-switch", "qm9790"), (8, 1 << 20, GIB8), op, ranks=gpus)
    for result in results:
        assert result.op == op
        assert 0 < result.busbw_bytes_per_s <= result.ceiling_busbw_bytes_per_s * (1 + 1e-9)
        assert result.busbw_bytes_per_s == pytest.approx(result.algbw_bytes_per_s * bus_factor(op, gpus))
        assert result.time_low_s <= result.time_s <= result.time_high_s


@pytest.mark.parametrize("algorithm", ALGORITHMS["all_reduce"])
def test_every_algorithm_is_shown_or_refused_in_one_line(wire, algorithm):
    wired = wire("dgx-h100", 4, "single-switch", "qm9790")
    try:
        (result,) = predicted(wired, forced=Forced(algorithm), in_network=algorithm.startswith("collnet"))
    except InputError as error:
        refused = str(error)
        assert algorithm == "nvls"
        assert "stays inside one node" in refused
    else:
        assert result.algorithm == algorithm
        assert result.busbw_bytes_per_s <= result.ceiling_busbw_bytes_per_s * (1 + 1e-9)


def test_nvls_on_a_box_without_nvswitches_is_one_clear_line(wire):
    wired = wire("dgx-a100", 1, "single-switch", "qm8790")
    with pytest.raises(
        InputError, match="algorithm nvls: the NVSwitches of these servers do not add and multicast"
    ):
        predicted(wired, forced=Forced("nvls"))


def test_switches_that_add_are_attainable_until_collnet_is_on(wire):
    wired = wire("dgx-h100", 16, "rail-optimized", "qm9790")
    off, on = (
        predicted(wired, in_network=True, library=Library(settings=settings))[0]
        for settings in ({}, {"NCCL_COLLNET_ENABLE": "1"})
    )
    assert not off.algorithm.startswith("collnet")
    assert off.attainable_busbw_bytes_per_s > 1.2 * off.busbw_bytes_per_s
    assert off.attainable_settings == ("NCCL_COLLNET_ENABLE=1",)
    assert on.algorithm.startswith("collnet")
    assert on.busbw_bytes_per_s == pytest.approx(off.attainable_busbw_bytes_per_s)
    assert on.busbw_bytes_per_s <= on.ceiling_busbw_bytes_per_s
    assert on.ceiling_busbw_bytes_per_s > off.ceiling_busbw_bytes_per_s


def test_a_node_is_the_nvlink_domain_where_the_library_knows_it(wire):
    rack = wire("gb200-nvl72-tray", 18, "leaf-spine", "qm9790")
    whole, trays = (predicted(rack, library=Library(version=version))[0] for version in ("2.27", "2.20"))
    (off,) = predicted(rack, library=Library(settings={"NCCL_MNNVL_ENABLE": "0"}))
    assert whole.busbw_bytes_per_s > 2 * trays.busbw_bytes_per_s
    assert off.busbw_bytes_per_s == pytest.approx(trays.busbw_bytes_per_s, rel=0.2)


def test_the_library_follows_the_gpus_and_says_so(wire):
    (amd,) = predicted(wire("hgx-mi300x", 2, "single-switch", "qm9790"))
    assert amd.library.startswith("rccl ")
    with pytest.raises(InputError, match=r"library\.name: nccl does not run on mi300x; allowed: rccl"):
        predicted(wire("hgx-mi300x", 2, "single-switch", "qm9790"), library=Library(name="nccl"))
    (old,) = predicted(wire("dgx-h100", 2, "single-switch", "qm9790"), library=Library(version="2.9.9"))
    assert any("2.9.9 is not modelled" in text for text in old.assumptions)


@pytest.mark.slow
def test_queue_pairs_and_polarised_hashes_change_what_ecmp_delivers(wire):
    wired = wire("dgx-h100", 64, "leaf-spine", "qm9790", ", routing: ecmp")
    ring = {"forced": Forced("ring", "simple"), "order": "shuffled"}
    (plain,), (several,) = predicted(wired, **ring), predicted(wired, queue_pairs=16, **ring)
    (set_,) = predicted(wired, library=Library(settings={"NCCL_IB_QPS_PER_CONNECTION": "16"}), **ring)
    assert several.busbw_bytes_per_s > 1.2 * plain.busbw_bytes_per_s
    assert set_.busbw_bytes_per_s >= several.busbw_bytes_per_s


def test_an_uneven_exchange_takes_as_long_as_its_busiest_rank(wire):
    wired = wire("dgx-h100", 4, "single-switch", "qm9790")
    (even,) = predicted(wired, op="all_to_all", library=Library(settings={"NCCL_PXN_DISABLE": "1"}))
    (flat,) = predicted(
        wired, op="all_to_all_v", skew=0.0, library=Library(settings={"NCCL_PXN_DISABLE": "1"})
    )
    assert flat.time_s == pytest.approx(even.time_s, rel=0.01)
    (skewed,) = predicted(wired, op="all_to_all_v", skew=1.0)
    table = np.zeros((32, 32))
    table[0, 8] = 5.0
    (one,) = predicted(wired, op="all_to_all_v", pair_shares=table)
    for result in (flat, skewed, one):
        assert result.busbw_bytes_per_s <= result.ceiling_busbw_bytes_per_s * (1 + 1e-9)
    # Everything goes from one GPU to one other, over the one NIC beside each.
    assert one.wire_s >= GIB8 / 50e9 * (1 - 1e-9)
    with pytest.raises(InputError, match="no table of bytes was given"):
        predicted(wired, op="all_to_all_v")
    with pytest.raises(InputError, match="the table has 3 rows; allowed is one a rank, 32"):
        predicted(wired, op="all_to_all_v", pair_shares=np.ones((3, 3)))


@pytest.mark.parametrize(
    ("name", "op"), [("allreduce", "all_reduce"), ("alltoall_perf", "all_to_all"), ("sendrecv", "send_recv")]
)
def test_operations_as_nccl_tests_spells_them(wire, name, op):
    assert predicted(wire("dgx-h100", 2, "single-switch", "qm9790"), op=name)[0].op == op


@pytest.mark.slow
def test_shuffled_results_are_added_where_they_differ(wire):
    wired = wire("dgx-h100", 64, "rail-optimized", "qm9790", ", routing: ecmp")
    results = predicted(wired, compare_shuffled=True)
    assert [r.rank_order for r in results] == ["fabric", "shuffled(seed=0)"]
    assert results[1].time_s > 1.5 * results[0].time_s
    assert len(predicted(wired, compare_shuffled=True, routing="adaptive")) == 1


@pytest.mark.parametrize("gpus", [2, 3, 7, 9, 11, 13, 23, 31, 32])
def test_any_number_of_ranks_works(wire, gpus):
    (result,) = predicted(wire("dgx-h100", 4, "single-switch", "qm9790"), ranks=gpus)
    assert result.gpus == gpus
    assert result.time_s > 0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"sizes": (0,)}, "size: 0 bytes is out of range; allowed is 1 to 1024T"),
        ({"sizes": (-8,)}, "size: -8 bytes is out of range"),
        ({"sizes": (2**63,)}, "size: 9,223,372,036,854,775,808 bytes is out of range"),
        ({"sizes": ()}, "size: none was given"),
        ({"op": "all_gater"}, 'operation "all_gater" is unknown; known: all_reduce, all_gather'),
        ({"op": "allredcue"}, 'Did you mean "all_reduce"'),
        ({"forced": Forced("rign")}, 'algorithm "rign" is unknown for all_reduce; known: ring, tree'),
        ({"forced": Forced(None, "ll64")}, 'protocol "ll64" can\'t be used here; allowed: '),
        ({"library": Library(name="gloo")}, "library: gloo is not modelled; allowed: nccl, rccl"),
        ({"library": Library(settings={"NCCL_ALGO": "Rign"})}, 'NCCL_ALGO: "rign" is unknown'),
        ({"ranks": 33}, "ranks: 33 is out of range; allowed is 1 to 32"),
        ({"ranks": 1}, "an all_reduce over 1 rank moves nothing"),
        ({"order": "random"}, 'order "random" is unknown; known: fabric, shuffled'),
        (
            {"routing": "ecpm"},
            'routing "ecpm" is unknown; known: adaptive, ecmp, static, shortest, opensm:ENGINE or opensm:FILE. Did you',
        ),
        ({"simulator": "packets"}, 'simulator "packets" is unknown; known: fluid, alpha_beta'),
        ({"fabric": "storage"}, 'fabric "storage" is not in the cluster; it has compute'),
    ],
)
def test_what_can_not_be_is_refused_in_one_line(wire, change, message):
    with pytest.raises(InputError) as caught:
        predicted(wire("dgx-h100", 4, "single-switch", "qm9790"), **change)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_servers_without_a_way_to_each_other_are_refused(wire):
    from dataclasses import replace

    cluster, parts = wire("dgx-h100", 64, "rail-optimized", "qm9790")
    up = cluster.devices.role[cluster.link_device_b] == 2
    links = replace(
        cluster.links,
        port_a=cluster.links.port_a[~up],
        port_b=cluster.links.port_b[~up],
        bytes_per_s=cluster.links.bytes_per_s[~up],
        assembly=cluster.links.assembly[~up],
    )
    with pytest.raises(UnbuildableError, match="have no way through the fabric"):
        predicted((replace(cluster, links=links), parts))


def test_sizes_double_from_the_first_to_the_last():
    assert message_sizes("8G", None) == [GIB8]
    assert message_sizes(None, "1K..9K") == [1 << 10, 1 << 11, 1 << 12, 1 << 13]
    assert message_sizes(None, "8..8") == [8]
    assert message_sizes(None, None)[0] == 1 << 20
    assert message_sizes(None, None)[-1] == GIB8


@pytest.mark.parametrize(
    ("size", "sizes"),
    [
        ("0", None),
        ("-1", None),
        ("2^63", None),
        ("9223372036854775808", None),
        (None, "8G"),
        (None, "8G..1M"),
        ("1M", "1M..2M"),
    ],
)
def test_sizes_that_make_no_sense_are_refused(size, sizes):
    with pytest.raises(InputError, match=r"^[^\n]+$"):
        message_sizes(size, sizes)


def test_the_table_has_a_row_a_size_and_notes_below(wire):
    results = predicted(wire("dgx-h100", 4, "single-switch", "qm9790"), (1 << 20, GIB8))
    headings, rows = collective_table(results)
    assert headings == COLUMNS
    assert [row[0] for row in rows] == ["1M", "8G"]
    assert rows[1][8] == "516.7 GB/s"
    notes = collective_notes(results)
    assert "bottleneck: " in notes
    assert notes.count("assumed:") == 1


def test_hashes_do_not_change_what_runs(wire):
    wired = wire("dgx-a100", 4, "leaf-spine", "qm8790", ", oversubscription: '3:1'")
    even, hashed = (
        predicted(wired, (1 << 14, 1 << 20, 1 << 30), routing=name) for name in ("adaptive", "ecmp")
    )
    assert [(r.algorithm, r.protocol) for r in even] == [(r.algorithm, r.protocol) for r in hashed]
    assert hashed[-1].time_s > even[-1].time_s


@pytest.mark.slow
@pytest.mark.parametrize("tail", ["", ", oversubscription: '3:1'"])
def test_what_runs_depends_neither_on_routing_nor_on_switches_nor_on_the_order_of_the_ranks(wire, tail):
    sizes = tuple(1 << power for power in range(12, 34, 3))
    plain = predicted(wire("dgx-a100", 9, "leaf-spine", "qm8790"), sizes, routing="adaptive")
    runs = [(one.algorithm, one.protocol) for one in plain]
    assert len(set(runs)) > 1
    wired = wire("dgx-a100", 9, "leaf-spine", "qm8790", tail)
    for options in ({"routing": "ecmp"}, {"routing": "static"}, {"routing": "ecmp", "order": "shuffled"}):
        assert [(one.algorithm, one.protocol) for one in predicted(wired, sizes, **options)] == runs


@pytest.mark.slow
def test_what_runs_is_expected_to_end_first_of_what_may_run(wire):
    (result,) = predicted(wire("dgx-a100", 16, "leaf-spine", "qm8790", ", routing: ecmp"), (1 << 20,))
    free = [one for one in result.considered if not one.settings]
    assert min(free, key=lambda one: one.quiet_time_s).algorithm == result.algorithm
    assert [one.time_s for one in result.considered] == sorted(one.time_s for one in result.considered)
    names = [(one.algorithm, one.protocol) for one in result.considered]
    assert len(names) == len(set(names))
    by_name = dict(zip(names, result.considered, strict=True))
    assert by_name[result.algorithm, result.protocol].time_s == pytest.approx(result.time_s)
    for one in free:
        forced = Forced(one.algorithm, one.protocol, only=True)
        (alone,) = predicted(
            wire("dgx-a100", 16, "leaf-spine", "qm8790", ", routing: ecmp"), (1 << 20,), forced=forced
        )
        assert alone.time_s == pytest.approx(one.time_s)


def test_clusters_that_had_both_kinds_of_links_are_counted(wire):
    (hopper,) = predicted(wire("dgx-h100", 4, "single-switch", "qm9790"))
    (blackwell,) = predicted(wire("dgx-b200", 4, "single-switch", "qm9790"))
    (one,) = predicted(wire("dgx-b200", 1, "single-switch", "qm9790"))
    assert hopper.clusters_together > blackwell.clusters_together == 1
    assert one.clusters_together is None
    assert "1 with both kinds of links" in blackwell.assumptions[-1]
    # The NICs are the same and NVLink is faster: 380 of 400 GB/s were measured over EFA with rings.
    assert 360e9 < blackwell.attainable_busbw_bytes_per_s < 383e9
    assert blackwell.attainable_settings == ("NCCL_MIN_CTAS=24", "NCCL_IB_QPS_PER_CONNECTION=2")
