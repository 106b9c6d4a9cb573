"""Cluster → bill of materials: what is bought, by part, counted from its devices, cables, transceivers and racks."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpufabric.floorplan.device_power import modules_covered, own_power
from gpufabric.records.cluster import UNKNOWN, Cluster, DeviceKind
from gpufabric.records.part_lookup import PartLookup
from gpufabric.records.parts import AnyPart, CablePart, RackPart, ServerPart, TransceiverPart
from gpufabric.records.prices import PDU_ITEM, RACK_ITEM, PriceList
from gpufabric.records.tiers import link_fabrics
from gpufabric.report.rack_supply import RackSupply

_DEVICE_KINDS = {
    DeviceKind.SERVER: "server",
    DeviceKind.SWITCH: "switch",
    DeviceKind.MANAGER: "manager",
    DeviceKind.STORAGE: "storage",
    DeviceKind.PDU: "pdu",
}
_PASSIVE = {"fibre", "trunk", "cat6"}
_UNFITTED = "no part of the catalogue fits"
_NO_PRICES = PriceList()


@dataclass(frozen=True, slots=True)
class BillRow:
    """One line of the bill: ``count`` pieces of one part (cables: of one part and length), ``model`` with its vendor's name.

    ``power_w`` and ``price_usd`` are for all pieces of the line, None when they are not known. A line that is
    ``included`` comes inside another one (NICs in servers): it is not bought apart and does not count in the
    totals. ``added_power_w`` is what the line adds to the total: less than ``power_w`` for transceivers that the power of
    their switch covers. ``typical_power`` says that no greatest power is published and the typical one stands in.
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
    price_source: str = ""
    model: str = ""
    part_number: str = ""
    added_power_w: float | None = None
    typical_power: bool = False

    def to_dict(self) -> dict[str, Any]:
        """Return the line as plain JSON values."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class BillOfMaterials:
    """All lines and their totals.

    ``power_w`` and ``price_usd`` add up what is known (None when nothing is); ``unknown_power_parts`` and
    ``unknown_price_parts`` count the lines that are missing from these sums, or that a typical power stands for, so a sum
    with any of them is a lower bound.
    """

    rows: tuple[BillRow, ...]
    power_w: float | None
    price_usd: float | None
    unknown_power_parts: int
    unknown_price_parts: int


@dataclass(frozen=True, slots=True)
class _Shop:
    """Where the figures of a line come from."""

    cluster: Cluster
    parts: PartLookup
    prices: PriceList


def bill_of_materials(
    cluster: Cluster,
    parts: PartLookup,
    fabric: int | None = None,
    prices: PriceList = _NO_PRICES,
    supply: RackSupply | None = None,
) -> BillOfMaterials:
    """Return the bill of materials of a cluster, or of one of its fabrics without the servers and racks.

    Power is reckoned as that of the racks (:mod:`gpufabric.floorplan.device_power`). A fibre, trunk or Cat6 cable without a
    figure counts as 0 W, because nothing in it draws power, and so do racks and PDUs, whose losses are not modelled.
    Servers that are sold in a rack are included in that rack.

    Parameters
    ----------
    cluster
    parts
        Parts by id; a part of the cluster that is missing here has unknown power, price and description.
    fabric : int or None
        Index into ``cluster.fabrics``; None: everything.
    prices
        Prices that stand before those of the catalogue.
    supply
        Racks and PDUs of the floor plan; None: they are not in the bill.
    """
    shop = _Shop(cluster, parts, prices)
    devices = _device_rows(shop, fabric, supply)
    rows = [*devices, *_included_nics(devices, parts), *_cable_rows(shop, fabric)]
    rows += _transceiver_rows(shop, fabric)
    if fabric is None and supply is not None:
        rows += _rack_rows(shop, supply)
    bought = [row for row in rows if not row.included]
    power = [row.added_power_w for row in bought if row.added_power_w is not None]
    price = [row.price_usd for row in bought if row.price_usd is not None]
    return BillOfMaterials(
        rows=tuple(rows),
        power_w=math.fsum(power) if power else None,
        price_usd=math.fsum(price) if price else None,
        unknown_power_parts=len(bought) - len(power) + sum(row.typical_power for row in bought),
        unknown_price_parts=len(bought) - len(price),
    )


def _device_rows(shop: _Shop, fabric: int | None, supply: RackSupply | None) -> list[BillRow]:
    sold = set() if supply is None else {row.part for row in supply.rows if row.part}
    devices = shop.cluster.devices
    chosen = np.ones(len(devices), bool)
    if fabric is not None:
        chosen = (devices.kind == DeviceKind.SWITCH) & (devices.fabric == fabric)
    pairs, counts = np.unique(
        np.stack([devices.kind[chosen].astype(np.int64), devices.part[chosen].astype(np.int64)]),
        axis=1,
        return_counts=True,
    )
    rows = [
        _row(shop, int(part), _DEVICE_KINDS.get(int(kind), "device"), int(count))
        for kind, part, count in zip(*pairs, counts, strict=True)
    ]
    if supply is not None:
        rows = [
            row for row in rows if (row.part, row.kind) != (None, PDU_ITEM)
        ]  # they are among those of the racks
    return [_in_rack(shop, row, sold) for row in rows]


def _in_rack(shop: _Shop, row: BillRow, sold: set[str]) -> BillRow:
    """Return the line of a device, as included if a rack is sold with it."""
    part = shop.parts.get(row.part or "")
    if isinstance(part, ServerPart) and part.rack in sold:
        note = f"in {part.rack}, not bought apart; power and price are the rack's"
        return replace(row, included=True, power_w=None, price_usd=None, note=note)
    return row


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
            description=_text(parts.get(part), "description"),
            note="in the servers, not bought apart; power and price are theirs",
            included=True,
            model=_model(parts.get(part)),
            part_number=_text(parts.get(part), "part_number"),
        )
        for part, count in sorted(counts.items())
    ]


def _cable_rows(shop: _Shop, fabric: int | None) -> list[BillRow]:
    """Return cables and trunks by part and length, then the patch cords of links over panels (jumpers)."""
    cluster = shop.cluster
    used = np.arange(len(cluster.assemblies))
    cords = np.arange(len(cluster.jumpers))
    if fabric is not None:
        inside = link_fabrics(cluster) == fabric
        assembly = cluster.links.assembly[inside]
        used = np.flatnonzero(np.bincount(assembly[assembly >= 0], minlength=len(used)))
        cords = np.flatnonzero(inside[cluster.jumpers.link])
    cables = _by_length(shop, "cable", cluster.assemblies.part[used], cluster.assemblies.length_m[used])
    return cables + _by_length(shop, "jumper", cluster.jumpers.part[cords], cluster.jumpers.length_m[cords])


def _by_length(shop: _Shop, kind: str, part: NDArray[np.int32], length: NDArray[np.float64]) -> list[BillRow]:
    order = np.lexsort((length, part))
    part, length = part[order], length[order]
    # NaN ≠ NaN, so unknown lengths are compared by a stand-in that no cable has.
    comparable = np.where(np.isnan(length), -1.0, length)
    new = np.ones(len(part), bool)
    new[1:] = (part[1:] != part[:-1]) | (comparable[1:] != comparable[:-1])
    starts = np.flatnonzero(new)
    counts = np.diff(starts, append=len(part))
    rows = [
        _row(shop, int(part[at]), kind, int(count), float(length[at]))
        for at, count in zip(starts, counts, strict=True)
    ]
    return [replace(row, kind="trunk") if _is_trunk(shop.parts.get(row.part or "")) else row for row in rows]


def _is_trunk(part: AnyPart | None) -> bool:
    return isinstance(part, CablePart) and part.technology == "trunk"


def _transceiver_rows(shop: _Shop, fabric: int | None) -> list[BillRow]:
    """Return transceivers by part; those that the power of their switch covers add nothing to the total."""
    modules = shop.cluster.modules
    covered, part = modules_covered(shop.cluster, shop.parts), modules.part
    if fabric is not None:
        inside = _modules_of(shop.cluster, fabric)
        covered, part = covered[inside], part[inside]
    numbers, kind, counts = np.unique(part, return_inverse=True, return_counts=True)
    inclusive = np.bincount(kind.ravel()[covered], minlength=len(numbers))
    return [
        _without_covered(_row(shop, int(number), "transceiver", int(count)), int(inside_switch))
        for number, count, inside_switch in zip(numbers, counts, inclusive, strict=True)
    ]


def _without_covered(row: BillRow, covered: int) -> BillRow:
    """Return a line of which *covered* pieces draw what is counted as the power of their switches."""
    if not covered:
        return row
    which = "power" if covered == row.count else f"power of {covered:,}"
    note = "; ".join(text for text in (row.note, f"{which} counted with the switches") if text)
    if covered == row.count:
        return replace(row, note=note, added_power_w=0.0)
    added = None if row.power_w is None else row.power_w * (row.count - covered) / row.count
    return replace(row, note=note, added_power_w=added)


def _modules_of(cluster: Cluster, fabric: int) -> NDArray[np.bool_]:
    """Whether each transceiver sits in a cage with a port of the fabric."""
    ports, modules = cluster.ports, cluster.modules
    inside = np.flatnonzero(ports.fabric == fabric)
    cages = np.sort(ports.device[inside].astype(np.int64) << 16 | ports.cage[inside])
    wanted = modules.device.astype(np.int64) << 16 | modules.cage
    at = np.searchsorted(cages, wanted)
    found: NDArray[np.bool_] = np.append(cages, -1)[at] == wanted
    return found


def _rack_rows(shop: _Shop, supply: RackSupply) -> list[BillRow]:
    """Return the racks that are sold with servers, the other racks, and the PDUs beside all of them."""
    prices = shop.prices
    counts: dict[str, int] = {}
    for row in supply.rows:
        counts[row.part] = counts.get(row.part, 0) + row.racks
    empty = counts.pop("", 0)
    rows = [_sold_rack(shop, part_id, count) for part_id, count in sorted(counts.items())]
    items = ((RACK_ITEM, empty, ""), (PDU_ITEM, supply.pdus, supply.pdu_rule))
    for item, count, note in items:
        price, source = _price(None, item, prices)
        total = None if price is None else price * count
        if count:
            rows.append(
                BillRow(item, item, count, 0.0, total, note=note, price_source=source, added_power_w=0.0)
            )
    return rows


def _sold_rack(shop: _Shop, part_id: str, count: int) -> BillRow:
    part = shop.parts.get(part_id)
    price, source = _price(part, part_id, shop.prices)
    power, _ = _power_w(part)
    total_w = None if power is None else power * count
    return BillRow(
        part=part_id,
        kind=RACK_ITEM,
        count=count,
        power_w=total_w,
        added_power_w=total_w,
        price_usd=None if price is None else price * count,
        description=_text(part, "description"),
        price_source=source,
        model=_model(part),
        part_number=_text(part, "part_number"),
    )


def _row(shop: _Shop, number: int, kind: str, count: int, length_m: float = math.nan) -> BillRow:
    part_id = None if number == UNKNOWN else shop.cluster.parts[number]
    part = None if part_id is None else shop.parts.get(part_id)
    power, typical = _power_w(part)
    total_w = None if power is None else power * count
    price, source = (None, "") if part_id is None else _price(part, part_id, shop.prices)
    return BillRow(
        part=part_id,
        kind=kind,
        count=count,
        power_w=total_w,
        price_usd=None if price is None else price * count,
        description=_text(part, "description"),
        note=_UNFITTED if part_id is None else _note(part, typical, price is not None),
        length_m=None if math.isnan(length_m) else length_m,
        price_source=source,
        model=_model(part),
        part_number=_text(part, "part_number"),
        added_power_w=total_w,
        typical_power=typical,
    )


def _note(part: AnyPart | None, typical: bool, priced: bool) -> str:
    texts = (
        "typical power; the largest is not published" if typical else "",
        "" if priced else _foreign_price(part),
    )
    return "; ".join(text for text in texts if text)


def _price(part: AnyPart | None, name: str, prices: PriceList) -> tuple[float | None, str]:
    """Return the price of one piece and who says so: the user's list first, then the catalogue."""
    given = prices.get(name)
    if given is not None:
        return given.price_usd, given.source or given.where
    price: float | None = getattr(part, "price_usd", None)
    if part is None or price is None:
        return None, ""
    source = part.sources.get(part.source_of.get("price_usd", part.default_source))
    return price, source.title if source else ""


def _foreign_price(part: AnyPart | None) -> str:
    quoted = getattr(part, "price", None)
    return f"{quoted.amount:,.2f} {quoted.currency} each, not converted" if quoted else ""


def _power_w(part: AnyPart | None) -> tuple[float | None, bool]:
    """Return the power of one piece, and whether it is a typical one for want of the greatest."""
    if isinstance(part, CablePart) and part.max_power_w is None and part.technology in _PASSIVE:
        return 0.0, False
    if isinstance(part, CablePart | TransceiverPart | RackPart):
        return part.max_power_w, False
    own = own_power(part)
    return own.power_w, own.typical


def _text(part: AnyPart | None, field: str) -> str:
    return str(getattr(part, field, ""))


def _model(part: AnyPart | None) -> str:
    return "" if part is None else f"{part.vendor} {part.model}"
