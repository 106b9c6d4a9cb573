"""Kinds of rack → what the room must bring to each: feeds, PDUs and cooling air.

Sources, in secondary readings of 2026-09:

- "DGX SuperPOD data center best practices with DGX B200", https://docs.nvidia.com/dgx-pdf/
  nvidia-dgx-superpod-data-center-best-practices-with-dgx-b200.pdf: two feeds a rack, each carrying half of its peak; three-phase
  380 V 32 A for two DGX B200 and 415 V 60 A for four; 4,290 CFM for 28.6 kW, which is 0.15 CFM for each W.
- "DGX SuperPOD reference architecture for DGX B200", https://docs.nvidia.com/dgx-superpod/
  reference-architecture-scalable-infrastructure-b200/latest/index.html: PDUs of 415 V 60 A, rated 34.5 kVA.

How many PDUs a rack has is decided in floorplan/rack_pdus.py.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from gpufabric.floorplan.rack_pdus import FEEDS, PDU_W, all_dgx, rack_pdus
from gpufabric.records.cluster import Cluster, DeviceKind
from gpufabric.records.floor_plan import FloorPlan
from gpufabric.records.part_lookup import PartLookup
from gpufabric.records.parts import ServerPart
from gpufabric.report.rack_groups import RackGroup
from gpufabric.units import format_power

CFM_PER_W = 0.15
_SMALL_CIRCUIT_W = math.sqrt(3) * 380 * 32
_SMALL_CIRCUIT, _LARGE_CIRCUIT = "three-phase 380 V 32 A", "three-phase 415 V 60 A"
_NAMES_SHOWN = 4


@dataclass(frozen=True, slots=True)
class RackRow:
    """Racks of one kind and what each of them needs.

    Every figure but ``racks`` is for one rack, that which draws most. ``power_w`` is the sum of what is known. It is a lower
    bound when ``unknown_power`` devices, those whose greatest power is not wholly known, are above 0, as are ``feed_w`` and
    ``airflow_cfm`` then; these are None when nothing is known. ``limit_w`` is None where the room does not say. ``part`` is the
    rack that is sold with its servers in it, empty for any other: its power is that of the part, it has no PDUs, and its air is
    not known, because nobody says which share of its heat goes into liquid.
    """

    purpose: str
    racks: int
    names: str
    devices: int
    units: int
    units_used: int
    power_w: float | None
    unknown_power: int
    limit_w: float | None
    feeds: int
    feed_w: float | None
    feed_circuit: str
    pdus: int
    airflow_cfm: float | None
    part: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return the row as plain JSON values."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class RackSupply:
    """Rows for all kinds of rack, with totals; ``pdu_rule`` and ``assumptions`` say how the figures were reached.

    Where ``pdus_follow_power`` the number of PDUs is a lower bound if the power is one. ``airflow_cfm``
    leaves out ``racks_without_air``.
    """

    rows: tuple[RackRow, ...]
    racks: int
    pdus: int
    airflow_cfm: float
    unknown_power: int
    pdu_rule: str
    pdus_follow_power: bool
    assumptions: tuple[str, ...]
    racks_without_air: int = 0

    def to_dict(self) -> dict[str, Any]:
        """Return the supply as plain JSON values."""
        return asdict(self) | {"rows": [row.to_dict() for row in self.rows]}


def rack_supply(
    cluster: Cluster, plan: FloorPlan, parts: PartLookup, groups: Sequence[RackGroup]
) -> RackSupply:
    """Return what every kind of rack needs.

    Air is the larger of 0.15 CFM for each W and the flow that the data sheets of the servers ask for. A rack of DGX servers gets
    the PDUs of the DGX H100 reference architecture; any other one gets two equal groups of PDUs of 34.5 kVA, each carrying half.

    Parameters
    ----------
    cluster
    plan
    parts
        Parts by id, for the air flow of servers.
    groups
        What :func:`gpufabric.report.rack_groups.rack_groups` returns of the same cluster and plan.
    """
    dgx = all_dgx(cluster)
    pdus = rack_pdus(cluster, plan).tolist()
    names = plan.racks.names
    rows = tuple(_row(cluster, parts, group, names, pdus[int(group.racks[0])]) for group in groups)
    rule = (
        "3 a compute rack and 2 any other, as in the DGX SuperPOD reference architecture for DGX H100"
        if dgx
        else f"two equal groups a rack, each for half of its power, of PDUs of {format_power(PDU_W)} (power factor 1 assumed)"
    )
    unknown = int(np.count_nonzero(plan.unsure_power))
    assumptions = [
        f"PDUs: {rule}",
        "feeds: two a rack, each carrying half of its greatest power; a rack that must outlive a feed needs twice that",
        f"cooling air: all power counts as air-cooled, {CFM_PER_W:g} CFM for each W, or what the servers' data sheets ask for "
        "if that is more",
    ]
    sold = sorted({row.part for row in rows if row.part})
    if sold:
        assumptions.append(
            f"{', '.join(sold)}: power is that of the whole rack; it has power shelves and no PDUs; which share of its heat goes "
            "into liquid is not known, so that it has no figure of cooling air"
        )
    if unknown:
        assumptions.append(
            f"greatest power of {unknown:,} devices is not wholly known: power, feeds and air of their racks are lower bounds"
        )
    return RackSupply(
        rows=rows,
        racks=sum(row.racks for row in rows),
        pdus=sum(row.racks * row.pdus for row in rows),
        airflow_cfm=math.fsum(_air_of_all(cluster, parts, plan, group) for group in groups if not group.part),
        unknown_power=unknown,
        pdu_rule=rule,
        pdus_follow_power=not dgx,
        assumptions=tuple(assumptions),
        racks_without_air=sum(row.racks for row in rows if row.part),
    )


def _row(cluster: Cluster, parts: PartLookup, group: RackGroup, names: Sequence[str], pdus: int) -> RackRow:
    feed = group.power_w / FEEDS
    known = not group.power_unknown
    placed = int((cluster.devices.kind[group.devices] == DeviceKind.PDU).sum())
    air = max(CFM_PER_W * group.power_w, _asked_for(cluster, parts, group))
    return RackRow(
        purpose=group.purpose,
        racks=len(group.racks),
        names=_name_list(
            [names[rack] for rack in group.racks[: _NAMES_SHOWN + 1].tolist()], len(group.racks)
        ),
        devices=len(group.devices),
        units=group.units,
        units_used=group.units_used,
        power_w=group.power_w if known else None,
        unknown_power=group.unknown_power,
        limit_w=None if math.isnan(group.limit_w) else group.limit_w,
        feeds=FEEDS,
        feed_w=feed if known else None,
        feed_circuit=_circuit(feed) if known else "",
        pdus=max(pdus, placed),
        airflow_cfm=air if air and not group.part else None,
        part=group.part,
    )


def _air_of_all(cluster: Cluster, parts: PartLookup, plan: FloorPlan, group: RackGroup) -> float:
    """Return the cooling air of all racks of a kind, each by its own power, in CFM."""
    by_power = CFM_PER_W * plan.rack_power_w[group.racks]
    return float(np.maximum(by_power, _asked_for(cluster, parts, group)).sum())


def _circuit(feed_w: float) -> str:
    """Return the smallest published circuit that carries a feed."""
    if feed_w <= _SMALL_CIRCUIT_W:
        return _SMALL_CIRCUIT
    circuits = math.ceil(feed_w / PDU_W)
    return _LARGE_CIRCUIT if circuits == 1 else f"{circuits} × {_LARGE_CIRCUIT}"


def _asked_for(cluster: Cluster, parts: PartLookup, group: RackGroup) -> float:
    """Return the air flow that data sheets name for the servers of a rack, in CFM."""
    numbers = cluster.devices.part[group.devices].tolist()
    found = (parts.get(cluster.parts[number]) for number in numbers if number >= 0)
    return math.fsum(part.airflow_cfm or 0.0 for part in found if isinstance(part, ServerPart))


def _name_list(names: Sequence[str], count: int) -> str:
    return (
        ", ".join(names)
        if count <= _NAMES_SHOWN
        else f"{', '.join(names[:_NAMES_SHOWN])} and {count - _NAMES_SHOWN:,} more"
    )
