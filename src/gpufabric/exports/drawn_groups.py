"""Devices and links → boxes and lines of a drawing: each device, or groups of equal devices where there are too many.

A drawing program stops at some hundreds of lines, so devices are folded by place: first those of one rail, unit, pod and
plane, then with ever fewer of these, until what is left fits.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gpufabric.exports.chosen_links import chosen_links, linked_devices
from gpufabric.records.cluster import Cluster, DeviceKind, Role
from gpufabric.records.export_target import ExportOption, ExportSource
from gpufabric.records.names import device_names
from gpufabric.records.tiers import device_tiers
from gpufabric.units import format_gbps

DETAIL = ExportOption(
    "detail",
    ("auto", "devices", "groups"),
    "auto",
    "every device, groups of equal ones, or whichever fits the program",
)
_PLACES = ("rail", "unit", "pod", "plane")


@dataclass(frozen=True, slots=True)
class DrawnGroups:
    """What is drawn. B boxes, N lines.

    Attributes
    ----------
    labels : tuple of str, B
        Text of each box: a name, or how many devices of what.
    tiers : tuple of int, B
        Height: 0 servers and other end points, 1 leaf, 2 spine, 3 core, -1 unknown.
    lines : tuple of (int, int, str), N
        The two boxes that each joins, the lower first, and its text.
    folded : bool
        Whether boxes are groups.
    """

    labels: tuple[str, ...]
    tiers: tuple[int, ...]
    lines: tuple[tuple[int, int, str], ...]
    folded: bool


def drawn_groups(source: ExportSource, most_lines: int) -> DrawnGroups:
    """Return boxes and lines, at most *most_lines* of them unless the user wants every device.

    Parameters
    ----------
    source
        Its option ``detail`` says what is drawn.
    most_lines
        How many lines the program can show.
    """
    cluster = source.cluster
    links = chosen_links(source)
    devices = linked_devices(source, links)
    detail = source.option("detail", DETAIL.default)
    alone = np.arange(len(devices))
    if detail != "groups":
        drawn = _lines(cluster, links, devices, alone)
        if detail == "devices" or len(drawn) <= most_lines:
            labels = tuple(device_names(cluster, devices).tolist())
            return DrawnGroups(labels, _tiers(cluster, devices), drawn, folded=False)
    for places in (_PLACES, _PLACES[1:], _PLACES[2:], _PLACES[3:], ()):
        group = _folded(cluster, devices, places)
        drawn = _lines(cluster, links, devices, group)
        if len(drawn) <= most_lines:
            break
    _, first, count = np.unique(group, return_index=True, return_counts=True)
    one = devices[first]
    names = device_names(cluster, one).tolist()
    labels = tuple(
        name if number == 1 else f"{number:,} × {_words(cluster, int(device), places)}"
        for name, number, device in zip(names, count.tolist(), one, strict=True)
    )
    return DrawnGroups(labels, _tiers(cluster, one), drawn, folded=True)


def _tiers(cluster: Cluster, devices: NDArray[np.int64]) -> tuple[int, ...]:
    return tuple(device_tiers(cluster)[devices].tolist())


def _folded(cluster: Cluster, devices: NDArray[np.int64], places: tuple[str, ...]) -> NDArray[np.int64]:
    """Return the group of each device: those of one fabric, role and place are one."""
    table = cluster.devices
    columns = [table.kind, table.role, table.fabric, table.part, *(getattr(table, place) for place in places)]
    keys = np.stack([column[devices].astype(np.int64) for column in columns], axis=1)
    _, first, code = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    rank = np.empty(len(first), np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    return rank[code.ravel()]


def _words(cluster: Cluster, device: int, places: tuple[str, ...]) -> str:
    """Return what the devices of a group are, and where."""
    table = cluster.devices
    role = int(table.role[device])
    word = (
        Role.NAMES[role] if role >= 0 else ("switch" if table.kind[device] == DeviceKind.SWITCH else "device")
    )
    part = int(table.part[device])
    model = f" ({cluster.parts[part]})" if part >= 0 else ""
    fabric = int(table.fabric[device])
    of = f" of {cluster.fabrics[fabric].name}" if fabric >= 0 and len(cluster.fabrics) > 1 else ""
    at = [(place, int(getattr(table, place)[device])) for place in reversed(places)]
    where = "".join(f", {place} {number + 1}" for place, number in at if number >= 0)
    return f"{word}{model}{of}{where}"


def _lines(
    cluster: Cluster, links: NDArray[np.int64], devices: NDArray[np.int64], group: NDArray[np.int64]
) -> tuple[tuple[int, int, str], ...]:
    """Return one line for all links of one rate between the same two boxes."""
    a = group[np.searchsorted(devices, cluster.link_device_a[links])]
    b = group[np.searchsorted(devices, cluster.link_device_b[links])]
    rate, code = np.unique(cluster.links.bytes_per_s[links], return_inverse=True)
    keys, count = np.unique(np.stack([a, b, code.ravel()], axis=1), axis=0, return_counts=True)
    words = ["rate unknown" if np.isnan(value) else format_gbps(float(value)) for value in rate]
    return tuple(
        (low, high, words[speed] if number == 1 else f"{number:,} × {words[speed]}")
        for (low, high, speed), number in zip(keys.tolist(), count.tolist(), strict=True)
    )
