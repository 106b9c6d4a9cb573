"""Cluster → bisection and injection bandwidth of a fabric, from its wiring."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from gpufabric.graphs.equal_bundles import has_equal_bundles
from gpufabric.graphs.fabric_links import FabricLinks, fabric_links
from gpufabric.graphs.halvings import (
    MOST_TRIED_GROUPS,
    ServerGroups,
    in_order,
    least_possible,
    likely_halvings,
    server_groups,
)
from gpufabric.graphs.least_cut import least_cut
from gpufabric.records.cluster import Cluster

_SAME = 1 + 1e-9
_MOST_MESHED = 14


def injection_bytes_per_s(cluster: Cluster, fabric: int) -> float:
    """Return what all servers with GPUs can send into *fabric* together, one direction, bytes/s."""
    return injection_of_links(fabric_links(cluster, fabric))


def injection_of_links(links: FabricLinks) -> float:
    """Return what all servers can send into these links together, one direction, bytes/s."""
    ends = (links.lower, links.upper)
    return float(sum(links.bytes_per_s[links.gpus[end] > 0].sum() for end in ends))


def bisection_bytes_per_s(cluster: Cluster, fabric: int) -> float | None:
    """Return the least capacity of *fabric* between two halves of the GPUs, one direction; see :func:`bisection_of_links`.

    Parameters
    ----------
    cluster
    fabric : int
        Index into ``cluster.fabrics``.
    """
    return bisection_of_links(fabric_links(cluster, fabric))


def bisection_of_links(links: FabricLinks, nearly_equal: bool = False) -> float | None:
    """Return the least capacity between two halves that hold equally many GPUs, one direction.

    A server in the middle counts half to each. The cut between two given halves is exact (maximum flow over the wiring, so
    faults, partial units and oversubscription are in it). Which halves have the least cut is known for equal units, and searched
    among the likely ones otherwise; in a fabric of equal spines and cores the search ends early where the bound of
    :func:`gpufabric.graphs.halvings.least_possible` is met, as it is by every non-blocking fabric.

    A torus without faults of evenly many equal switches is cut least between the first and the second half in fabric order,
    because its switches are numbered with the dimension of the least cut slowest: Aroca and Fernández Anta, "Bisection
    (Band)Width of Product Networks with Application to Data Centers", IEEE TPDS 25(3), 2014, https://arxiv.org/abs/1202.6291.

    Parameters
    ----------
    links
    nearly_equal
        The spines and cores are equal but for one that is lost, or one of its links: end the search early all the same.

    Returns
    -------
    float or None
        Bytes/s. None where the halves with the least cut are not known: more than eight switches with links among them (a
        dragonfly, a torus with faults or of oddly many), switches that meet over another fabric too, servers joined both to
        switches and directly, an end of unknown role, no server in the fabric, more than eight leaves with unequal bundles
        above them, or oversubscribed and sharing servers, or an unequal mesh of more than 14 servers.
    """
    cut, is_least = least_cut_found(links, nearly_equal)
    return cut if is_least else None


def least_cut_found(links: FabricLinks, nearly_equal: bool = False) -> tuple[float | None, bool]:
    """Return the smallest cut between two halves that was found, and whether none can be smaller.

    The bisection is at most this cut even where it is not known: less passes between these two halves than it. The parameters are
    those of :func:`bisection_of_links`.

    Returns
    -------
    cut : float or None
        Bytes/s; None where no halves were looked at, or the rate of a link is unknown.
    is_least : bool
    """
    if np.isnan(links.bytes_per_s).any():
        return None, False
    if links.is_mesh:
        return _mesh_bisection(links), True
    if links.meets_outside or (len(links) and not (links.is_tiered or links.is_flat)):
        return None, False
    if not links.at_server.any():
        return (0.0, True) if links.gpus.any() else (None, False)
    groups = server_groups(links)
    if links.is_flat and len(groups.gpus) > MOST_TRIED_GROUPS:
        even = links.halved_in_order and len(groups.gpus) % 2 == 0 and float(np.ptp(groups.gpus)) == 0
        return least_cut(links, _shares(groups, in_order(groups))), even
    ends_early = nearly_equal or has_equal_bundles(links)
    bound, best = least_possible(groups) * _SAME if ends_early else -1.0, np.inf
    for part in likely_halvings(groups):
        cut = least_cut(links, _shares(groups, part))
        if cut is None:
            return None, False
        best = min(best, cut)
        if best <= bound:
            return float(best), True
    tried_all = len(groups.gpus) <= MOST_TRIED_GROUPS
    return float(best), tried_all or (ends_early and groups.are_simple)


def _shares(groups: ServerGroups, part: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.where(groups.group_of >= 0, part[groups.group_of], 0.0)


def _mesh_bisection(links: FabricLinks) -> float | None:
    """Try every halving of a small mesh; in a large one all are alike when all pairs are."""
    servers = np.flatnonzero(links.gpus > 0)
    count = len(servers)
    place = np.full(len(links.tier), -1, np.int64)
    place[servers] = np.arange(count)
    rate = np.zeros((count, count))
    np.add.at(rate, (place[links.lower], place[links.upper]), links.bytes_per_s)
    rate += rate.T
    gpus = links.gpus[servers]
    pairs = rate[~np.eye(count, dtype=bool)]
    if gpus.min() != gpus.max() or (count > _MOST_MESHED and pairs.min() != pairs.max()):
        return None
    if count > _MOST_MESHED:
        return float(pairs[0]) * (count // 2 * -(-count // 2))
    return min(_mesh_cut(rate, np.array(chosen)) for chosen in combinations(range(count), count // 2))


def _mesh_cut(rate: NDArray[np.float64], chosen: NDArray[np.int64]) -> float:
    """Return the cut around the chosen servers, the least over which of the others is the one in the middle."""
    others = np.setdiff1d(np.arange(len(rate)), chosen)
    to_first, to_rest = rate[:, chosen].sum(axis=1), rate[:, others].sum(axis=1)
    whole = float(to_first[others].sum())
    if len(chosen) == len(others):
        return whole
    return whole + float((to_rest[others] - to_first[others]).min()) / 2
