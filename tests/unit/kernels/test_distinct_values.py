"""Different values, and the number of each."""

from __future__ import annotations

import numpy as np
import pytest

from gpufabric.kernels.distinct_values import distinct_values, number_values


@pytest.mark.parametrize("kind", [np.int8, np.int32, np.int64, np.float64])
def test_are_those_that_numpy_finds(kind):
    values = np.random.default_rng(5).integers(-9, 30, 200).astype(kind)
    different, number = number_values(values)
    expected, inverse = np.unique(values, return_inverse=True)
    assert distinct_values(values).tolist() == different.tolist() == expected.tolist()
    assert different.dtype == kind
    assert number.tolist() == inverse.tolist()


def test_of_nothing_there_are_none():
    different, number = number_values(np.empty(0, np.int64))
    assert (len(different), len(number)) == (0, 0)
