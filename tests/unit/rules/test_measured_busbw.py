"""Verdicts on measured bandwidth, with predictions made by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpufabric.records.measurements import MeasuredRow, MeasuredTable
from gpufabric.records.results import CollectiveResult
from gpufabric.rules.measured_busbw import check, expectation, judged_sizes

GB = 1e9
SIZES = [1 << p for p in range(20, 34)]


def predicted(size, busbw=360 * GB):
    time_s = size * 1.75 / busbw
    return CollectiveResult(
        op="all_reduce", size_bytes=size, gpus=128, rank_order="fabric", time_s=time_s, time_low_s=time_s * 0.9,
        time_high_s=time_s * 1.125, time_slow_s=time_s * 1.8, clusters=9,
        algbw_bytes_per_s=size / time_s, busbw_bytes_per_s=busbw,
        attainable_busbw_bytes_per_s=busbw, ceiling_busbw_bytes_per_s=420 * GB, ceiling_name="server NICs",
        algorithm="ring", protocol="simple", channels=8, library="", bottleneck="server to leaf", method="hand-made",
    )  # fmt: skip


EXPECTED = {size: expectation(predicted(size)) for size in SIZES}


def table(busbw_gb, sizes=SIZES, **changes):
    rows = [
        MeasuredRow(10 + i, size, size * 1.75 / (busbw_gb * GB), busbw_gb * GB / 1.75, busbw_gb * GB, half, 0)
        for i, size in enumerate(sizes)
        for half in (False, True)
    ]
    return replace(
        MeasuredTable("all_reduce", "float", "sum", -1, 128, (), "NVIDIA B200", tuple(rows)), **changes
    )


def judge(measured):
    return check(measured, EXPECTED, file="run.log")


def test_expectation_follows_the_prediction():
    e = EXPECTED[1 << 33]
    assert e.low_bytes_per_s == pytest.approx(320 * GB)
    assert e.high_bytes_per_s == pytest.approx(400 * GB)
    assert e.limit_low_bytes_per_s == pytest.approx(200 * GB)
    assert e.limit_high_bytes_per_s == pytest.approx(420 * GB)


def test_without_a_slow_limit_both_lie_outside_the_range():
    e = expectation(replace(predicted(1 << 33), time_slow_s=None))
    assert e.limit_low_bytes_per_s < e.low_bytes_per_s < e.busbw_bytes_per_s < e.high_bytes_per_s
    assert e.high_bytes_per_s < e.limit_high_bytes_per_s <= e.ceiling_bytes_per_s


@pytest.mark.parametrize(
    ("busbw", "verdict", "rule"),
    [
        (360, "healthy", None),
        (320, "healthy", None),
        (401, "healthy", None),
        (300, "cannot tell", None),
        (201, "cannot tell", None),
        (190, "low", "measured-busbw-low"),
        (45, "low", "measured-busbw-low"),
        (430, "high", "measured-busbw-high"),
    ],
)
def test_verdicts(busbw, verdict, rule):
    said, findings = judge(table(busbw))
    assert said.verdict == verdict
    assert [f.rule for f in findings] == ([rule] if rule else [])
    assert {s.verdict for s in said.sizes} == {verdict}


def test_only_sizes_from_16_mib_are_judged():
    said, _ = judge(table(360))
    assert min(s.size_bytes for s in said.sizes) == 16 << 20
    assert judged_sizes(table(360)) == SIZES[4:]
    small, findings = judge(table(360, sizes=SIZES[:4]))
    assert (small.verdict, small.sizes, findings) == ("cannot tell", (), [])


def test_the_largest_sizes_decide():
    rows = table(360).rows
    slow_start = tuple(replace(r, busbw_bytes_per_s=50 * GB) if r.size_bytes < 1 << 31 else r for r in rows)
    assert judge(table(360, rows=slow_start))[0].verdict == "healthy"
    slow_end = tuple(replace(r, busbw_bytes_per_s=50 * GB) if r.size_bytes >= 1 << 31 else r for r in rows)
    assert judge(table(360, rows=slow_end))[0].verdict == "low"


def test_the_average_and_contradicting_rows_are_not_judged():
    odd = tuple(replace(r, busbw_bytes_per_s=1.0, consistent=False) for r in table(360).rows[-2:])
    said, _ = judge(table(360, rows=(*table(360).rows[:-2], *odd), average_busbw_bytes_per_s=1.0))
    assert said.verdict == "healthy"
    assert all(s.measured_bytes_per_s > GB for s in said.sizes)


@pytest.mark.parametrize("busbw", [45, 360, 430])
def test_wrong_elements_are_an_error_whatever_the_speed(busbw):
    rows = table(busbw).rows
    said, findings = judge(table(busbw, rows=(*rows[:-1], replace(rows[-1], wrong=3))))
    assert (said.verdict, said.expected) == ("cannot tell", "")
    assert said.found == "the results are wrong: 1 half row with wrong elements"
    assert (said.sizes[-1].verdict, said.sizes[-1].reason) == ("cannot tell", "3 wrong elements")
    assert [(f.rule, f.severity) for f in findings] == [("measured-wrong-elements", "error")]
    assert findings[0].message.startswith("1 of 28 half rows has wrong elements")


def test_values_out_of_bounds_and_a_failure_are_not_healthy():
    assert "values were out of bounds" in judge(table(360, out_of_bounds=True))[0].found
    assert judge(table(360, out_of_bounds=True))[0].verdict == "cannot tell"
    assert judge(table(360, failed=True))[0].verdict == "cannot tell"
    assert judge(table(45, failed=True))[0].verdict == "low"


@pytest.mark.parametrize(
    ("sizes", "found"),
    [
        (SIZES, "10 of 20 half rows contradict themselves"),
        (SIZES[-1:], "1 of 2 half rows contradicts itself"),
    ],
)
def test_a_log_of_which_half_contradicts_itself_is_not_trusted(sizes, found):
    rows = tuple(replace(r, consistent=r.in_place) for r in table(360, sizes=sizes).rows)
    said, _ = judge(table(360, rows=rows))
    assert (said.verdict, said.found) == ("cannot tell", found)


@pytest.mark.parametrize(
    ("busbw", "last", "verdict"),
    [
        (360, 27, "cannot tell"),
        (360, 28, "healthy"),
        (45, 27, "low"),
        (430, 27, "high"),
        (300, 27, "cannot tell"),
    ],
)
def test_a_log_that_ends_below_256_mib_is_never_healthy(busbw, last, verdict):
    said, findings = judge(table(busbw, sizes=[1 << p for p in range(20, last + 1)]))
    assert said.verdict == verdict
    assert ("the largest size is 128M; from 256M on" in said.found) == (verdict == "cannot tell")
    assert ("run with -e 8G" in said.found) == (verdict == "cannot tell")
    assert bool(findings) == (verdict in {"low", "high"})


def test_where_ranges_are_narrow_the_wide_ones_below_have_no_say():
    rows = tuple(
        replace(r, busbw_bytes_per_s=50 * GB) if r.size_bytes < 1 << 28 else r for r in table(360).rows
    )
    sizes = [1 << p for p in range(26, 29)]
    assert judge(table(360, rows=[r for r in rows if r.size_bytes in sizes]))[0].verdict == "healthy"


def test_largest_sizes_that_do_not_agree_are_said():
    rows = tuple(replace(r, busbw_bytes_per_s=50 * GB) if r.in_place else r for r in table(360).rows)
    said, _ = judge(table(360, rows=rows))
    assert said.verdict == "cannot tell"
    assert said.found.endswith("100% of the prediction; the largest sizes do not agree")


@given(st.floats(1.0, 30.0), st.floats(0.0, 1.0), st.integers(24, 33))
def test_no_confident_word_inside_a_wide_range(width, place, power):
    low = 10 * GB
    e = replace(
        EXPECTED[1 << power], low_bytes_per_s=low, high_bytes_per_s=low * width,
        limit_low_bytes_per_s=low / 2, limit_high_bytes_per_s=low * width * 2, ceiling_bytes_per_s=low * width * 3,
    )  # fmt: skip
    one = table(low * width**place / GB, sizes=[1 << power])
    said, findings = check(one, {1 << power: e}, file="run.log")
    assert findings == []
    assert {s.verdict for s in said.sizes} == {"healthy" if width <= 2.5 else "cannot tell"}
    assert (said.verdict == "healthy") == (width <= 2.5 and power >= 28)


def test_text_names_measured_range_ceiling_and_gap():
    said, _ = judge(table(120))
    assert said.expected == "320 GB/s to 400 GB/s at 8G, at most 420 GB/s (server NICs)"
    assert said.found.startswith("120 GB/s out-of-place, 33% of the prediction")


@given(st.floats(1, 1000), st.floats(1, 1000))
def test_faster_is_never_judged_worse(slow, fast):
    order = ["low", "cannot tell", "healthy", "high"]
    slow, fast = sorted((slow, fast))
    first, second = (judge(table(v, sizes=SIZES[-3:]))[0].verdict for v in (slow, fast))
    assert order.index(first) <= order.index(second)
