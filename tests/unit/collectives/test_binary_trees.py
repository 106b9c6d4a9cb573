"""Two binary trees over the same nodes, in which no node is inside both (Sanders, Speck and Träff 2009)."""

import numpy as np
import pytest

from gpufabric.collectives.binary_trees import depths, heights, two_trees


@pytest.mark.parametrize("count", [*range(1, 70), 1000, 4097, 25_000])
def test_both_are_binary_trees_of_logarithmic_depth(count):
    for parent in two_trees(count):
        assert (parent < 0).sum() == 1
        children = np.bincount(parent[parent >= 0], minlength=count)
        assert children.max(initial=0) <= 2
        # A node without a parent is above a complete tree of the others.
        assert depths(parent).max() <= max(count - 1, 0).bit_length()
        leaf = children == 0
        assert (heights(parent)[leaf] == 0).all()
        inner = np.flatnonzero(parent >= 0)
        assert (heights(parent)[parent[inner]] > heights(parent)[inner]).all()


@pytest.mark.parametrize("count", [*range(2, 70), 4097])
def test_no_node_has_two_children_in_both(count):
    first, second = (np.bincount(p[p >= 0], minlength=count) for p in two_trees(count))
    # At most one node besides has a single child in one tree and children in the other: the end of an uneven tree.
    assert ((first == 2) & (second == 2)).sum() == 0
    assert (first + second).max() <= 3


def test_eight_nodes_make_the_known_trees():
    first, second = two_trees(8)
    assert first.tolist() == [-1, 2, 4, 2, 0, 6, 4, 6]
    assert second.tolist() == [1, 3, 1, 7, 5, 3, 5, -1]
