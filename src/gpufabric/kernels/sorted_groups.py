"""Rows with integer keys → groups of rows that can be looked up by key."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gpufabric.kernels.stable_order import stable_order


@dataclass(frozen=True, slots=True)
class SortedGroups:
    """Rows grouped by key.

    Attributes
    ----------
    key : int64 array, K
        The different keys, ascending.
    first : int64 array, K + 1
        Group *k* is ``row[first[k] : first[k + 1]]``.
    row : int64 array
        Row numbers, ascending within a group.
    """

    key: NDArray[np.int64]
    first: NDArray[np.int64]
    row: NDArray[np.int64]


def group_rows(key: NDArray[np.integer]) -> SortedGroups:
    """Return the rows of *key* grouped by its values."""
    row = stable_order(key)
    ordered = key[row].astype(np.int64)
    new = np.flatnonzero(np.diff(ordered, prepend=ordered[:1] - 1)) if len(ordered) else np.empty(0, np.int64)
    return SortedGroups(ordered[new], np.append(new, len(ordered)).astype(np.int64), row)


def find_groups(
    groups: SortedGroups, wanted: NDArray[np.integer]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return, for each wanted key, where its group starts in ``groups.row`` and how many rows it has (0 when there is none)."""
    if not len(groups.key):
        return np.zeros(len(wanted), np.int64), np.zeros(len(wanted), np.int64)
    at = np.minimum(np.searchsorted(groups.key, wanted), len(groups.key) - 1)
    found = groups.key[at] == wanted
    return groups.first[at], np.where(found, groups.first[at + 1] - groups.first[at], 0)


@dataclass(frozen=True, slots=True)
class PairGroups:
    """Rows grouped by two numbers, of which each first one mostly has the same second ones.

    Attributes
    ----------
    groups : SortedGroups
        By first × ``width`` + second.
    start : int64 array, one a first number
        Index of its first key.
    rank : int64 array, one a second number
        Where it stands among the keys of a first number that has it: a guess for the others.
    width : int
    """

    groups: SortedGroups
    start: NDArray[np.int64]
    rank: NDArray[np.int64]
    width: int


def index_pairs(groups: SortedGroups, width: int) -> PairGroups:
    """Return *groups*, by first × *width* + second, with what :func:`find_pairs` looks at; both numbers are below *width*."""
    first, second = np.divmod(groups.key, width)
    start = np.searchsorted(first, np.arange(width)).astype(np.int64)
    rank = np.zeros(width, np.int64)
    rank[second] = np.arange(len(second)) - start[first]
    return PairGroups(groups, start, rank, width)


def find_pairs(
    pairs: PairGroups, first: NDArray[np.integer], second: NDArray[np.integer]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return what :func:`find_groups` says of the pairs: guessed and checked, and searched for only where the guess is wrong."""
    key = pairs.groups.key
    wanted = first.astype(np.int64) * pairs.width + second
    if not len(key):
        return find_groups(pairs.groups, wanted)
    at = np.minimum(pairs.start[first] + pairs.rank[second], len(key) - 1)
    begin, size = pairs.groups.first[at], pairs.groups.first[at + 1] - pairs.groups.first[at]
    wrong = np.flatnonzero(key[at] != wanted)
    begin[wrong], size[wrong] = find_groups(pairs.groups, wanted[wrong])
    return begin, size
