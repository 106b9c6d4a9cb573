"""Cluster → everything that can be lost in a fabric, kind by kind, and the links that each takes along."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gpufabric.graphs.fabric_links import FabricLinks
from gpufabric.kernels.equal_vertices import row_sums
from gpufabric.records.cluster import Cluster, DeviceKind, Role
from gpufabric.records.resilience import Lost

_CAGE_BITS = 16
_SMALL = ("cable", "optic", "nic")
_DEVICES: dict[Lost, int] = {"leaf": Role.LEAF, "spine": Role.SPINE, "core": Role.CORE}


@dataclass(frozen=True, slots=True)
class LossKind:
    """Things of one kind that can be lost.

    Attributes
    ----------
    lost, place : str
        As in :class:`gpufabric.records.resilience.LossRow`.
    item, link : int64 arrays, N
        Each row says that losing ``item`` takes ``link`` (row of the fabric's links) along. Items are assemblies, modules,
        devices, planes or rails by their row or number; of NICs device · 2¹⁶ + NIC.
    """

    lost: Lost
    place: str
    item: NDArray[np.int64]
    link: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class LossClasses:
    """Things of one kind that cost the same, class by class, the largest class first.

    Attributes
    ----------
    key : int64 array, C
        The same number for classes, of any kind of thing in this fabric, that take equal links along.
    first : int64 array, C
        One item of each class: the first.
    count : int64 array, C
        Items of each class.
    """

    key: NDArray[np.int64]
    first: NDArray[np.int64]
    count: NDArray[np.int64]


def loss_kinds(cluster: Cluster, links: FabricLinks) -> Iterator[LossKind]:
    """Yield the kinds of things that can be lost, from cables to rails; kinds that the fabric does not have are left out."""
    kinds = [*_cables(cluster, links), *_optics(cluster, links), *_nics(cluster, links)]
    kinds += [_of_devices(cluster, links, lost, role) for lost, role in _DEVICES.items()]
    kinds += [*_planes(cluster, links), *_rails(cluster, links)]
    for kind in kinds:
        if len(kind.item):
            yield kind


def loss_classes(kind: LossKind, links: FabricLinks, device_class: NDArray[np.int64]) -> LossClasses:
    """Return the items of *kind* grouped by the classes of the links they take, and by how many devices these end at.

    Parameters
    ----------
    kind, links
    device_class : int64 array, D
        What :func:`gpufabric.graphs.device_classes.device_classes` returns.
    """
    items, row = np.unique(kind.item, return_inverse=True)
    count = len(items)
    ends = device_class[links.lower[kind.link]] << 32 | device_class[links.upper[kind.link]]
    key = row_sums(count, row, ends ^ links.label[kind.link] << 60, 8) * 2 + (kind.lost in _SMALL)
    # Two links that end at one device cost something else than two that end apart; of whole switches the classes say it.
    for end in (links.lower, links.upper) if kind.lost in _SMALL and len(row) > count else ():
        pairs = np.unique(row.astype(np.int64) << 32 | end[kind.link])
        key = key * 31 + np.bincount(pairs >> 32, minlength=count)
    keys, first, counts = np.unique(key, return_index=True, return_counts=True)
    order = np.lexsort((first, -counts))
    return LossClasses(keys[order], items[first[order]], counts[order].astype(np.int64))


def _places(links: FabricLinks) -> tuple[NDArray[np.int64], dict[int, str]]:
    """Return a code for the kind of each link, and the words of the codes, as in ``links`` of the design document."""
    lower, upper = links.tier[links.lower].astype(np.int64), links.tier[links.upper].astype(np.int64)
    code = lower * 8 + upper
    words = {int(c): f"{Role.NAMES[c // 8]}_{Role.NAMES[c % 8]}" for c in np.unique(code) if c >= 0}
    return code, words


def _cables(cluster: Cluster, links: FabricLinks) -> list[LossKind]:
    assembly = cluster.links.assembly[links.row].astype(np.int64)
    # A link without an assembly is a cable of its own.
    item = np.where(assembly >= 0, assembly, len(cluster.assemblies) + links.row)
    code, words = _places(links)
    return [
        LossKind("cable", word, item[at], at)
        for c, word in words.items()
        for at in [np.flatnonzero(code == c)]
    ]


def _optics(cluster: Cluster, links: FabricLinks) -> list[LossKind]:
    modules, ports = cluster.modules, cluster.ports
    key = modules.device.astype(np.int64) << _CAGE_BITS | modules.cage
    order = np.argsort(key, kind="stable")
    item, link = [], []
    for port in (cluster.links.port_a[links.row], cluster.links.port_b[links.row]):
        wanted = ports.device[port].astype(np.int64) << _CAGE_BITS | ports.cage[port]
        at = np.searchsorted(key[order], wanted)
        found = np.flatnonzero(np.append(key[order], -1)[at] == wanted)
        item.append(order[at[found]].astype(np.int64))
        link.append(found)
    items, rows = np.concatenate(item), np.concatenate(link)
    tier = links.tier[modules.device[items]]
    return [
        LossKind("optic", Role.NAMES[t], items[tier == t], rows[tier == t])
        for t in np.unique(tier[tier >= 0]).tolist()
    ]


def _nics(cluster: Cluster, links: FabricLinks) -> list[LossKind]:
    ports = cluster.ports
    item, link = [], []
    for port in (cluster.links.port_a[links.row], cluster.links.port_b[links.row]):
        nic = ports.nic[port].astype(np.int64)
        known = np.flatnonzero(nic >= 0)
        item.append(ports.device[port[known]].astype(np.int64) << _CAGE_BITS | nic[known])
        link.append(known)
    return [LossKind("nic", "", np.concatenate(item), np.concatenate(link))]


def _of_devices(cluster: Cluster, links: FabricLinks, lost: Lost, role: int) -> LossKind:
    wanted = (cluster.devices.role == role) & (cluster.devices.kind == DeviceKind.SWITCH)
    return _taking_along(lost, np.where(wanted, np.arange(len(wanted)), -1), links)


def _planes(cluster: Cluster, links: FabricLinks) -> list[LossKind]:
    plane = cluster.devices.plane.astype(np.int64)
    kind = _taking_along("plane", np.where(links.tier > 0, plane, -1), links)
    return [kind] if len(np.unique(kind.item)) > 1 else []


def _rails(cluster: Cluster, links: FabricLinks) -> list[LossKind]:
    rail = np.where(cluster.devices.role == Role.LEAF, cluster.devices.rail.astype(np.int64), -1)
    kind = _taking_along("rail", rail, links)
    return [kind] if len(np.unique(kind.item)) > 1 else []


def _taking_along(lost: Lost, item_of: NDArray[np.integer], links: FabricLinks) -> LossKind:
    """Losing an item loses every link at its devices; ``item_of`` is -1 for devices of no item."""
    item = np.concatenate([item_of[links.lower], item_of[links.upper]]).astype(np.int64)
    link = np.tile(np.arange(len(links)), 2)
    # Both ends in one item count once.
    item[len(links) :][item[: len(links)] == item[len(links) :]] = -1
    return LossKind(lost, "", item[item >= 0], link[item >= 0])
