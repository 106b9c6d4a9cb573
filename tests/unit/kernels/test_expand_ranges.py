"""Ranges written out."""

import numpy as np

from gpufabric.kernels.expand_ranges import expand_ranges


def test_members_stand_one_range_after_the_other():
    members, owner = expand_ranges(np.array([5, 0, 9]), np.array([2, 0, 3]))
    assert members.tolist() == [5, 6, 9, 10, 11]
    assert owner.tolist() == [0, 0, 2, 2, 2]


def test_no_ranges_have_no_members():
    members, owner = expand_ranges(np.empty(0, np.int64), np.empty(0, np.int64))
    assert (len(members), len(owner)) == (0, 0)
