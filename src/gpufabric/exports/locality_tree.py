"""The wiring of a fabric → which servers are how near to each other: a tree that schedulers understand.

A scheduler wants every server below exactly one switch. A server of a rail-optimized fabric hangs on eight, so all leaves of its
unit count as one switch; a server that hangs on several leaves which it shares with different others belongs to the leaf with
most of its links.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from gpufabric.errors import InputError, printable
from gpufabric.exports.chosen_links import chosen_links
from gpufabric.kernels.connected_components import connected_components
from gpufabric.records.cluster import Cluster, DeviceKind, Role
from gpufabric.records.export_target import ExportSource
from gpufabric.records.names import device_names

Int = NDArray[np.int64]
_PLURALS = {Role.LEAF: "leaves", Role.SPINE: "spines", Role.CORE: "cores"}


@dataclass(frozen=True, slots=True)
class LocalityTree:
    """Servers below groups, groups below larger groups. S servers.

    Attributes
    ----------
    servers : int64 array, S
        Devices, ascending.
    names : tuple of str, S
    levels : tuple of int64 arrays, S
        For each level from the lowest, the group of each server, numbered from 0 in the order of the servers.
    groups : tuple of tuples of str
        For each level the names of its groups.
    switches : tuple of tuples of tuples of str
        For each level and group the switches that it stands for.
    """

    servers: Int
    names: tuple[str, ...]
    levels: tuple[Int, ...]
    groups: tuple[tuple[str, ...], ...]
    switches: tuple[tuple[tuple[str, ...], ...], ...]

    def children(self, level: int) -> list[list[int]]:
        """Return for each group of a level the groups of the level below; of the lowest level the servers."""
        below = self.levels[level - 1] if level else np.arange(len(self.servers))
        pairs = np.unique(np.stack([self.levels[level], below], axis=1), axis=0)
        starts = np.searchsorted(pairs[:, 0], np.arange(len(self.groups[level]) + 1))
        return [pairs[start:end, 1].tolist() for start, end in pairwise(starts.tolist())]


def locality_tree(source: ExportSource) -> LocalityTree:
    """Return how near the servers of the first chosen fabric with servers and switches are to each other.

    A level that would not divide the servers otherwise than the one below is left out.

    Parameters
    ----------
    source

    Raises
    ------
    InputError
        If no chosen fabric joins servers with switches.
    """
    cluster = source.cluster
    rows = _serving_links(source)
    a, b = cluster.link_device_a[rows].astype(np.int64), cluster.link_device_b[rows].astype(np.int64)
    serves = cluster.devices.kind[a] == DeviceKind.SERVER
    server, leaf = a[serves], b[serves]
    servers = np.unique(server)
    lowest, own = _lowest_groups(server, leaf, servers)
    server, leaf = server[own], leaf[own]
    names: list[str] = device_names(cluster).tolist()
    levels, switches = [_in_order(lowest)], [_leaf_sets(server, leaf, servers, _in_order(lowest))]
    for used in _joining_links(cluster, a, b):
        part = connected_components(
            len(cluster.devices), np.append(server, a[used]), np.append(leaf, b[used])
        )
        level = _in_order(part[servers])
        if level.max() < levels[-1].max():
            levels.append(level)
            switches.append(_highest_switches(cluster, part, np.append(a[used], b[used]), servers))
    named = tuple(_group_names(cluster, sets, names, number) for number, sets in enumerate(switches))
    return LocalityTree(
        servers,
        tuple(names[device] for device in servers.tolist()),
        tuple(levels),
        named,
        tuple(tuple(tuple(names[device] for device in one.tolist()) for one in sets) for sets in switches),
    )


def _joining_links(cluster: Cluster, a: Int, b: Int) -> list[NDArray[np.bool_]]:
    """Return which links join servers ever further apart: leaves of one pod (dragonfly), then over spines, then over cores."""
    role, kind, pod = cluster.devices.role, cluster.devices.kind, cluster.devices.pod
    between = (kind[a] == DeviceKind.SWITCH) & (kind[b] == DeviceKind.SWITCH)
    leaves = (role[a] == Role.LEAF) & (role[b] == Role.LEAF)
    near = between & leaves & (pod[a] == pod[b]) & (pod[a] >= 0)
    return [near, *(between & (role[a] <= top) & (role[b] <= top) for top in (Role.SPINE, Role.CORE))]


def _highest_switches(cluster: Cluster, part: Int, used: Int, servers: Int) -> list[Int]:
    """Return the switches of the highest role in each group of servers; *part* is the component of each device."""
    level = _in_order(part[servers])
    of_part = np.full(len(part), -1, np.int64)
    of_part[part[servers]] = level
    switches = np.unique(used)
    group, role = of_part[part[switches]], cluster.devices.role[switches]
    highest = np.full(int(level.max()) + 1, -1, np.int64)
    np.maximum.at(highest, group[group >= 0], role[group >= 0])
    above = (group >= 0) & (role == highest[group])
    return [switches[above & (group == number)] for number in range(len(highest))]


def _leaf_sets(server: Int, leaf: Int, servers: Int, group: Int) -> list[Int]:
    """Return the leaves of each group of servers, ascending."""
    of_server = group[np.searchsorted(servers, server)]
    pairs = np.unique(np.stack([of_server, leaf], axis=1), axis=0)
    starts = np.searchsorted(pairs[:, 0], np.arange(int(group.max()) + 2))
    return [pairs[start:end, 1] for start, end in pairwise(starts.tolist())]


def _serving_links(source: ExportSource) -> Int:
    """Return the links of the first chosen fabric whose links join servers and switches."""
    cluster = source.cluster
    rows = chosen_links(source)
    kind = cluster.devices.kind
    serves = (kind[cluster.link_device_a[rows]] == DeviceKind.SERVER) & (
        kind[cluster.link_device_b[rows]] == DeviceKind.SWITCH
    )
    fabrics = cluster.ports.fabric[cluster.links.port_a[rows]]
    for fabric in source.fabrics:
        if (serves & (fabrics == fabric)).any():
            return rows[np.flatnonzero(fabrics == fabric)]
    names = ", ".join(printable(cluster.fabrics[fabric].name) for fabric in source.fabrics)
    raise InputError(
        f"export: fabric {names} joins no servers with switches; a scheduler needs such a fabric; name another with --fabric"
    )


def _lowest_groups(server: Int, leaf: Int, servers: Int) -> tuple[Int, NDArray[np.bool_]]:
    """Return a label for each server, one for those that share their leaves, and which links lead to leaves of that group."""
    row = np.searchsorted(servers, server)
    pairs, links = np.unique(np.stack([row, leaf], axis=1), axis=0, return_counts=True)
    order = np.lexsort((pairs[:, 1], -links, pairs[:, 0]))
    main = pairs[order][np.searchsorted(pairs[:, 0], np.arange(len(servers))), 1]
    most = int(leaf.max()) + 1
    part = connected_components(most + len(servers), most + pairs[:, 0], pairs[:, 1])
    own = part[most:]
    leaves_of = np.bincount(part[np.unique(leaf)], minlength=most + len(servers))
    mine = np.bincount(pairs[:, 0], minlength=len(servers))
    widest = np.zeros(most + len(servers), np.int64)
    np.maximum.at(widest, own, mine)
    # One server on all leaves of a component says that they are one place; else every leaf is a place of its own.
    one_place = widest[own] == leaves_of[own]
    label = np.asarray(np.where(one_place, own, main), np.int64)
    return label, one_place[row] | (leaf == main[row])


def _in_order(labels: Int) -> Int:
    """Return labels as numbers from 0, in the order in which they first appear."""
    unique, first, code = np.unique(labels, return_index=True, return_inverse=True)
    rank = np.empty(len(unique), np.int64)
    rank[np.argsort(first)] = np.arange(len(unique))
    return rank[code.ravel()]


def _group_names(cluster: Cluster, sets: list[Int], names: list[str], level: int) -> tuple[str, ...]:
    """Return a name for each group: its only switch, its unit or pod, the role of its switches, or a number."""
    if all(len(one) == 1 for one in sets):
        return tuple(names[int(one[0])] for one in sets)
    for column, word in ((cluster.devices.unit, "su"), (cluster.devices.pod, "pod")):
        values = [np.unique(column[one]) for one in sets]
        numbers = [int(found[0]) for found in values if len(found) == 1]
        if len(numbers) == len(sets) == len(set(numbers)) and min(numbers) >= 0 and len(sets) > 1:
            return _numbered(word, [number + 1 for number in numbers])
    if len(sets) == 1 and len(sets[0]):
        return (_PLURALS.get(int(cluster.devices.role[sets[0][0]]), "switches"),)
    return _numbered(f"group{level + 1}-", list(range(1, len(sets) + 1)))


def _numbered(word: str, numbers: list[int]) -> tuple[str, ...]:
    digits = max(2, len(str(max(numbers))))
    return tuple(f"{word}{number:0{digits}d}" for number in numbers)
