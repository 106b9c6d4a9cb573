"""Predictions: what they say, what they refuse."""

import json

import pytest

from gpufabric.catalog.calibrations import load_ring_range
from gpufabric.errors import InputError, UnbuildableError
from gpufabric.jobs.collective import CollectiveOptions, predict_collective
from gpufabric.jobs.message_sizes import message_sizes
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
        assert result.attainable_busbw_bytes_per_s == pytest.approx(400e9)
        assert json.loads(json.dumps(result.to_dict()))["size_bytes"] == result.size_bytes


def test_the_bottleneck_is_named_with_its_load(wire):
    (result,) = predicted(wire("dgx-h100", 4, "single-switch", "qm9790"))
    assert result.bottleneck == "NIC to leaf link (400 Gb/s) with 1 message at a time"
    (result,) = predicted(wire("dgx-h100", 1, "single-switch", "qm9790"))
    assert result.bottleneck == "scale-up switch to GPU link (450 GB/s) with 8 messages at a time"
    thin = wire("dgx-h100", 32, "leaf-spine", "qm9790", ", oversubscription: '4:1'")
    (result,) = predicted(thin, order="shuffled")
    assert result.bottleneck.startswith(("leaf to spine link", "spine to leaf link"))


def test_method_says_simulator_and_routing(wire):
    wired = wire("dgx-h100", 4, "single-switch", "qm9790", ", routing: ecmp")
    assert predicted(wired)[0].method == "fluid, ecmp routing"
    assert (
        predicted(wired, simulator="alpha_beta", routing="static")[0].method == "alpha_beta, static routing"
    )


def test_small_messages_cost_latency_and_large_ones_rate(wire):
    small, large = predicted(wire("dgx-h100", 4, "single-switch", "qm9790"), (8, 1 << 38))
    assert small.protocol == "ll"
    # 62 steps, 8 of them between servers, over one leaf each, as NCCL's tuning table has them, and a base of 6.6 µs.
    steps = 6.6e-6 + 54 * 0.6e-6 + 8 * 2.7e-6
    wiring = 8 * (0.45e-6 + 2 * 10 * 4.9e-9)
    assert small.time_s == pytest.approx(steps + wiring, rel=1e-3)
    assert large.protocol == "simple"
    assert large.busbw_bytes_per_s == pytest.approx(400e9, rel=0.01)


def test_the_range_is_wide_without_a_calibration_and_its_own_with_one(wire):
    wired = wire("dgx-h100", 4, "single-switch", "qm9790")
    (wide,) = predicted(wired)
    assert wide.time_high_s == pytest.approx(wide.time_s / 0.4)
    calibration = load_ring_range()
    (fitted,) = predicted(wired, calibration=calibration)
    band = calibration.band("scale-out", GIB8)
    assert fitted.busbw_bytes_per_s == pytest.approx(400e9 * band.quantiles[2], rel=0.02)
    assert fitted.time_high_s / fitted.time_s == pytest.approx(band.quantiles[2] / band.quantiles[1])


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
        ({"op": "all_gather"}, 'operation "all_gather" can\'t be predicted yet; known: all_reduce'),
        ({"op": "allreduce"}, 'Did you mean "all_reduce"'),
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
    assert rows[1][7] == "516.7 GB/s"
    notes = collective_notes(results)
    assert "bottleneck: NIC to leaf link" in notes
    assert notes.count("assumed:") == 1
