"""A number of nodes → two binary trees over them in which no node is inside both.

Sanders, Speck and Träff, Two-tree algorithms for full bandwidth broadcast, reduction and scan, 2009: a tree numbered in order
has its leaves at every second place; the other tree is its mirror image, or for an odd count the tree moved on by one. Each
carries half of the data, so that every node sends and receives the whole once up and once down. NCCL's tree all-reduce is this.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def two_trees(count: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the parent of each of *count* nodes in both trees; -1 for the roots."""
    node = np.arange(count)
    first = _in_order_tree(count)
    # Where each node stands in the first tree, when that is taken for the second one.
    stand = count - 1 - node if count % 2 == 0 else (node - 1) % count
    back = count - 1 - node if count % 2 == 0 else (node + 1) % count
    above = first[stand]
    return first, np.where(above >= 0, back[above], -1)


def _in_order_tree(count: int) -> NDArray[np.int64]:
    """Return the parents of a binary tree: a node's height is that of its lowest set bit, node 0 stands above all.

    The parent of node x with lowest bit b is the one of x ± b whose lowest bit is 2 b, or, beyond the end, x - b, whose lowest
    bit is higher still.
    """
    node = np.arange(count)
    bit = node & -node
    without = node - bit
    above = np.where(without & (2 * bit), without, node + bit)
    parent: NDArray[np.int64] = np.where(above < count, above, without)
    parent[0] = -1
    return parent


def heights(parent: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the longest way down to a leaf from each node of a tree given by its parents."""
    level = depths(parent)
    height = np.zeros(len(parent), np.int64)
    for deep in range(int(level.max()), 0, -1):
        row = np.flatnonzero(level == deep)
        np.maximum.at(height, parent[row], height[row] + 1)
    return height


def depths(parent: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the number of steps from each node of a tree up to its root."""
    depth = np.zeros(len(parent), np.int64)
    above = parent
    while (above >= 0).any():
        depth += above >= 0
        above = np.where(above >= 0, parent[above], -1)
    return depth
