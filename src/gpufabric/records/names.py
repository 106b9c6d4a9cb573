"""Names of devices and ports: made from role and indices for a designed cluster, as they were read for a found one.

Every designed name is a legal host name label (RFC 1123: lower case, digits and dashes, at most 63
characters), unique over the cluster, and sorts in the order of its numbers, because numbers of one kind have
equally many digits. Numbers in names start at 1.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import chain, count
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpufabric.errors import InputError, did_you_mean, printable
from gpufabric.records.cluster import MANAGEMENT_CAGE, Cluster, DeviceKind, Fabric, Role
from gpufabric.records.part_lookup import PartLookup
from gpufabric.records.parts import ServerPart

_ENDPOINT_WORDS = {Role.SERVER: "srv", Role.MANAGER: "mgr-", Role.STORAGE: "storage-", Role.PDU: "pdu-"}
_SWITCH_WORDS = {Role.LEAF: "leaf", Role.SPINE: "spine", Role.CORE: "core"}
_OTHER_WORD = "device"
_MAX_PREFIX = 24
_SUGGESTIONS_FROM = 500


def device_names(cluster: Cluster, rows: NDArray[np.integer[Any]] | None = None) -> NDArray[np.object_]:
    """Return the names of devices.

    ``su01-srv07`` is server 7 of unit 1, ``leaf-p1-su01-r3`` the leaf of plane 1, unit 1, rail 3,
    ``spine-pod02-07`` spine 7 of pod 2. Switches of every fabric but the first begin with the name of their
    fabric.

    Parameters
    ----------
    cluster
    rows : int array or None
        Devices; all when None.

    Returns
    -------
    object array of str, one a row
    """
    names = cluster.devices.names
    found = _designed_device_names(cluster) if names is None else _objects(names)
    return found if rows is None else found[rows]


def port_names(
    cluster: Cluster,
    rows: NDArray[np.integer[Any]] | None = None,
    parts: PartLookup | None = None,
) -> NDArray[np.object_]:
    """Return the names of ports: unique within their device.

    A switch port is ``5/2`` (cage 5, lane 2), or ``5`` when its cage is not split. A server port bears the
    label of the chassis, such as ``osfp3/2``, when *parts* has the server, else ``cage3/2``. The management port is ``mgmt``.

    Parameters
    ----------
    cluster
    rows : int array or None
        Ports; all when None.
    parts
        Parts by id, for the labels on server chassis.

    Returns
    -------
    object array of str, one a row
    """
    ports = cluster.ports
    if ports.names is not None:
        names = _objects(ports.names)
        return names if rows is None else names[rows]
    rows = np.arange(len(ports)) if rows is None else np.asarray(rows)
    label, labels = _port_labels(cluster, rows, parts)
    lane = np.where(ports.lanes_in_cage[rows] == 1, 0, ports.lane[rows]).astype(np.int64)
    keys = label.astype(np.int64) << 32 | ports.cage[rows].astype(np.int64) + 2**15 << 16 | lane + 2**15
    unique, code = np.unique(keys, return_inverse=True)
    return _objects([_port_name(labels, int(key)) for key in unique])[code]


def device_rows(cluster: Cluster, names: Iterable[str]) -> NDArray[np.int64]:
    """Return the row of each device name: the inverse of :func:`device_names`.

    Raises
    ------
    InputError
        If the cluster has no device of that name.
    """
    known = {name: row for row, name in reversed(list(enumerate(device_names(cluster).tolist())))}
    rows = []
    for name in names:
        row = known.get(name)
        if row is None:
            near = [k for k in known if k[:3] == name[:3] and abs(len(k) - len(name)) <= 1][
                :_SUGGESTIONS_FROM
            ]
            raise InputError(
                f'device "{printable(name)}" is not in cluster {printable(cluster.name)}; '
                f"use a name of its cabling plan.{did_you_mean(name, near)}"
            )
        rows.append(row)
    return np.array(rows, np.int64)


def _objects(texts: Iterable[str]) -> NDArray[np.object_]:
    listed = list(texts)
    out = np.empty(len(listed), dtype=object)
    out[:] = listed
    return out


def _designed_device_names(cluster: Cluster) -> NDArray[np.object_]:
    devices = cluster.devices
    prefixes = _fabric_prefixes(cluster)
    is_switch = devices.kind == DeviceKind.SWITCH
    fabric = np.where(is_switch, np.maximum(devices.fabric, 0), 0).astype(np.int64)
    fits = np.where(
        is_switch, np.isin(devices.role, list(_SWITCH_WORDS)), np.isin(devices.role, list(_ENDPOINT_WORDS))
    )
    role = np.where(fits, devices.role, -1).astype(np.int64)
    names = np.empty(len(devices), dtype=object)
    classes, member_of = np.unique(fabric << 8 | role & 0xFF, return_inverse=True)
    for number, code in enumerate(classes.tolist()):
        rows = np.flatnonzero(member_of == number)
        in_fabric, with_role = code >> 8, code & 0xFF
        if with_role in _ENDPOINT_WORDS:
            names[rows] = _endpoint_names(cluster, rows, _ENDPOINT_WORDS[with_role])
        else:
            word = _SWITCH_WORDS.get(with_role, _OTHER_WORD)
            shape = cluster.fabrics[in_fabric] if in_fabric < len(cluster.fabrics) else None
            names[rows] = _switch_names(cluster, rows, f"{prefixes.get(in_fabric, '')}{word}", shape)
    return names


def _fabric_prefixes(cluster: Cluster) -> dict[int, str]:
    prefixes: dict[int, str] = {}
    for index, fabric in enumerate(cluster.fabrics[1:], start=1):
        slug = re.sub(r"[^a-z0-9]+", "-", fabric.name.lower()).strip("-")[:_MAX_PREFIX].strip("-")
        slug = slug or "fabric"
        numbered = (f"{slug[: _MAX_PREFIX - 8].rstrip('-')}-{number}-" for number in count(index + 1))
        free = (prefix for prefix in chain([f"{slug}-"], numbered) if prefix not in prefixes.values())
        prefixes[index] = next(free)
    return prefixes


def _endpoint_names(cluster: Cluster, rows: NDArray[np.intp], word: str) -> NDArray[np.object_]:
    is_server = cluster.devices.role[rows] == Role.SERVER
    unit = np.where(is_server, cluster.devices.unit[rows], -1)
    ordinal, _ = _ordinals(cluster, rows, [unit])
    digits = max((_unit_digits(fabric) for fabric in cluster.fabrics), default=2)
    return _joined(_tokens("su", unit, digits, end="-"), word, _tokens("", ordinal, 2))


def _unit_digits(shape: Fabric | None) -> int:
    """Return the digits of unit numbers: enough for the units that the fabric has room for, so that growing relabels nothing."""
    return max(2, len(str(shape.grow_units))) if shape else 2


def _switch_names(
    cluster: Cluster, rows: NDArray[np.intp], word: str, shape: Fabric | None
) -> NDArray[np.object_]:
    devices = cluster.devices
    plane = devices.plane[rows] if shape and shape.planes > 1 else np.full(len(rows), -1, np.int16)
    unit, rail = devices.unit[rows], devices.rail[rows]
    pods = devices.pod[rows]
    # A fabric of three tiers names its pods even while there is one, so that growing relabels nothing.
    has_pods = pods.max() > pods.min() or (shape is not None and shape.tiers > 2)
    pod = np.where((unit < 0) & has_pods, pods, -1)
    ordinal, most = _ordinals(cluster, rows, [plane, pod, unit, rail])
    place = [
        _tokens("-p", plane, 1),
        _tokens("-pod", pod, 2),
        _tokens("-su", unit, _unit_digits(shape)),
        _tokens("-r", rail, 1),
    ]
    placed = bool(((unit >= 0) | (rail >= 0)).all())
    return _joined(word, *place, "" if placed and most == 1 else _tokens("-", ordinal, 2))


def _ordinals(
    cluster: Cluster, rows: NDArray[np.intp], keys: list[NDArray[Any]]
) -> tuple[NDArray[np.int64], int]:
    """Return the position of each row, from 0, among the rows of equal keys in order of their index; and the largest group."""
    columns: list[NDArray[Any]] = [rows, cluster.devices.index[rows], *keys]
    order = np.lexsort(columns)
    new = np.zeros(len(rows), bool)
    new[0] = True
    for key in keys:
        new[1:] |= key[order][1:] != key[order][:-1]
    starts = np.flatnonzero(new)
    ordinal = np.empty(len(rows), np.int64)
    ordinal[order] = np.arange(len(rows)) - np.repeat(starts, np.diff(starts, append=len(rows)))
    return ordinal, int(ordinal.max()) + 1


def _joined(*texts: str | NDArray[np.object_]) -> NDArray[np.object_]:
    joined: Any = ""
    for text in texts:
        joined = joined + text
    return np.asarray(joined, dtype=object)


def _tokens(before: str, values: NDArray[Any], digits: int, end: str = "") -> NDArray[np.object_]:
    """Return ``before`` + number + ``end`` for each value, counted from 1 and zero-padded; nothing where it is unknown."""
    unique, code = np.unique(values, return_inverse=True)
    width = max(digits, len(str(int(unique[-1]) + 1)))
    texts = (f"{before}{value + 1:0{width}d}{end}" if value >= 0 else "" for value in unique.tolist())
    return _objects(texts)[code]


def _port_labels(
    cluster: Cluster, rows: NDArray[np.integer[Any]], parts: PartLookup | None
) -> tuple[NDArray[np.int16], list[str]]:
    """Return for each port an index into the list of labels, and the labels."""
    device = cluster.ports.device[rows]
    cage = cluster.ports.cage[rows]
    labels = ["", "cage"]
    label = (cluster.devices.kind[device] != DeviceKind.SWITCH).astype(np.int16)
    part = np.where(label == 1, cluster.devices.part[device], -1)
    for number in np.unique(part[part >= 0]).tolist():
        server = None if parts is None else parts.get(cluster.parts[number])
        if not isinstance(server, ServerPart):
            continue
        for group in server.cages:
            text = re.sub(r"[^a-z0-9]+", "-", group.label.lower()).strip("-")
            if text:
                labels.append(f"{text}-" if text[-1].isdigit() else text)
                inside = (part == number) & (cage >= group.first) & (cage < group.first + group.count)
                label[inside] = len(labels) - 1
    return label, labels


def _port_name(labels: list[str], key: int) -> str:
    cage, lane = (key >> 16 & 0xFFFF) - 2**15, (key & 0xFFFF) - 2**15
    if cage == MANAGEMENT_CAGE:
        return "mgmt"
    return f"{labels[key >> 32]}{cage}" + (f"/{lane}" if lane else "")
