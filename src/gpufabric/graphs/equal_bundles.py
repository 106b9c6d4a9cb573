"""A fabric's links → whether traffic that spreads evenly over them fills all of them evenly."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gpufabric.graphs.fabric_links import FabricLinks
from gpufabric.graphs.usable_rates import switch_parts

_SAME = 1e-9
_MOST_SHARES = 20_000_000


def has_equal_bundles(links: FabricLinks) -> bool:
    """Whether all spines and cores stand for each other, and all planes.

    Every leaf has links of the same rate together to each spine of its pod, and every pod to each core of its plane. Only then is
    the least cut one with all spines of a pod on one side. And the servers share their links out over the parts that switches
    fall into (planes, rails) in the same proportion; only then do all parts lean to the same half.
    """
    leaf, spine, core = 1, 2, 3
    _, pod = np.unique(links.pod, return_inverse=True)
    _, plane = np.unique(links.pod >> 32, return_inverse=True)
    lower, upper = links.tier[links.lower], links.tier[links.upper]
    to_spine = (lower == leaf) & (upper == spine)
    to_core = (lower == spine) & (upper == core)
    others = (lower > 0) & ~to_spine & ~to_core
    if others.any() or not _shared_alike(links):
        return False
    return _spread_evenly(
        links.take(to_spine), links.lower[to_spine].astype(np.int64), pod
    ) and _spread_evenly(links.take(to_core), pod[links.lower[to_core]].astype(np.int64), plane)


def _shared_alike(links: FabricLinks) -> bool:
    """Whether each server has the same share of its links in each part that the switches fall into."""
    down = links.take(links.at_server)
    _, part = np.unique(switch_parts(links)[down.upper], return_inverse=True)
    servers, server = np.unique(down.lower, return_inverse=True)
    parts = int(part.max(initial=0)) + 1
    if parts * len(servers) > _MOST_SHARES:
        return False
    rate = np.bincount(server * parts + part, down.bytes_per_s, parts * len(servers)).reshape(-1, parts)
    share = rate / rate.sum(axis=1, keepdims=True)
    return len(share) > 0 and bool((np.ptp(share, axis=0) <= _SAME).all())


def _spread_evenly(links: FabricLinks, source: NDArray[np.int64], place: NDArray[np.integer]) -> bool:
    """Whether each source has the same rate to every upper switch of its place."""
    if not len(links):
        return True
    pairs, at = np.unique(source << 32 | links.upper, return_inverse=True)
    rate = np.bincount(at, links.bytes_per_s)
    of, to = pairs >> 32, pairs & 0xFFFFFFFF
    uppers = np.unique(links.upper)
    in_place = np.bincount(place[uppers], minlength=int(place.max()) + 1)
    first = np.flatnonzero(np.diff(of, prepend=of[:1] - 1))
    complete = np.diff(first, append=len(of)) == in_place[place[to[first]]]
    low, high = np.minimum.reduceat(rate, first), np.maximum.reduceat(rate, first)
    same_place = np.minimum.reduceat(place[to], first) == np.maximum.reduceat(place[to], first)
    return bool((complete & same_place & (high - low <= _SAME * high)).all())
