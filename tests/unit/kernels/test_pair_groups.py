"""A guess that is checked finds what a search finds."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from gpufabric.kernels.sorted_groups import find_groups, find_pairs, group_rows, index_pairs

WIDTH = 7
numbers = st.integers(0, WIDTH - 1)


@given(st.lists(st.tuples(numbers, numbers), max_size=30), st.lists(st.tuples(numbers, numbers), min_size=1))
def test_pairs_are_found_as_by_searching(rows, wanted):
    key = np.array([first * WIDTH + second for first, second in rows], np.int64)
    groups = group_rows(key)
    first, second = np.array(wanted).T
    begin, size = find_pairs(index_pairs(groups, WIDTH), first, second)
    searched, expected = find_groups(groups, first * WIDTH + second)
    assert size.tolist() == expected.tolist()
    assert begin[size > 0].tolist() == searched[size > 0].tolist()
