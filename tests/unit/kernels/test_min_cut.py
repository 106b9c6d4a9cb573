"""The least cut is what scipy's maximum flow says."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import maximum_flow

from gpufabric.kernels.min_cut import min_cut


@st.composite
def networks(draw: Any) -> tuple[np.ndarray, ...]:
    count = draw(st.integers(1, 8))
    amounts = st.integers(0, 9)
    source, sink = (draw(st.lists(amounts, min_size=count, max_size=count)) for _ in range(2))
    edges = draw(st.lists(st.tuples(*[st.integers(0, count - 1)] * 2, amounts), max_size=20))
    a, b, rate = np.array(edges, np.int64).reshape(-1, 3).T
    return np.array(source, float), np.array(sink, float), a, b, rate.astype(float)


@settings(deadline=None)
@given(networks())
def test_it_is_the_maximum_flow(network: tuple[np.ndarray, ...]) -> None:
    source, sink, a, b, rate = network
    count = len(source)
    vertices = np.arange(count)
    start = np.concatenate([np.full(count, count), vertices, a, b])
    end = np.concatenate([vertices, np.full(count, count + 1), b, a])
    matrix = coo_matrix(
        (np.concatenate([source, sink, rate, rate]).astype(np.int32), (start, end)), shape=(count + 2,) * 2
    ).tocsr()
    matrix.setdiag(0)
    assert min_cut(source, sink, a, b, rate) == maximum_flow(matrix, count, count + 1).flow_value


def test_nothing_joins_nothing() -> None:
    none = np.empty(0, np.int64)
    assert min_cut(np.array([3.0]), np.array([0.0]), none, none, none.astype(float)) == 0
    assert min_cut(np.array([3.0]), np.array([2.0]), none, none, none.astype(float)) == 2
