"""Rows with integer keys → groups of rows that can be looked up by key."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


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
    row = np.argsort(key, kind="stable")
    ordered = key[row].astype(np.int64)
    new = np.flatnonzero(np.diff(ordered, prepend=ordered[:1] - 1)) if len(ordered) else np.empty(0, np.int64)
    return SortedGroups(ordered[new], np.append(new, len(ordered)).astype(np.int64), row.astype(np.int64))


def find_groups(
    groups: SortedGroups, wanted: NDArray[np.integer]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return, for each wanted key, where its group starts in ``groups.row`` and how many rows it has (0 when there is none)."""
    if not len(groups.key):
        return np.zeros(len(wanted), np.int64), np.zeros(len(wanted), np.int64)
    at = np.minimum(np.searchsorted(groups.key, wanted), len(groups.key) - 1)
    found = groups.key[at] == wanted
    return groups.first[at], np.where(found, groups.first[at + 1] - groups.first[at], 0)
