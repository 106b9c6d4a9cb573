"""Rows in the order of their keys."""

from __future__ import annotations

import numpy as np
import pytest

from gpufabric.kernels.stable_order import stable_order


@pytest.mark.parametrize("kind", [np.int8, np.int32, np.int64, np.uint16])
@pytest.mark.parametrize("most", [3, 100])
def test_is_that_of_a_stable_sort(kind, most):
    low = 0 if kind is np.uint16 else -most
    key = np.random.default_rng(most).integers(low, most, 500).astype(kind)
    assert stable_order(key).tolist() == np.argsort(key, kind="stable").tolist()


def test_keys_too_large_to_be_packed_are_sorted_all_the_same():
    key = np.array([2**62, -(2**62), 5, 5, 2**62, -(2**63), 2**63 - 1])
    assert stable_order(key).tolist() == [5, 1, 2, 3, 0, 4, 6]


def test_of_nothing_is_nothing():
    order = stable_order(np.empty(0, np.int32))
    assert (order.tolist(), order.dtype) == ([], np.int64)
