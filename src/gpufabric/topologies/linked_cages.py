"""Links between cages → groups of cages that must be cabled alike."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gpufabric.kernels.connected_components import connected_components
from gpufabric.kernels.group_maximum import group_maximum


@dataclass(frozen=True, slots=True)
class LinkedCages:
    """Links in groups: two links are in one group when a chain of shared cages joins them.

    Attributes
    ----------
    group : int64, one a link
    count : int
        Number of groups.
    paired : bool, one a link
        Whether the cage at either end of its group is a single one, so that one cable with one plug an end can carry them all.
    """

    group: NDArray[np.int64]
    count: int
    paired: NDArray[np.bool_]

    def take(self, rows: NDArray[np.intp]) -> LinkedCages:
        """Return the links *rows*, which are whole groups."""
        if len(rows) == len(self.group):
            return self
        kept, group = np.unique(self.group[rows], return_inverse=True)
        return LinkedCages(group.astype(np.int64), len(kept), self.paired[rows])

    def paired_where(self, paired: NDArray[np.bool_]) -> LinkedCages:
        """Return the same groups, paired where all links of the group are paired in *paired* as well."""
        split = np.bincount(self.group, weights=~paired, minlength=self.count) > 0
        return LinkedCages(self.group, self.count, self.paired & ~split[self.group])

    def longest(self, length_m: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the greatest length in each group; NaN where one is unknown."""
        return group_maximum(length_m, self.group, self.count)


def linked_cages(
    lower: NDArray[np.int64], upper: NDArray[np.int64], lower_ports: int, upper_ports: int
) -> LinkedCages:
    """Return the groups of links whose cages must be cabled alike.

    Parameters
    ----------
    lower, upper : int64 arrays, one a link
        Cage at either end.
    lower_ports, upper_ports : int
        Into how many ports a cage is split at either end.
    """
    if lower_ports == upper_ports == 1:
        return LinkedCages(np.arange(len(lower)), len(lower), np.ones(len(lower), bool))
    cages, ends = np.unique(np.concatenate([lower, upper]), return_inverse=True)
    low, high = ends[: len(lower)], ends[len(lower) :]
    label = connected_components(len(cages), low, high)
    labels, group = np.unique(label[low], return_inverse=True)
    many = np.bincount(np.searchsorted(labels, label), minlength=len(labels))
    return LinkedCages(group.astype(np.int64), len(labels), many[group] == 2)
