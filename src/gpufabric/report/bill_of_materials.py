"""Cluster → bill of materials: what is bought, by part, counted from the devices, cables and transceivers of the cluster."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpufabric.records.cluster import UNKNOWN, Cluster, DeviceKind
from gpufabric.records.part_lookup import PartLookup
from gpufabric.records.parts import AnyPart, CablePart, ServerPart, SwitchPart, TransceiverPart
from gpufabric.records.tiers import link_fabrics

_DEVICE_KINDS = {
    DeviceKind.SERVER: "server",
    DeviceKind.SWITCH: "switch",
    DeviceKind.MANAGER: "manager",
    DeviceKind.STORAGE: "storage",
}
_UNFITTED = "no part of the catalogue fits"


@dataclass(frozen=True, slots=True)
class BillRow:
    """One line of the bill: ``count`` pieces of one part (cables: of one part and length).

    ``power_w`` and ``price_usd`` are for all pieces of the line, None when they are not known. A line that is
    ``included`` comes inside another one (NICs in servers): it is not bought apart and does not count in the
    totals.
    """

    part: str | None
    kind: str
    count: int
    power_w: float | None
    price_usd: float | None
    description: str = ""
    note: str = ""
    length_m: float | None = None
    included: bool = False

    def to_dict(self) -> dict[str, Any]:
        """Return the line as plain JSON values."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class BillOfMaterials:
    """All lines and their totals.

    ``power_w`` and ``price_usd`` add up what is known (None when nothing is); ``unknown_power_parts`` and
    ``unknown_price_parts`` count the lines that are missing from these sums, so a sum with any of them is a
    lower bound.
    """

    rows: tuple[BillRow, ...]
    power_w: float | None
    price_usd: float | None
    unknown_power_parts: int
    unknown_price_parts: int


def bill_of_materials(cluster: Cluster, parts: PartLookup, fabric: int | None = None) -> BillOfMaterials:
    """Return the bill of materials of a cluster, or of one of its fabrics without the servers.

    Power is the datasheet's maximum. A fibre, a trunk or a Cat6 cable without a figure counts as 0 W, because nothing
    in it draws power.

    Parameters
    ----------
    cluster
    parts
        Parts by id; a part of the cluster that is missing here has unknown power, price and description.
    fabric : int or None
        Index into ``cluster.fabrics``; None: everything.
    """
    devices = _device_rows(cluster, parts, fabric)
    rows = [*devices, *_included_nics(devices, parts), *_cable_rows(cluster, parts, fabric)]
    rows += [*_jumper_rows(cluster, parts, fabric), *_transceiver_rows(cluster, parts, fabric)]
    bought = [row for row in rows if not row.included]
    power = [row.power_w for row in bought if row.power_w is not None]
    price = [row.price_usd for row in bought if row.price_usd is not None]
    return BillOfMaterials(
        rows=tuple(rows),
        power_w=math.fsum(power) if power else None,
        price_usd=math.fsum(price) if price else None,
        unknown_power_parts=len(bought) - len(power),
        unknown_price_parts=len(bought) - len(price),
    )


def _device_rows(cluster: Cluster, parts: PartLookup, fabric: int | None) -> list[BillRow]:
    devices = cluster.devices
    chosen = np.ones(len(devices), bool)
    if fabric is not None:
        chosen = (devices.kind == DeviceKind.SWITCH) & (devices.fabric == fabric)
    pairs, counts = np.unique(
        np.stack([devices.kind[chosen].astype(np.int64), devices.part[chosen].astype(np.int64)]),
        axis=1,
        return_counts=True,
    )
    return [
        _row(cluster, parts, int(part), _DEVICE_KINDS.get(int(kind), "device"), int(count))
        for kind, part, count in zip(*pairs, counts, strict=True)
    ]


def _included_nics(rows: list[BillRow], parts: PartLookup) -> list[BillRow]:
    counts: dict[str, int] = {}
    for row in rows:
        server = parts.get(row.part or "")
        if isinstance(server, ServerPart):
            for nic in server.nics:
                counts[nic.part] = counts.get(nic.part, 0) + row.count
    return [
        BillRow(
            part=part,
            kind="nic",
            count=count,
            power_w=None,
            price_usd=None,
            description=_description(parts.get(part)),
            note="in the servers, not bought apart; power and price are theirs",
            included=True,
        )
        for part, count in sorted(counts.items())
    ]


def _cable_rows(cluster: Cluster, parts: PartLookup, fabric: int | None) -> list[BillRow]:
    used = np.arange(len(cluster.assemblies))
    if fabric is not None:
        assembly = cluster.links.assembly[link_fabrics(cluster) == fabric]
        used = np.flatnonzero(np.bincount(assembly[assembly >= 0], minlength=len(used)))
    return _rows_by_length(
        cluster, parts, "cable", cluster.assemblies.part[used], cluster.assemblies.length_m[used]
    )


def _jumper_rows(cluster: Cluster, parts: PartLookup, fabric: int | None) -> list[BillRow]:
    jumpers = cluster.jumpers
    used = np.ones(len(jumpers), bool) if fabric is None else link_fabrics(cluster)[jumpers.link] == fabric
    return _rows_by_length(cluster, parts, "jumper", jumpers.part[used], jumpers.length_m[used])


def _rows_by_length(
    cluster: Cluster,
    parts: PartLookup,
    kind: str,
    part: NDArray[np.int32],
    length: NDArray[np.float64],
) -> list[BillRow]:
    order = np.lexsort((length, part))
    part, length = part[order], length[order]
    # NaN ≠ NaN, so unknown lengths are compared by a stand-in that no cable has.
    comparable = np.where(np.isnan(length), -1.0, length)
    new = np.ones(len(part), bool)
    new[1:] = (part[1:] != part[:-1]) | (comparable[1:] != comparable[:-1])
    starts = np.flatnonzero(new)
    counts = np.diff(starts, append=len(part))
    return [
        _row(cluster, parts, int(part[at]), kind, int(count), float(length[at]))
        for at, count in zip(starts, counts, strict=True)
    ]


def _transceiver_rows(cluster: Cluster, parts: PartLookup, fabric: int | None) -> list[BillRow]:
    modules = cluster.modules
    part = modules.part if fabric is None else modules.part[_modules_of(cluster, fabric)]
    numbers, counts = np.unique(part, return_counts=True)
    return [
        _row(cluster, parts, int(number), "transceiver", int(count))
        for number, count in zip(numbers, counts, strict=True)
    ]


def _modules_of(cluster: Cluster, fabric: int) -> NDArray[np.bool_]:
    """Whether each transceiver sits in a cage with a port of the fabric."""
    ports, modules = cluster.ports, cluster.modules
    inside = np.flatnonzero(ports.fabric == fabric)
    cages = np.sort(ports.device[inside].astype(np.int64) << 16 | ports.cage[inside])
    wanted = modules.device.astype(np.int64) << 16 | modules.cage
    at = np.searchsorted(cages, wanted)
    found: NDArray[np.bool_] = np.append(cages, -1)[at] == wanted
    return found


def _row(
    cluster: Cluster,
    parts: PartLookup,
    number: int,
    kind: str,
    count: int,
    length_m: float = math.nan,
) -> BillRow:
    part_id = None if number == UNKNOWN else cluster.parts[number]
    part = None if part_id is None else parts.get(part_id)
    power, price = _power_w(part), getattr(part, "price_usd", None)
    return BillRow(
        part=part_id,
        kind=kind,
        count=count,
        power_w=None if power is None else power * count,
        price_usd=None if price is None else price * count,
        description=_description(part),
        note=_UNFITTED if part_id is None else "",
        length_m=None if math.isnan(length_m) else length_m,
    )


def _power_w(part: AnyPart | None) -> float | None:
    """Return the greatest power of one piece."""
    if (
        isinstance(part, CablePart)
        and part.max_power_w is None
        and part.technology in {"fibre", "trunk", "cat6"}
    ):
        return 0.0
    if isinstance(part, ServerPart | SwitchPart | CablePart | TransceiverPart):
        return part.max_power_w
    return None


def _description(part: AnyPart | None) -> str:
    return "" if part is None else part.description or f"{part.vendor} {part.model}"
