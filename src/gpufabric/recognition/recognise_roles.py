"""A found fabric → the same cluster with kinds and roles of devices and places of ports, as its wiring and names tell them.

Whatever has a role can be drawn, and be the design that another fabric is compared with.
"""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from gpufabric.recognition.found_slots import natural_order
from gpufabric.records.cluster import UNKNOWN, Cluster, DeviceKind, Role
from gpufabric.records.found_fabric import FoundFabric

Int = NDArray[np.int64]
_SWITCH = re.compile(
    r"leaf|spine|core|switch|(?<![a-z])tor(?![a-z])|(?:^|[-_.])(?:sw|tor|lf|sp|superspine)[-_]?\d",
    re.IGNORECASE,
)
_SERVER = re.compile(r"srv|server|host|node|gpu|dgx|hgx|storage|(?:^|[-_.])(?:n|cn|gn)\d", re.IGNORECASE)
_SPLIT = re.compile(r"(?:\D*\d+/)*?\D*(\d{1,4})/(\d{1,2})")
_SURE_LEAF = 0.25
_MOST_CAGE = 30_000


def with_roles(found: FoundFabric) -> Cluster:
    """Return the cluster of a found fabric with kinds, roles and places of ports filled in.

    A switch with a quarter of its links or more to servers is a leaf. One with fewer is a leaf too, unless most switches around
    it are: managers and stray servers hang on spines. Spines stand above leaves, cores above spines.

    Parameters
    ----------
    found

    Returns
    -------
    Cluster
        Links lead from the lower to the upper end. Units, pods, planes and rails stay unknown.
    """
    cluster = found.cluster
    links, device = cluster.links, cluster.ports.device.astype(np.int64)
    a, b = device[links.port_a], device[links.port_b]
    kind = _kinds(cluster, a, b)
    role = _roles(kind, a, b)
    order = np.argsort(role, kind="stable")
    index = np.empty(len(role), np.int32)
    index[order] = np.arange(len(role)) - np.searchsorted(role[order], role[order])
    cage, lane, lanes = _places(found, kind[device])
    down = role[a] > role[b]
    return replace(
        cluster,
        fabrics=tuple(replace(f, planes=1, tiers=int(max(role.max(initial=0), 0))) for f in cluster.fabrics),
        devices=replace(cluster.devices, kind=kind.astype(np.int8), role=role.astype(np.int8), index=index),
        ports=replace(cluster.ports, cage=cage, lane=lane, lanes_in_cage=lanes),
        links=replace(
            links,
            port_a=np.where(down, links.port_b, links.port_a).astype(np.int32),
            port_b=np.where(down, links.port_a, links.port_b).astype(np.int32),
        ),
    )


def _kinds(cluster: Cluster, a: Int, b: Int) -> Int:
    """Return server or switch of each device: as its file says, else by the words in its name, else by its neighbours."""
    kind = cluster.devices.kind.astype(np.int64)
    for row, name in enumerate(cluster.devices.names or ()):
        words = bool(_SWITCH.search(name)), bool(_SERVER.search(name))
        if kind[row] == UNKNOWN and words[0] != words[1]:
            kind[row] = DeviceKind.SWITCH if words[0] else DeviceKind.SERVER
    degree = np.bincount(np.concatenate([a, b]), minlength=len(kind))
    least = np.full(len(kind), np.iinfo(np.int64).max)
    np.minimum.at(least, a, degree[b])
    np.minimum.at(least, b, degree[a])
    guessed = np.where(degree < least, DeviceKind.SERVER, DeviceKind.SWITCH)
    return np.where(kind == UNKNOWN, guessed, kind)


def _roles(kind: Int, a: Int, b: Int) -> Int:
    count = len(kind)
    near, far = np.concatenate([a, b]), np.concatenate([b, a])
    switch = kind == DeviceKind.SWITCH
    degree = np.bincount(near, minlength=count)
    served = np.bincount(near, ~switch[far], count)
    share = served / np.maximum(degree, 1)
    sure = switch & (share >= _SURE_LEAF)
    around = np.bincount(near, switch[far], count)
    leaves_around = np.bincount(near, sure[far], count)
    leaf = sure | (switch & (served > 0) & (2 * leaves_around <= around))
    role = np.where(switch, UNKNOWN, Role.SERVER)
    role[leaf] = Role.LEAF
    for lower, upper in ((Role.LEAF, Role.SPINE), (Role.SPINE, Role.CORE)):
        above = np.bincount(near, role[far] == lower, count) > 0
        role[above & (role == UNKNOWN)] = upper
    # Switches that nothing leads up to: alone, or of a fabric without servers in the files.
    role[role == UNKNOWN] = Role.LEAF if not leaf.any() else Role.CORE
    return role


def _places(found: FoundFabric, kind: Int) -> tuple[NDArray[np.int16], NDArray[np.int16], NDArray[np.int16]]:
    """Return cage, lane and lanes of each port: as its name or number says on a switch, else by the order of names."""
    ports, names = found.cluster.ports, found.cluster.ports.names or ()
    cage, lane = np.ones(len(names), np.int64), np.ones(len(names), np.int64)
    lanes = np.ones(len(names), np.int64)
    rows: dict[int, list[int]] = {}
    for row, device in enumerate(ports.device.tolist()):
        rows.setdefault(device, []).append(row)
    for own in rows.values():
        split = [_SPLIT.fullmatch(names[row]) for row in own]
        numbers = found.port_number[own]
        is_switch = kind[own[0]] == DeviceKind.SWITCH
        if is_switch and all(split):
            pairs = [(int(m[1]), int(m[2])) for m in split if m is not None]
            first = max(1 - min(second for _, second in pairs), 0)
            cage[own] = [max(one, 1) for one, _ in pairs]
            lane[own] = [second + first for _, second in pairs]
            lanes[own] = lane[own].max()
        elif is_switch and (numbers > 0).all():
            cage[own] = numbers
        else:
            ranked = sorted(own, key=lambda row: natural_order(names[row]))
            cage[ranked] = np.arange(1, len(own) + 1)
    return tuple(np.minimum(column, _MOST_CAGE).astype(np.int16) for column in (cage, lane, lanes))  # type: ignore[return-value]
