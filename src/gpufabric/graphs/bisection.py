"""Cluster → bisection and injection bandwidth of a fabric, from its wiring."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gpufabric.kernels.connected_components import connected_components
from gpufabric.records.cluster import Cluster, Role
from gpufabric.records.tiers import device_tiers, joins_fabrics, link_fabrics

_HALVED_IN_ORDER = ("torus", "collapsed-spine")


def injection_bytes_per_s(cluster: Cluster, fabric: int) -> float:
    """Return what all servers with GPUs can send into *fabric* together, one direction, bytes/s."""
    hosts = _hosts(cluster)
    inside = link_fabrics(cluster) == fabric
    rate = cluster.links.bytes_per_s
    ends = (cluster.link_device_a, cluster.link_device_b)
    return float(sum(rate[inside & hosts[end]].sum() for end in ends))


def bisection_bytes_per_s(cluster: Cluster, fabric: int) -> float | None:
    """Return the capacity of *fabric* between the first and the second half of the GPUs in fabric order, one direction.

    The halves hold equally many GPUs; a server in the middle counts half to each. For every tier the switches
    up to it that hang together (one leaf; the leaves and spines of one pod) are put on the side where they
    cut least, and what lies above on one side; the result is the smallest of these cuts. It counts links, so
    faults, partial units and oversubscription are in it.

    For a single switch, a full mesh of evenly many servers, and folded Clos fabrics of equal units and pods
    this is the least over all equal halves: a split along units and pods cuts least because every unit and
    pod is cut most expensively in its middle (the cut is concave in how much of a unit lies in one half).
    With unequal units it is the capacity of that one split.

    In a torus and between two joined switches each switch goes to the side of most of its servers, or all of them to one side,
    whichever cuts less. For a torus of evenly many equal switches this is the least over all equal halves, because they are
    numbered with the dimension of the least cut slowest; the halves of that order are the bisection of Aroca and Fernández
    Anta, "Bisection (Band)Width of Product Networks with Application to Data Centers", IEEE TPDS 25(3), 2014,
    https://arxiv.org/abs/1202.6291. With oddly many it is the capacity of that one split.

    Parameters
    ----------
    cluster
    fabric : int
        Index into ``cluster.fabrics``.

    Returns
    -------
    float or None
        Bytes/s. None where this method does not hold: other links between switches of one tier (dragonfly), servers joined both
        to switches and directly, an end of unknown role, or no server in the fabric.
    """
    inside = np.flatnonzero((link_fabrics(cluster) == fabric) & ~joins_fabrics(cluster))
    a, b = cluster.link_device_a[inside], cluster.link_device_b[inside]
    rate = cluster.links.bytes_per_s[inside]
    tier = device_tiers(cluster)
    lower, upper = np.where(tier[a] <= tier[b], a, b), np.where(tier[a] <= tier[b], b, a)
    if not len(inside) or tier[lower].min() < 0:
        return None
    share = _share_of_first_half(cluster, np.unique(np.concatenate([a, b])))
    if share is None:
        return None
    flat = tier[lower] == tier[upper]
    if flat.any() and tier[upper].max() > 0:
        halved = cluster.fabrics[fabric].topology in _HALVED_IN_ORDER and tier[upper].max() == Role.LEAF
        return _flat_cut(share, (lower, upper, rate), flat) if halved else None
    if flat.any():
        return _direct_cut(share, lower, upper, rate) if flat.all() else None
    return min(
        _cut_at(cluster, share, (lower, upper, rate), top) for top in range(1, int(tier[upper].max()) + 1)
    )


def _hosts(cluster: Cluster) -> NDArray[np.bool_]:
    """Whether each device is a server with GPUs; every server where no GPUs are known."""
    if not len(cluster.gpus):
        servers: NDArray[np.bool_] = cluster.devices.role == Role.SERVER
        return servers
    hosts: NDArray[np.bool_] = np.bincount(cluster.gpus.host, minlength=len(cluster.devices)) > 0
    return hosts


def _share_of_first_half(cluster: Cluster, present: NDArray[np.int32]) -> NDArray[np.float64] | None:
    """Return for each device which share of its GPUs is in the first half; NaN for devices without GPUs."""
    count = len(cluster.devices)
    gpus = np.bincount(cluster.gpus.host, minlength=count).astype(np.float64)
    weight = gpus if len(cluster.gpus) else _hosts(cluster).astype(np.float64)
    used = np.zeros(count)
    used[present] = weight[present]
    total = used.sum()
    if total == 0:
        return None
    before = np.cumsum(used) - used
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(used > 0, np.clip((total / 2 - before) / used, 0, 1), np.nan)


def _direct_cut(
    share: NDArray[np.float64], a: NDArray[np.int32], b: NDArray[np.int32], rate: NDArray[np.float64]
) -> float:
    """Cut of direct links between servers; a middle server goes whole to the first half."""
    first = share > 0
    return float(rate[first[a] != first[b]].sum())


def _flat_cut(
    share: NDArray[np.float64],
    edges: tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.float64]],
    flat: NDArray[np.bool_],
) -> float:
    """Return the least cut of switches of one tier: each on the side of most of its servers, or all on one side."""
    lower, upper, rate = edges
    down = ~flat & ~np.isnan(share[lower])
    first = np.bincount(upper[down], rate[down] * share[lower[down]], len(share))
    second = np.bincount(upper[down], rate[down] * (1 - share[lower[down]]), len(share))
    on_first = first > second
    between = float(rate[flat & (on_first[lower] != on_first[upper])].sum())
    return min(between + float(np.minimum(first, second).sum()), float(first.sum()), float(second.sum()))


def _cut_at(
    cluster: Cluster,
    share: NDArray[np.float64],
    edges: tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.float64]],
    top: int,
) -> float:
    """Return the least cut when everything above tier *top* lies on one side."""
    lower, upper, rate = edges
    tier = device_tiers(cluster)
    within = (tier[lower] >= 1) & (tier[upper] <= top)
    group = connected_components(len(tier), lower[within], upper[within])
    down = (tier[lower] == 0) & (tier[upper] <= top) & ~np.isnan(share[lower])
    to_first = np.bincount(group[upper[down]], rate[down] * share[lower[down]], len(tier))
    to_second = np.bincount(group[upper[down]], rate[down] * (1 - share[lower[down]]), len(tier))
    leaving = (tier[lower] >= 1) & (tier[lower] <= top) & (tier[upper] > top)
    up = np.bincount(group[lower[leaving]], rate[leaving], len(tier))
    # Servers that are wired straight to a higher tier see everything above as one vertex.
    high = (tier[lower] == 0) & (tier[upper] > top) & ~np.isnan(share[lower])
    first_high = float((rate[high] * share[lower[high]]).sum())
    second_high = float((rate[high] * (1 - share[lower[high]])).sum())
    return min(
        float(np.minimum(to_first, to_second + up).sum()) + first_high,
        float(np.minimum(to_second, to_first + up).sum()) + second_high,
    )
