"""The greatest value of each group, against a loop; NaN is contagious and an empty group has none."""

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from gpufabric.kernels.group_maximum import group_maximum

VALUES = st.one_of(st.floats(-1e6, 1e6), st.just(math.nan))


@given(st.lists(st.tuples(VALUES, st.integers(0, 5))))
def test_it_is_what_a_loop_finds(rows: list[tuple[float, int]]):
    value = np.array([v for v, _ in rows], np.float64)
    group = np.array([g for _, g in rows], np.int64)
    found = group_maximum(value, group, 6)
    for number in range(6):
        mine = [v for v, g in rows if g == number]
        if any(map(math.isnan, mine)):
            assert math.isnan(found[number])
        else:
            assert found[number] == max(mine, default=-math.inf)
