"""Groups of rows by key, and hashes that spread."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from gpufabric.kernels.hash_mix import hash_mix
from gpufabric.kernels.sorted_groups import find_groups, group_rows


@given(st.lists(st.integers(-5, 5)), st.lists(st.integers(-7, 7)))
def test_each_key_finds_its_rows(keys, wanted):
    groups = group_rows(np.array(keys, np.int64))
    start, size = find_groups(groups, np.array(wanted, np.int64))
    for key, begin, count in zip(wanted, start, size, strict=True):
        assert groups.row[begin : begin + count].tolist() == [i for i, k in enumerate(keys) if k == key]


def test_hashes_are_fixed_and_spread():
    hashes = hash_mix(np.arange(64_000), 7)
    assert hash_mix(np.arange(64_000), 7).tolist() == hashes.tolist()
    assert hash_mix(np.arange(64_000), 8).tolist() != hashes.tolist()
    counts = np.bincount((hashes % np.uint64(64)).astype(int), minlength=64)
    # 1000 expected a bin with a standard deviation of 31: six of them leave room for one test in a billion.
    assert abs(counts - 1000).max() < 190
