"""Two wirings of one cluster → which of their links are the same, and which have one end re-plugged."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gpufabric.jobs.match_ports import PortMatch
from gpufabric.records.cluster import Cluster


@dataclass(frozen=True, slots=True)
class LinkPairs:
    """Rows of links that are the same in both; row *i* of an old column belongs to row *i* of the new one. int64."""

    old_kept: NDArray[np.int64]
    new_kept: NDArray[np.int64]
    old_moved: NDArray[np.int64]
    new_moved: NDArray[np.int64]


def pair_links(old: Cluster, new: Cluster, match: PortMatch) -> LinkPairs:
    """Return the links that join the same two ports in both, and those of which one port is joined to another one now.

    Parameters
    ----------
    old, new
    match
        Their ports.
    """
    old_ends = _sorted_ends(match.old_port[old.links.port_a], match.old_port[old.links.port_b])
    new_ends = _sorted_ends(match.new_port[new.links.port_a], match.new_port[new.links.port_b])
    both = np.concatenate([old_ends, new_ends])
    _, code = np.unique(both, axis=0, return_inverse=True)
    code = code.reshape(-1)
    old_kept, new_kept = matched_rows(code[: len(old_ends)], code[len(old_ends) :])
    old_left = np.setdiff1d(np.arange(len(old_ends)), old_kept)
    new_left = np.setdiff1d(np.arange(len(new_ends)), new_kept)
    moved: list[tuple[NDArray[np.int64], NDArray[np.int64]]] = []
    for old_end, new_end in ((old.links.port_a, new.links.port_a), (old.links.port_b, new.links.port_b)):
        at = matched_rows(match.old_port[old_end[old_left]], match.new_port[new_end[new_left]])
        moved.append((old_left[at[0]], new_left[at[1]]))
        old_left, new_left = np.delete(old_left, at[0]), np.delete(new_left, at[1])
    return LinkPairs(
        old_kept, new_kept, np.concatenate([m[0] for m in moved]), np.concatenate([m[1] for m in moved])
    )


def matched_rows(
    old: NDArray[np.int64], new: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the rows with equal values, the first of each value, in the order of *old*."""
    _, old_rows, new_rows = np.intersect1d(old, new, return_indices=True)
    order = np.argsort(old_rows)
    return old_rows[order].astype(np.int64), new_rows[order].astype(np.int64)


def _sorted_ends(a: NDArray[np.int64], b: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.stack([np.minimum(a, b), np.maximum(a, b)], axis=1)
