import pytest

from gpufabric.jobs.summarise_errors import bars, size_band, summarise, summarise_by
from gpufabric.records.validation import ValidatedRow


def row(error, fold="a", *, nodes=1, size=1 << 30, op="all_reduce", low=None, high=None, hw_class="h100"):
    measured = 100.0
    predicted = measured * (1 + error)
    return ValidatedRow(
        id="x",
        cluster=fold,
        fold=fold,
        hw_class=hw_class,
        op=op,
        nodes=nodes,
        gpus=8 * nodes,
        size_bytes=size,
        quantity="busbw_bytes_per_s",
        unit="B/s",
        predicted=predicted,
        low=0.9 * predicted if low is None else low,
        high=1.1 * predicted if high is None else high,
        measured=measured,
        error=error,
        algorithm="ring",
        protocol="simple",
        in_fit=None,
        not_counted="",
    )


def test_a_cluster_has_one_vote_however_many_rows_it_has():
    rows = [row(0.5, "many") for _ in range(98)] + [row(-0.02, "few"), row(0.04, "other")]
    found = summarise(rows)
    assert (found.rows, found.clusters) == (100, 3)
    assert found.median_abs_error == pytest.approx(0.04)
    assert found.bias == pytest.approx(0.04)
    assert found.inside_range == pytest.approx(2 / 3)


def test_the_90th_percentile_is_over_rows_that_share_their_cluster_s_vote():
    nine = [row(0.01 * i, f"c{i}") for i in range(1, 10)]
    assert summarise([*nine, row(1.0, "bad")]).p90_abs_error == pytest.approx(0.09)
    two_bad = [*nine[:8], row(1.0, "bad"), row(2.0, "worse")]
    assert summarise(two_bad).p90_abs_error == pytest.approx(1.0)
    shared = [*nine, row(3.0, "split"), row(0.0, "split")]
    assert summarise(shared).p90_abs_error == pytest.approx(0.09)


def test_nothing_has_no_figures():
    found = summarise([])
    assert (found.rows, found.clusters, found.median_abs_error, found.inside_range) == (0, 0, None, None)
    assert {bar.met for bar in bars([])} == {None}


@pytest.mark.parametrize(
    ("size", "nodes", "band"),
    [
        (65536, 1, "one server, up to 64 KiB"),
        (65537, 1, "one server, 64 KiB to 16 MiB"),
        ((16 << 20) - 1, 2, "multi-node, 64 KiB to 16 MiB"),
        (16 << 20, 2, "multi-node, from 16 MiB"),
    ],
)
def test_the_bands_meet_at_64_kib_and_16_mib(size, nodes, band):
    assert size_band(row(0.0, size=size, nodes=nodes)) == band


def test_groups_are_sorted_and_hold_every_row():
    groups = summarise_by([row(0.1, op="reduce"), row(0.2), row(0.3, "b")], lambda r: r.op)
    assert list(groups) == ["all_reduce", "reduce"]
    assert [g.rows for g in groups.values()] == [2, 1]


def test_a_bar_with_two_limits_needs_both():
    rows = [row(0.05, f"c{i}", nodes=2) for i in range(8)] + [row(0.5, f"d{i}", nodes=2) for i in range(2)]
    by_name = {bar.name: bar for bar in bars(rows)}
    multi = by_name["multi-node all_reduce, from 16 MiB"]
    assert multi.summary.median_abs_error == pytest.approx(0.05)
    assert multi.met is False
    assert by_name["one server, from 16 MiB"].met is None
    assert {bar.name: bar.met for bar in bars(rows[:8])}[multi.name] is True
