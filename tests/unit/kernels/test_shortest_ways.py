"""Distances and ways against plain searches."""

from collections import deque

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpufabric.kernels import shortest_ways
from gpufabric.kernels.shortest_ways import bundle_links, hop_distances, pick_nearer, spread_evenly

GRAPHS = st.integers(1, 12).flatmap(
    lambda n: st.tuples(
        st.just(n), st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)), max_size=40)
    )
)


def both_ways(pairs):
    ends = np.array([p for p in pairs if p[0] != p[1]], np.int64).reshape(-1, 2)
    return np.concatenate([ends[:, 0], ends[:, 1]]), np.concatenate([ends[:, 1], ends[:, 0]])


def plain_distances(vertices, start, end, target):
    hops = [-1] * vertices
    hops[target] = 0
    queue = deque([target])
    while queue:
        at = queue.popleft()
        for other in end[start == at].tolist():
            if hops[other] < 0:
                hops[other] = hops[at] + 1
                queue.append(other)
    return hops


@settings(max_examples=100, deadline=None)
@given(GRAPHS, st.integers(1, 140))
def test_distances_are_those_of_a_plain_search(graph, repeat):
    """More than 64 targets need more than one word of bits."""
    vertices, pairs = graph
    start, end = both_ways(pairs)
    bundles, order = bundle_links(vertices, start, end)
    targets = np.resize(np.arange(vertices), repeat)
    expected = [plain_distances(vertices, start, end, int(t)) for t in targets]
    np.testing.assert_array_equal(hop_distances(bundles, targets), expected)
    assert bundles.width.sum() == len(start)
    np.testing.assert_array_equal(np.repeat(bundles.end, bundles.width), end[order])


def test_a_search_ends_when_all_that_is_wanted_is_found():
    bundles, _ = bundle_links(5, *both_ways([(0, 1), (1, 2), (2, 3), (3, 4)]))
    wanted = np.array([0, 0]), np.array([2, 1])
    assert hop_distances(bundles, np.array([0]), wanted).tolist() == [[0, 1, 2, -1, -1]]


@pytest.mark.slow
@settings(max_examples=100, deadline=None)
@given(GRAPHS, st.integers(0, 2**32))
def test_compiled_code_spreads_as_array_operations_do(graph, seed):
    vertices, pairs = graph
    bundles, _ = bundle_links(vertices, *both_ways(pairs))
    hops = hop_distances(bundles, np.arange(vertices))
    amount = np.random.default_rng(seed).integers(0, 3, hops.shape) * (hops >= 0)
    load = spread_evenly(bundles, hops, amount)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shortest_ways, "MANY_CELLS", 0)
        np.testing.assert_allclose(spread_evenly(bundles, hops, amount), load, rtol=1e-12)


@settings(max_examples=100, deadline=None)
@given(GRAPHS, st.integers(0, 2**32))
def test_what_is_spread_arrives_over_links_that_lead_nearer(graph, seed):
    vertices, pairs = graph
    start, end = both_ways(pairs)
    bundles, _ = bundle_links(vertices, start, end)
    hops = hop_distances(bundles, np.arange(vertices))
    amount = np.random.default_rng(seed).integers(0, 3, hops.shape) * (hops >= 0)
    load = spread_evenly(bundles, hops, amount) * bundles.width
    # Each unit takes as many links as its distance, and leaves every vertex but its target.
    assert load.sum() == pytest.approx((amount * np.maximum(hops, 0)).sum())
    leaving = np.bincount(
        np.repeat(np.arange(vertices), np.diff(bundles.first_out)), load, minlength=vertices
    )
    entering = np.bincount(bundles.end, load, minlength=vertices)
    started = amount.sum(axis=0) - np.diag(amount)
    arrived = amount.sum(axis=1) - np.diag(amount)
    np.testing.assert_allclose(leaving - entering, started - arrived, atol=1e-9)


def test_parallel_links_count_each():
    """Three links to one neighbour and one to the other: of four messages three go the wide way."""
    bundles, order = bundle_links(4, *both_ways([(0, 1)] * 3 + [(0, 2), (1, 3), (2, 3)]))
    hops = hop_distances(bundles, np.array([3]))
    load = spread_evenly(bundles, hops, np.array([[4, 0, 0, 0]]))
    assert load[:2].tolist() == [1.0, 1.0]
    links, after = pick_nearer(bundles, hops, (np.zeros(8, np.int64), np.zeros(8, np.int64)), np.arange(8))
    assert np.bincount(links).tolist() == [2, 2, 2, 2]
    assert after.tolist() == [1, 1, 1, 2] * 2
    assert sorted(order[links[:4]].tolist()) == [0, 1, 2, 3]


def test_no_links_at_all():
    bundles, _ = bundle_links(2, np.empty(0, np.int64), np.empty(0, np.int64))
    assert hop_distances(bundles, np.array([1])).tolist() == [[-1, 0]]
