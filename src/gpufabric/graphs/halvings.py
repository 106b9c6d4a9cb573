"""A fabric's links → the halves of its servers between which the cut may be least, and a bound below which none can be."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from gpufabric.graphs.fabric_links import FabricLinks
from gpufabric.kernels.connected_components import connected_components
from gpufabric.kernels.equal_vertices import row_sums

_MOST_KINDS = 6
_MOST_IN_UNIT = 3
MOST_TRIED_GROUPS = 8
_ROUND = 1e-9


@dataclass(frozen=True, slots=True)
class ServerGroups:
    """Servers on the same switches, group by group in the order of their first server.

    Attributes
    ----------
    group_of : int64 array, D
        Group of each server; -1 for devices without GPUs.
    gpus : float64 array, G
    cost : float64 array, G, bytes/s
        What it costs to cut the whole group off from the rest.
    unit : int64 array, G
        The same number for groups that share switches: a server that has lost a link is a group of its own in its unit.
    """

    group_of: NDArray[np.int64]
    gpus: NDArray[np.float64]
    cost: NDArray[np.float64]
    unit: NDArray[np.int64]

    @property
    def are_simple(self) -> bool:
        """Whether units are apart, so that :func:`likely_halvings` has the least cut of a fabric of equal spines and cores."""
        return int(np.bincount(self.unit).max(initial=0)) <= _MOST_IN_UNIT


def server_groups(links: FabricLinks) -> ServerGroups:
    """Return the servers grouped by the switches that they are linked to and the rates of these links."""
    down = links.take(links.at_server)
    devices = len(links.tier)
    content = down.upper.astype(np.int64) << 20 | down.label
    signature = row_sums(devices, down.lower, content, 7)
    servers = np.flatnonzero(links.gpus > 0)
    _, first, inverse = np.unique(signature[servers], return_index=True, return_inverse=True)
    rank = np.empty(len(first), np.int64)
    rank[np.argsort(first, kind="stable")] = np.arange(len(first))
    group_of = np.full(devices, -1, np.int64)
    group_of[servers] = rank[inverse]
    cost = np.bincount(
        group_of[down.lower], down.bytes_per_s * _passing_share(links, down)[down.upper], len(first)
    )
    return ServerGroups(
        group_of,
        np.bincount(group_of[servers], links.gpus[servers], len(first)).astype(np.float64),
        cost.astype(np.float64),
        _units(group_of[servers[np.sort(first)]], servers[np.sort(first)], down),
    )


def _units(group: NDArray[np.int64], server: NDArray[np.int64], down: FabricLinks) -> NDArray[np.int64]:
    """Return the unit of each group, given one server of each."""
    devices = len(down.tier)
    chosen = np.zeros(devices, bool)
    chosen[server] = True
    rows = chosen[down.lower]
    component = connected_components(devices, down.lower[rows], down.upper[rows])
    unit = np.empty(len(group), np.int64)
    unit[group] = component[server]
    return np.unique(unit, return_inverse=True)[1].astype(np.int64)


def _passing_share(links: FabricLinks, down: FabricLinks) -> NDArray[np.float64]:
    """Return for each leaf which share of what its servers send must be cut to cut it off: less where uplinks are few."""
    devices = len(links.tier)
    top = int(links.tier[links.upper].max(initial=1))
    supply = np.bincount(down.upper, down.bytes_per_s, devices)
    share = np.ones(devices)
    _, pod = np.unique(links.pod, return_inverse=True)
    for tier in range(1, top):
        # A leaf is a place of its own; the spines of a pod stand for all leaves of the pod.
        place = np.arange(devices) if tier == 1 else pod
        leaving = links.tier[links.lower] == tier
        rise = np.bincount(place[links.lower[leaving]], links.bytes_per_s[leaving], devices)
        own = np.bincount(place, supply * (links.tier == 1), devices)
        with np.errstate(divide="ignore", invalid="ignore"):
            passing = np.where(own > 0, np.minimum(1.0, rise / own), 1.0)
        share *= passing[place]
        supply *= passing[place]
    return share


def least_possible(groups: ServerGroups) -> float:
    """Return what no halving can cut less than, in a fabric of equal spines and cores: the cheapest half of all servers.

    The cut is concave in how much of each server lies in one half, so it is not below the share of its cost when cut off whole.
    """
    left, total = float(groups.gpus.sum()) / 2, 0.0
    density = groups.cost / groups.gpus
    for group in np.argsort(density, kind="stable").tolist():
        taken = min(left, float(groups.gpus[group]))
        total += taken * float(density[group])
        left -= taken
        if left <= 0:
            break
    return total


def likely_halvings(groups: ServerGroups) -> Iterator[NDArray[np.float64]]:
    """Yield the part of each group that lies in the first half, most promising halving first.

    A least cut is always found at halves of whole groups, but for one that lies in both: the cut is concave in these parts. So
    the groups of the cheapest units are tried together, with one of each kind as the one in both halves, then neighbours in
    fabric order; of up to eight groups every choice.
    """
    density = np.round(groups.cost / groups.gpus / max(1e-300, float(groups.cost.max(initial=0.0))), 9)
    whole = np.bincount(groups.unit, groups.cost) / np.bincount(groups.unit, groups.gpus)
    of_unit = np.round(whole / max(1e-300, float(whole.max(initial=0.0))), 9)[groups.unit]
    order = np.lexsort((density, groups.unit, of_unit))
    yield _filled(groups.gpus, order)
    count = len(order)
    if count <= MOST_TRIED_GROUPS:
        yield from _all_choices(groups.gpus)
        return
    kinds = np.unique(np.stack([density, groups.gpus]), axis=1, return_index=True)[1]
    for middle in sorted(kinds.tolist())[:_MOST_KINDS]:
        found = _with_middle(groups.gpus, order[order != middle], middle)
        if found is not None:
            yield found
    for start in np.unique(np.linspace(0, count - 1, 2 * _MOST_KINDS).astype(np.int64)).tolist():
        yield _filled(groups.gpus, np.roll(np.arange(count), -start))


def in_order(groups: ServerGroups) -> NDArray[np.float64]:
    """Return the part of each group that lies in the first half when they are taken in fabric order."""
    return _filled(groups.gpus, np.arange(len(groups.gpus)))


def _filled(gpus: NDArray[np.float64], order: NDArray[np.integer]) -> NDArray[np.float64]:
    """Fill the first half in the given order."""
    ordered = gpus[order]
    before = np.cumsum(ordered) - ordered
    part = np.empty(len(gpus))
    part[order] = np.clip((gpus.sum() / 2 - before) / ordered, 0, 1)
    return part


def _with_middle(
    gpus: NDArray[np.float64], order: NDArray[np.integer], middle: int
) -> NDArray[np.float64] | None:
    """Fill the first half with whole groups in the given order, and what is left of it with a part of *middle*.

    None when *middle* is too small for that.
    """
    left = float(gpus.sum()) / 2
    part = np.zeros(len(gpus))
    for group in order.tolist():
        if gpus[group] <= left + _ROUND:
            part[group] = 1
            left -= float(gpus[group])
    if left > gpus[middle] + _ROUND:
        return None
    part[middle] = max(0.0, left / float(gpus[middle]))
    return part


def _all_choices(gpus: NDArray[np.float64]) -> Iterator[NDArray[np.float64]]:
    """Yield every halving of whole groups and one that may lie in both halves, each once.

    Which half is called the first does not matter, nor does which group is the one in the middle where none is divided: eight
    equal groups have 35 halvings, and 560 ways to say them.
    """
    half = float(gpus.sum()) / 2
    seen: set[tuple[int, ...]] = set()
    for middle in range(len(gpus)):
        rest = [group for group in range(len(gpus)) if group != middle]
        for size in range(len(gpus)):
            for chosen in combinations(rest, size):
                left = half - float(gpus[list(chosen)].sum())
                if not -_ROUND <= left <= gpus[middle] + _ROUND:
                    continue
                part = np.zeros(len(gpus))
                part[list(chosen)] = 1
                part[middle] = max(0.0, left / float(gpus[middle]))
                first, second = (
                    tuple(np.rint(side / _ROUND).astype(np.int64).tolist()) for side in (part, 1 - part)
                )
                if first not in seen:
                    seen.update((first, second))
                    yield part
