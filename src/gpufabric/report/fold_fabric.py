"""Fabric → boxes and bundles of its drawing: every device stands in one box, every link in one bundle, so counts add up."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gpufabric.kernels.group_maximum import group_maximum
from gpufabric.records.cluster import UNKNOWN, Cluster, DeviceKind, Role
from gpufabric.records.link_kinds import OTHER, link_kinds
from gpufabric.records.names import device_names
from gpufabric.records.tiers import device_tiers, link_fabrics
from gpufabric.report.fabric_columns import FabricColumns, fabric_columns
from gpufabric.units import counted

_FEW_SERVERS = 12
_FEW_SWITCHES = 10
_FEW_LINKS = 200
_PLURALS = {"unit": "units", "leaf": "leaves", "pod": "pods", "plane": "planes", "pod and plane": "pods"}
_ROLE_WORDS = {1: ("leaf", "leaves"), 2: ("spine", "spines"), 3: ("core", "cores")}


@dataclass(frozen=True, slots=True)
class Box:
    """One box: its tier (0 servers), band (-1: under all planes), column or pod (-1: under all), and the lines of text in it."""

    tier: int
    band: int
    column: int
    lines: tuple[str, ...]
    folded: bool
    hover: str


@dataclass(frozen=True, slots=True)
class Bundle:
    """Links of one rate between two boxes, the lower one first; ``rail`` only when all of them serve one.

    ``other_links`` of them are those that the design counts as other: to managers, storage servers and other fabrics. ``busiest``
    and ``busy`` are the greatest and the mean part of the time that one of them is in use, -1 where that is not asked for.
    """

    lower: int
    upper: int
    links: int
    other_links: int
    bytes_per_s: float
    rail: int
    band: int
    busiest: float = UNKNOWN
    busy: float = UNKNOWN


@dataclass(frozen=True, slots=True)
class Band:
    """One or several planes that are drawn as one."""

    title: str
    planes: int


@dataclass(frozen=True, slots=True)
class FoldedFabric:
    """What is drawn of a fabric.

    ``managers`` says that a column after those of ``layout`` holds the managers; ``single`` says that every other box is one
    device and every bundle one link; ``undrawn_links`` end in a device of unknown role; ``box_of`` is the box of each device
    or -1.
    """

    layout: FabricColumns
    bands: tuple[Band, ...]
    managers: bool
    boxes: tuple[Box, ...]
    bundles: tuple[Bundle, ...]
    single: bool
    undrawn_links: int
    box_of: NDArray[np.int64]


def fold_fabric(cluster: Cluster, fabric: int, in_use: NDArray[np.float64] | None = None) -> FoldedFabric:
    """Return the boxes and bundles that a drawing of *fabric* shows.

    Parameters
    ----------
    cluster, fabric
    in_use : float64 array, one a link of the cluster, optional
        Part of the time that each link is in use, 0 to 1.
    """
    devices = cluster.devices
    tier = device_tiers(cluster)
    # Switches of other fabrics hang below this one: by their management ports, or as what its leaves lead to.
    tier[(devices.kind == DeviceKind.SWITCH) & (devices.fabric != fabric) & (tier > 0)] = 0
    others = (tier == 0) & ~np.isin(devices.role, (Role.SERVER, Role.STORAGE))
    inside = np.flatnonzero(link_fabrics(cluster) == fabric)
    ends = np.stack([cluster.link_device_a[inside], cluster.link_device_b[inside]])
    ends = np.where(tier[ends[0]] <= tier[ends[1]], ends, ends[::-1])
    switch = (devices.kind == DeviceKind.SWITCH) & (devices.fabric == fabric) & (tier > 0)
    shown = switch.copy()
    shown[ends.ravel()] |= tier[ends.ravel()] >= 0
    per_tier = np.bincount(tier[shown], minlength=4)
    few = _few(per_tier)
    bands, band = _bands(cluster, fabric, switch)
    most = _FEW_SWITCHES if few[1] else 6 if len(bands) == 1 else 3
    layout = fabric_columns(cluster, fabric, most)
    column = _tier_columns(others, tier, layout)
    rows = np.flatnonzero(shown)
    role = devices.role[rows]
    alone = np.array(few)[tier[rows]] & ~others[rows]
    sub = np.where(alone, rows + 1, np.where(role == Role.STORAGE, 0, -1))
    keys = np.stack([tier[rows].astype(np.int64), band[rows], column[rows], sub])
    unique, box_of_row = np.unique(keys, axis=1, return_inverse=True)
    box_of = np.full(len(devices), UNKNOWN, np.int64)
    box_of[rows] = box_of_row.ravel()
    boxes = _boxes(cluster, unique, (rows, box_of[rows]), layout, bands)
    drawn = (box_of[ends] >= 0).all(axis=0)
    single = all(few) and int(drawn.sum()) <= _FEW_LINKS
    use = np.full(int(drawn.sum()), np.nan) if in_use is None else in_use[inside[drawn]]
    bundles = _bundles(cluster, inside[drawn], box_of[ends[:, drawn]], (band[ends[1, drawn]], use), single)
    return FoldedFabric(
        layout, bands, bool(others[rows].any()), boxes, bundles, single, int((~drawn).sum()), box_of
    )


def _few(per_tier: NDArray[np.int64]) -> tuple[bool, bool, bool, bool]:
    """For each tier whether its devices are few enough to be drawn one by one, with those below it."""
    leaf = bool(per_tier[1] <= _FEW_SWITCHES)
    spine = leaf and bool(per_tier[2] <= _FEW_SWITCHES)
    core = spine and bool(per_tier[3] <= _FEW_SWITCHES)
    return leaf and bool(per_tier[0] <= _FEW_SERVERS), leaf, spine, core


def _bands(
    cluster: Cluster, fabric: int, switch: NDArray[np.bool_]
) -> tuple[tuple[Band, ...], NDArray[np.int64]]:
    """Return the bands of planes, and the band of each device: -1 for servers."""
    planes = np.unique(cluster.devices.plane[switch]) if cluster.fabrics[fabric].planes > 1 else np.array([0])
    band = np.where(switch, 0, -1).astype(np.int64)
    if len(planes) < 2:
        return (Band("", 1),), band
    band[switch & (cluster.devices.plane != planes[0])] = 1
    rest = f"Plane {planes[1] + 1}" if len(planes) == 2 else f"{len(planes) - 1} more planes"
    return (Band(f"Plane {planes[0] + 1}", 1), Band(rest, len(planes) - 1)), band


def _tier_columns(
    others: NDArray[np.bool_], tier: NDArray[np.int8], layout: FabricColumns
) -> NDArray[np.int64]:
    """Return the column (of spines: the pod) of each device; managers and other endpoints have one after the others."""
    column = np.where(tier <= 1, layout.column_of, np.where(tier == 2, layout.pod_of, -1))
    column[(tier == 0) & (column < 0)] = len(layout.columns) - 1
    column[others] = len(layout.columns)
    return column


def _boxes(
    cluster: Cluster,
    keys: NDArray[np.int64],
    placed: tuple[NDArray[np.intp], NDArray[np.int64]],
    layout: FabricColumns,
    bands: tuple[Band, ...],
) -> tuple[Box, ...]:
    rows, box_of = placed
    order = np.argsort(box_of, kind="stable")
    firsts = np.searchsorted(box_of[order], np.arange(keys.shape[1] + 1))
    gpus = np.bincount(cluster.gpus.host, minlength=len(cluster.devices))
    alone = keys[3] > 0
    names = dict(zip((keys[3, alone] - 1).tolist(), device_names(cluster, keys[3, alone] - 1), strict=True))
    boxes = []
    for number, (tier, band, column, sub) in enumerate(keys.T.tolist()):
        members = rows[order[firsts[number] : firsts[number + 1]]]
        parts = _parts_line(cluster, members)
        if sub > 0:
            texts, folded = [names[sub - 1], parts.removeprefix("1 × ")], False
        else:
            place = (tier, column, bands[max(band, 0)].planes)
            texts, folded = _folded_lines(cluster, members, place, layout)
        hosted = int(gpus[members].sum())
        if tier == 0 and hosted:
            texts.append(counted(hosted, "GPU"))
        lines = tuple(text for text in texts if text)
        boxes.append(Box(tier, band, column, lines, folded, f"{lines[0]}: {parts}"))
    return tuple(boxes)


def _folded_lines(
    cluster: Cluster, members: NDArray[np.intp], place: tuple[int, int, int], layout: FabricColumns
) -> tuple[list[str], bool]:
    """Return the lines of a box of several devices, and whether it stands for several units, pods or planes.

    ``place`` is its tier, its column or pod, and the number of planes in its band.
    """
    tier, position, planes = place
    parts = _parts_line(cluster, members)
    count = len(members)
    if tier == 0:
        role = int(cluster.devices.role[members[0]])
        if position == len(layout.columns):
            return _other_lines(cluster, members), False
        column = layout.columns[position]
        each = _each(count, column.folded, column.noun, column.alike)
        title = f"On {column.title.lower()}" if column.noun == "leaf" else column.title
        if role == Role.STORAGE:
            title = counted(count, "storage server")
        return [title or counted(count, "server"), parts, each], column.folded > 1
    title = f"{count:,} {_ROLE_WORDS[tier][count > 1]}"
    part = parts.split(" × ", 1)[1] if " + " not in parts else parts
    if tier == 1:
        column = layout.columns[position]
        each = _each(count, column.folded, column.noun, column.alike) if column.noun == "unit" else ""
        return [title, part, each or _rails(cluster, members)], column.folded > 1 or planes > 1
    if tier == 2 and layout.pods:
        pod = layout.pods[position]
        each = _each(count, pod.folded * planes, "pod and plane" if planes > 1 else "pod", alike=True)
        return [title, part, each], pod.folded > 1 or planes > 1
    return [title, part, _each(count, planes, "plane", alike=True)], planes > 1


def _other_lines(cluster: Cluster, members: NDArray[np.intp]) -> list[str]:
    """Return one line for each kind of device that is neither server nor storage; the part as well where there is one kind."""
    kinds, counts = np.unique(cluster.devices.kind[members], return_counts=True)
    words = {DeviceKind.MANAGER: ("manager", "managers"), DeviceKind.SWITCH: ("switch", "switches")}
    words[DeviceKind.PDU] = ("PDU", "PDUs")
    pairs = zip(kinds.tolist(), counts.tolist(), strict=True)
    lines = [f"{count:,} {words.get(kind, ('device', 'devices'))[count > 1]}" for kind, count in pairs]
    return lines if len(lines) > 1 else [*lines, _parts_line(cluster, members).split(" × ", 1)[1]]


def _each(count: int, folded: int, noun: str, alike: bool) -> str:
    if folded < 2 or not noun:
        return ""
    where = "on each leaf" if noun == "leaf" else f"in each {noun}"
    return f"{count // folded:,} {where}" if alike and count % folded == 0 else f"{_PLURALS[noun]} differ"


def _rails(cluster: Cluster, members: NDArray[np.intp]) -> str:
    rails = np.unique(cluster.devices.rail[members])
    if rails[0] < 0:
        return ""
    contiguous = len(rails) == rails[-1] - rails[0] + 1
    if len(rails) == 1:
        return f"rail {rails[0] + 1}"
    return f"rails {rails[0] + 1}–{rails[-1] + 1}" if contiguous else counted(len(rails), "rail")


def _parts_line(cluster: Cluster, members: NDArray[np.intp]) -> str:
    numbers, counts = np.unique(cluster.devices.part[members], return_counts=True)
    names = ["unknown part" if n == UNKNOWN else cluster.parts[n] for n in numbers.tolist()]
    return " + ".join(f"{count:,} × {name}" for name, count in zip(names, counts.tolist(), strict=True))


def _bundles(
    cluster: Cluster,
    links: NDArray[np.intp],
    boxes: NDArray[np.int64],
    traits: tuple[NDArray[np.int64], NDArray[np.float64]],
    single: bool,
) -> tuple[Bundle, ...]:
    """Return the bundles; *traits* are the band of each link and the part of the time that it is in use, NaN where not known."""
    band, in_use = traits
    rate = cluster.links.bytes_per_s[links]
    rates, rate_code = np.unique(rate, return_inverse=True)
    separate = np.arange(len(links)) if single else np.zeros(len(links), np.int64)
    pair = boxes[0] * (int(boxes.max(initial=0)) + 1) + boxes[1]
    keys = (pair * len(rates) + rate_code) * (int(separate.max(initial=0)) + 1) + separate
    _, first, inverse, counts = np.unique(keys, return_index=True, return_inverse=True, return_counts=True)
    rail = cluster.ports.rail[cluster.links.port_a[links]]
    same = np.bincount(inverse, rail != rail[first[inverse]], len(first)) == 0
    codes, kinds = link_kinds(cluster)
    busiest = group_maximum(in_use, inverse, len(first))
    busy = np.bincount(inverse, in_use, len(first)) / counts
    other = np.bincount(inverse, np.array(kinds)[codes[links]] == OTHER, len(first))
    return tuple(
        Bundle(
            lower=int(boxes[0, at]),
            upper=int(boxes[1, at]),
            links=int(count),
            other_links=int(others),
            bytes_per_s=float(rate[at]),
            rail=int(rail[at]) if alike else UNKNOWN,
            band=int(band[at]),
            busiest=UNKNOWN if np.isnan(mean) else float(most),
            busy=UNKNOWN if np.isnan(mean) else float(mean),
        )
        for count, others, at, alike, most, mean in zip(
            counts, other, first, same, busiest, busy, strict=True
        )
    )
