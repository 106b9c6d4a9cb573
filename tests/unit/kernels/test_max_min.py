"""Max-min rates: what makes a division fair, and the same answer from a linear programme."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from gpufabric.kernels import max_min
from gpufabric.kernels.max_min_progressive import progressive_rates


# Compiling takes seconds on a new machine.
@pytest.fixture(
    params=[pytest.param(0, marks=pytest.mark.slow, id="compiled"), pytest.param(64, id="progressive")],
    scope="module",
    autouse=True,
)
def _way(request):
    """Run every test on both ways: all flows by the compiled kernel, and few by array operations."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(max_min, "FEW_FLOWS", request.param)
        yield


def max_min_rates(*instance):
    return max_min.max_min_rates(*instance)


@st.composite
def instances(draw):
    links = draw(st.integers(1, 7))
    flows = draw(st.integers(1, 6))
    capacity = np.array(draw(st.lists(st.floats(0.5, 100.0), min_size=links, max_size=links)))
    rows = [draw(st.lists(st.integers(0, links - 1), min_size=1, unique=True)) for _ in range(flows)]
    weights = [draw(st.lists(st.floats(0.1, 4.0), min_size=len(r), max_size=len(r))) for r in rows]
    first = np.cumsum([0] + [len(r) for r in rows]).astype(np.int64)
    return first, np.concatenate(rows).astype(np.int32), np.concatenate(weights), capacity


def matrix(first, link, weight, links):
    dense = np.zeros((links, len(first) - 1))
    for flow in range(len(first) - 1):
        dense[link[first[flow] : first[flow + 1]], flow] = weight[first[flow] : first[flow + 1]]
    return dense


def by_linear_programme(dense, capacity):
    """Raise the smallest rate as far as it goes, fix the flows that can't rise further, and repeat."""
    flows = dense.shape[1]
    fixed = np.full(flows, np.nan)
    while np.isnan(fixed).any():
        free = np.isnan(fixed)
        room = capacity - dense[:, ~free] @ fixed[~free]
        common = linprog(
            [-1.0], A_ub=dense[:, free].sum(axis=1, keepdims=True), b_ub=room, bounds=[(0, None)]
        ).x[0]
        for flow in np.flatnonzero(free):
            others = np.array([f for f in np.flatnonzero(free) if f != flow], int)
            slack = room - dense[:, others].sum(axis=1) * common
            alone = linprog([-1.0], A_ub=dense[:, [flow]], b_ub=slack, bounds=[(0, None)]).x[0]
            if alone <= common * (1 + 1e-7):
                fixed[flow] = common
    return fixed


@settings(deadline=None)
@given(instances())
def test_no_link_is_overfull_and_each_flow_is_held_back_by_a_full_one(instance):
    first, link, weight, capacity = instance
    rates, bottleneck = max_min_rates(first, link, weight, capacity)
    dense = matrix(first, link, weight, len(capacity))
    load = dense @ rates
    assert (load <= capacity * (1 + 1e-6)).all()
    for flow, full in enumerate(bottleneck):
        assert dense[full, flow] > 0
        assert load[full] == pytest.approx(capacity[full], rel=1e-6)
        # On the full link of a flow, no other flow runs faster: it could give way otherwise.
        assert rates[flow] >= rates[dense[full] > 0].max() * (1 - 1e-6)


@settings(deadline=None)
@given(instances(), st.floats(0.01, 1000.0))
def test_rates_scale_with_the_capacities(instance, factor):
    first, link, weight, capacity = instance
    rates, _ = max_min_rates(first, link, weight, capacity)
    scaled, _ = max_min_rates(first, link, weight, capacity * factor)
    np.testing.assert_allclose(scaled, rates * factor, rtol=1e-6)


@settings(deadline=None)
@given(instances())
def test_equal_flows_get_equal_rates(instance):
    first, link, weight, capacity = instance
    twice = np.concatenate([first, first[-1] + first[1:]])
    rates, _ = max_min_rates(twice, np.tile(link, 2), np.tile(weight, 2), capacity)
    np.testing.assert_allclose(rates[: len(first) - 1], rates[len(first) - 1 :], rtol=1e-9)


@settings(max_examples=25, deadline=None)
@given(instances())
def test_a_linear_programme_finds_the_same_rates(instance):
    first, link, weight, capacity = instance
    rates, _ = max_min_rates(first, link, weight, capacity)
    expected = by_linear_programme(matrix(first, link, weight, len(capacity)), capacity)
    np.testing.assert_allclose(rates, expected, rtol=1e-4)


def test_a_flow_that_no_link_limits_is_infinitely_fast():
    rates, bottleneck = max_min_rates(
        np.array([0, 1, 2]), np.array([0, 1], np.int32), np.ones(2), np.array([np.inf, 4.0])
    )
    assert rates.tolist() == [np.inf, 4.0]
    assert bottleneck.tolist() == [-1, 1]


def test_flows_that_do_not_take_part_use_nothing():
    first, link = np.array([0, 1, 2]), np.array([0, 0], np.int32)
    rates, _ = max_min_rates(first, link, np.ones(2), np.array([6.0]), np.array([True, False]))
    assert rates.tolist() == [6.0, 0.0]


def test_the_textbook_line_of_links():
    # Three links in a row of capacity 1, 2 and 1 with one long flow: the long one and the first short one share link 0.
    first = np.array([0, 3, 4, 5, 6])
    link = np.array([0, 1, 2, 0, 1, 2], np.int32)
    rates, _ = max_min_rates(first, link, np.ones(6), np.array([1.0, 2.0, 1.0]))
    np.testing.assert_allclose(rates, [0.5, 0.5, 1.5, 0.5])


@settings(deadline=None)
@given(instances(), st.data())
def test_both_ways_agree(instance, data):
    first, link, weight, capacity = instance
    active = np.array(data.draw(st.lists(st.booleans(), min_size=len(first) - 1, max_size=len(first) - 1)))
    capacity = np.where(data.draw(st.integers(0, 3)) == 0, np.inf, capacity)
    rates, bottleneck = max_min_rates(first, link, weight, capacity, active)
    expected, held_back = progressive_rates(first, link, weight, capacity, active)
    np.testing.assert_allclose(rates, expected, rtol=1e-6)
    np.testing.assert_array_equal(bottleneck < 0, held_back < 0)


def test_a_link_without_rate_stops_its_flows_and_no_others():
    first, link = np.array([0, 2, 3]), np.array([0, 1, 1], np.int32)
    rates, bottleneck = max_min_rates(first, link, np.ones(3), np.array([0.0, 8.0]))
    assert rates.tolist() == [0.0, 8.0]
    assert bottleneck.tolist() == [0, 1]


def test_arrays_that_may_not_be_written_are_read_only():
    first, link, weight, capacity = np.array([0, 1]), np.zeros(1, np.int32), np.ones(1), np.array([4.0])
    for array in (first, link, weight, capacity):
        array.setflags(write=False)
    assert max_min_rates(first, link, weight, capacity)[0].tolist() == [4.0]
