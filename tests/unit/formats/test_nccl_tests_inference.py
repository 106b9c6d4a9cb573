"""What busbw / algbw tells of the operation and the ranks."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpufabric.formats.bus_factor_inference import (
    bus_factor,
    op_by_elimination,
    op_from_quotient,
    quotient_bounds,
    ranks_from_quotient,
)
from gpufabric.records.measurements import MeasuredRow


def row(algbw, busbw):
    return MeasuredRow(1, 1 << 30, 0.01, round(algbw, 2) * 1e9, round(busbw, 2) * 1e9, False)


@given(st.integers(2, 4096), st.lists(st.floats(50, 900), min_size=1, max_size=12))
def test_the_true_number_of_ranks_is_always_allowed(ranks, algbws):
    bounds = quotient_bounds([row(a, round(a, 6) * 2 * (ranks - 1) / ranks) for a in algbws])
    assert bounds is not None
    fewest, most = ranks_from_quotient(bounds, "all_reduce")
    assert fewest <= ranks <= most


@pytest.mark.parametrize(("ranks", "sharp"), [(16, True), (96, True), (128, True), (4096, False)])
def test_how_sharp_the_ranks_are(ranks, sharp):
    fewest, most = ranks_from_quotient(
        quotient_bounds([row(190.0, 190.0 * 2 * (ranks - 1) / ranks)]), "all_reduce"
    )
    assert (fewest == most) is sharp


def test_no_ranks_from_operations_whose_factor_is_one():
    assert ranks_from_quotient((1.0, 1.0), "broadcast") is None
    assert ranks_from_quotient((1.0, 1.0), "no-such-op") is None


@pytest.mark.parametrize(
    ("bounds", "redop", "op"),
    [
        ((1.87, 1.88), "sum", "all_reduce"),
        ((0.93, 0.94), "sum", "reduce_scatter"),
        ((0.93, 0.94), "none", None),
        ((0.99, 1.01), "sum", None),
        ((2.1, 2.2), "sum", None),
    ],
)
def test_the_operation_is_named_only_when_one_fits(bounds, redop, op):
    assert op_from_quotient(bounds, redop) == op


def test_small_or_contradicting_rows_tell_nothing():
    assert quotient_bounds([row(0.05, 0.09)]) is None
    assert quotient_bounds([row(100.0, 150.0), row(100.0, 190.0)]) is None


@pytest.mark.parametrize(
    ("op", "ranks", "factor"),
    [("all_reduce", 8, 1.75), ("all_gather", 8, 0.875), ("send_recv", 8, 1.0), ("none", 8, None)],
)
def test_factors(op, ranks, factor):
    assert bus_factor(op, ranks) == factor


@pytest.mark.parametrize(
    ("bounds", "redop", "root", "ranks", "unchecked", "op"),
    [
        ((0.95, 1.05), "sum", -1, 2, True, "send_recv"),
        ((0.95, 1.05), "sum", -1, 2, False, None),
        ((0.95, 1.05), "sum", -1, 16, False, "send_recv"),
        ((0.95, 1.05), "sum", 0, 16, False, "reduce"),
        ((0.99, 1.01), "none", 0, 16, False, "broadcast"),
        ((0.93, 0.94), "none", -1, 16, True, "all_to_all"),
        ((0.93, 0.94), "none", -1, 16, False, None),
        ((0.2, 0.3), "sum", -1, 16, True, None),
    ],
)
def test_an_operation_is_told_by_what_is_left(bounds, redop, root, ranks, unchecked, op):
    assert op_by_elimination(bounds, redop, root, ranks, unchecked) == op
