"""Fabric → the columns of its drawing: units, pods or leaves side by side, those that are alike folded into one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gpufabric.records.cluster import UNKNOWN, Cluster, Role
from gpufabric.records.tiers import link_fabrics

_ENDPOINTS = (Role.SERVER, Role.STORAGE)


@dataclass(frozen=True, slots=True)
class Column:
    """One column: ``folded`` units (``noun`` says units, leaves or pods of what) that stand side by side in pod ``pod``.

    ``pod`` counts the pods as drawn (-1: the fabric has none); ``alike`` is False when folded ones differ.
    """

    title: str
    noun: str
    folded: int
    pod: int
    alike: bool


@dataclass(frozen=True, slots=True)
class DrawnPod:
    """One pod as drawn: ``folded`` pods of the fabric."""

    title: str
    folded: int


@dataclass(frozen=True, slots=True)
class FabricColumns:
    """Columns and pods as drawn, and for each device where it stands (-1: in none).

    Attributes
    ----------
    column_of : int64 array, D
    pod_of : int64 array, D
        Pod as drawn, of spines.
    """

    columns: tuple[Column, ...]
    pods: tuple[DrawnPod, ...]
    column_of: NDArray[np.int64]
    pod_of: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class _Units:
    """The units of a fabric before folding: for each its pod, its number in names, and what it consists of."""

    unit_of: NDArray[np.int64]
    pod: NDArray[np.int64]
    number: NDArray[np.int64]
    traits: NDArray[np.int64]
    noun: str

    @property
    def count(self) -> int:
        return len(self.pod)


def fabric_columns(cluster: Cluster, fabric: int, most: int) -> FabricColumns:
    """Return at most about *most* columns for a fabric.

    Units of equal counts (servers, leaves, links up and down, parts) are alike. The first units are drawn,
    the alike ones after them are folded into one column, and the last is drawn again when it differs. In a
    fabric with several pods the units of the first pod are drawn this way and every other pod is one column.
    """
    units = _units(cluster, fabric)
    devices = cluster.devices
    pods = np.unique(units.pod)
    pod_of = np.full(len(devices), UNKNOWN, np.int64)
    spines = (devices.role == Role.SPINE) & (devices.fabric == fabric)
    if len(pods) < 2:
        runs = _folded(np.arange(units.count), units.traits, most)
        columns = [_unit_column(units, run, -1) for run in runs]
        pod_of[spines] = 0
        return FabricColumns(tuple(columns), (), _spread(units, runs), pod_of)
    pod_traits = np.stack([_pod_traits(units, pod, spines & (devices.pod == pod)) for pod in pods])
    pod_runs = _folded(np.arange(len(pods)), pod_traits, max(2, most - 2))
    first = np.flatnonzero(units.pod == pods[pod_runs[0][0]])
    runs = _folded(first, units.traits, 2) if len(pod_runs[0]) == 1 else [first]
    columns = [_unit_column(units, run, 0) for run in runs]
    drawn = [_drawn_pod(pods[pod_runs[0]], 0)]
    for position, pod_run in enumerate(pod_runs[1:], start=1):
        inside = np.flatnonzero(np.isin(units.pod, pods[pod_run]))
        runs.append(inside)
        columns.append(_pod_column(units, inside, position))
        drawn.append(_drawn_pod(pods[pod_run], position))
    for position, pod_run in enumerate(pod_runs):
        pod_of[spines & np.isin(devices.pod, pods[pod_run])] = position
    return FabricColumns(tuple(columns), tuple(drawn), _spread(units, runs), pod_of)


def _units(cluster: Cluster, fabric: int) -> _Units:
    """Find the unit of each leaf and each server, compute or storage: it is in the unit of the first leaf it is linked to."""
    devices = cluster.devices
    leaves = np.flatnonzero((devices.role == Role.LEAF) & (devices.fabric == fabric))
    unit_of = np.full(len(devices), UNKNOWN, np.int64)
    servers = np.flatnonzero(np.isin(devices.role, _ENDPOINTS))
    inside = np.flatnonzero(link_fabrics(cluster) == fabric)
    a, b = cluster.link_device_a[inside], cluster.link_device_b[inside]
    if not len(leaves):
        present = servers[np.isin(servers, np.concatenate([a, b]))]
        unit_of[present] = 0
        return _Units(unit_of, np.array([-1]), np.array([0]), np.array([[len(present)]]), "")
    by_unit = bool((devices.unit[leaves] >= 0).all())
    number = devices.unit[leaves].astype(np.int64) if by_unit else _position_in_plane(cluster, leaves)
    pod = devices.pod[leaves].astype(np.int64)
    keys, unit = np.unique(np.stack([pod, number]), axis=1, return_inverse=True)
    unit_of[leaves] = unit.ravel()
    to_leaf = np.isin(b, leaves) & np.isin(devices.role[a], _ENDPOINTS)
    unit_of[a[to_leaf][::-1]] = unit_of[b[to_leaf][::-1]]
    traits = _unit_traits(cluster, unit_of, keys.shape[1], (a, b))
    return _Units(unit_of, keys[0], keys[1], traits, "unit" if by_unit else "leaf")


def _position_in_plane(cluster: Cluster, leaves: NDArray[np.intp]) -> NDArray[np.int64]:
    plane = cluster.devices.plane[leaves]
    position = np.empty(len(leaves), np.int64)
    for value in np.unique(plane):
        position[plane == value] = np.arange(np.count_nonzero(plane == value))
    return position


def _unit_traits(
    cluster: Cluster,
    unit_of: NDArray[np.int64],
    count: int,
    ends: tuple[NDArray[np.int32], NDArray[np.int32]],
) -> NDArray[np.int64]:
    """Return one row of counts a unit; equal rows look equal in the drawing."""
    devices = cluster.devices
    columns: list[NDArray[np.int64]] = []
    placed = unit_of >= 0
    for role in (*_ENDPOINTS, Role.LEAF):
        of_role = placed & (devices.role == role)
        columns.append(np.bincount(unit_of[of_role], minlength=count))
        weight = devices.part[of_role] + 2.0
        columns.append(np.bincount(unit_of[of_role], weight**2, count).astype(np.int64))
    for lower, upper in (ends, ends[::-1]):
        leaf = placed[upper] & (devices.role[upper] == Role.LEAF)
        linked = [unit_of[upper[leaf & (devices.role[lower] == role)]] for role in (*_ENDPOINTS, Role.SPINE)]
        columns.extend(np.bincount(units, minlength=count) for units in linked)
    return np.stack(columns, axis=1)


def _pod_traits(units: _Units, pod: np.int64, spines: NDArray[np.bool_]) -> NDArray[np.int64]:
    inside = units.traits[units.pod == pod]
    return np.concatenate([[len(inside), np.count_nonzero(spines)], inside.sum(axis=0), inside.max(axis=0)])


def _folded(items: NDArray[np.intp], traits: NDArray[np.int64], most: int) -> list[NDArray[np.intp]]:
    """Return *items* in at most *most* runs: all single, or the first ones, the rest as one run, and a last one that differs."""
    if len(items) <= most:
        return [items[i : i + 1] for i in range(len(items))]
    last_differs = not np.array_equal(traits[items[-1]], traits[items[0]])
    single = max(1, min(2, most - 1 - last_differs))
    rest = items[single : len(items) - last_differs]
    runs = [items[i : i + 1] for i in range(single)] + [rest]
    return [*runs, items[-1:]] if last_differs else runs


def _spread(units: _Units, runs: list[NDArray[np.intp]]) -> NDArray[np.int64]:
    column = np.full(units.count + 1, UNKNOWN, np.int64)
    for position, run in enumerate(runs):
        column[run] = position
    return column[np.where(units.unit_of >= 0, units.unit_of, units.count)]


def _unit_column(units: _Units, run: NDArray[np.intp], pod: int) -> Column:
    plural = "leaves" if units.noun == "leaf" else "units"
    if not units.noun:
        title = ""
    elif len(run) > 1:
        title = f"{len(run):,} more {plural}"
    else:
        title = f"{units.noun.capitalize()} {units.number[run[0]] + 1}"
    return Column(title, units.noun, len(run), pod, _alike(units.traits[run]))


def _pod_column(units: _Units, inside: NDArray[np.intp], position: int) -> Column:
    title = f"{len(inside):,} {'units' if units.noun == 'unit' else 'leaves'}"
    return Column(title, units.noun, len(inside), position, _alike(units.traits[inside]))


def _drawn_pod(pods: NDArray[np.int64], position: int) -> DrawnPod:
    if len(pods) == 1:
        return DrawnPod(f"Pod {pods[0] + 1}", 1)
    return DrawnPod(f"{len(pods):,} {'more ' if position else ''}pods", len(pods))


def _alike(traits: NDArray[np.int64]) -> bool:
    return bool((traits == traits[0]).all())
