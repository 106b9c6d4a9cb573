"""Flows that start and end → the running flows of each link (compiled)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gpufabric.kernels.compile_kernel import compile_step


class LinkMembers(NamedTuple):
    """Running flows by link. N entries of flows, E links.

    Link *l* is used by entries ``entry[first[l] : first[l] + joined[l]]``; ``first`` int64 E + 1, ``joined`` int64 E. ``owner``
    int64 N is the flow of each entry and ``place`` int64 N where ``entry`` names it.
    """

    first: NDArray[np.int64]
    joined: NDArray[np.int64]
    entry: NDArray[np.int64]
    place: NDArray[np.int64]
    owner: NDArray[np.int64]


def no_members(first: NDArray[np.int64], link: NDArray[np.int32], links: int) -> LinkMembers:
    """Return empty links with room for all flows, given as in :class:`gpufabric.kernels.shared_links.LinkSets`."""
    most = np.bincount(link, minlength=links)
    owner = np.repeat(np.arange(len(first) - 1), np.diff(first))
    return LinkMembers(
        np.concatenate([[0], np.cumsum(most)]).astype(np.int64),
        np.zeros(links, np.int64),
        np.empty(len(link), np.int64),
        np.empty(len(link), np.int64),
        owner.astype(np.int64),
    )


@compile_step
def join_link(members: LinkMembers, link: int, entry: int) -> None:
    """Add an entry of a flow that starts."""
    place = members.first[link] + members.joined[link]
    members.joined[link] += 1
    members.entry[place] = entry
    members.place[entry] = place


@compile_step
def leave_link(members: LinkMembers, link: int, entry: int) -> None:
    """Remove an entry of a flow that ends; the last one takes its place."""
    members.joined[link] -= 1
    last = members.entry[members.first[link] + members.joined[link]]
    place = members.place[entry]
    members.entry[place] = last
    members.place[last] = place
