"""Links that join the right ports → those that are not of the right rate or part; missing links → missing uplinks."""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from gpufabric.formats.infiniband_nodes import LANE_RATE
from gpufabric.recognition.designed_places import DesignedPlaces
from gpufabric.recognition.diagnose_links import LinkDiagnosis
from gpufabric.recognition.found_slots import FoundSlots
from gpufabric.records.fabric_match import CablingFault
from gpufabric.units import counted, format_gbps

_RATE_TOLERANCE = 0.02  # rates are nominal on both sides; files round them
_WIDTHS = (1, 2, 4, 8, 12)
_FULL_WIDTHS = (4, 8, 12)  # a cable is sold with four lanes or more a link; fewer are lanes that are down
_UPLINKS_LEAST = 4
_UPLINKS_SHARE = 0.25


def wrong_rates(places: DesignedPlaces, slots: FoundSlots, links: LinkDiagnosis) -> list[CablingFault]:
    """Return the links that run at another rate than designed."""
    design, found = places.design, slots.found.cluster
    faults = []
    half = len(slots.near) // 2
    for row in range(half):
        port = int(links.port[slots.near[row]])
        link = int(places.link[port]) if port >= 0 else -1
        if link < 0 or not links.good[link]:
            continue
        is_rate, should = float(found.links.bytes_per_s[row]), float(design.links.bytes_per_s[link])
        if np.isnan(is_rate) or abs(is_rate - should) <= _RATE_TOLERANCE * should:
            continue
        ends = f"{places.label(int(links.a[link]))} and {places.label(int(links.b[link]))}"
        speed = slots.found.link_speed[row] if slots.found.link_speed else None
        told, why = _width_or_speed(speed, is_rate, should)
        faults.append(
            CablingFault(
                "wrong-rate",
                links.line_of(int(slots.near[row])),
                f"the link between {ends} runs at {format_gbps(is_rate)}{why}",
                *told,
                "reseat the cable; check that it is of the part in the plan, then the settings of both ports",
                (link,),
            )
        )
    return faults


def _width_or_speed(
    speed: tuple[int, str] | None, is_rate: float, should: float
) -> tuple[tuple[str, str], str]:
    """Return what was expected and found, and in the message what of both is wrong: lanes that are down, or the generation."""
    plain = format_gbps(should), format_gbps(is_rate)
    if speed is None:
        return plain, ""
    width, generation = speed
    lanes = should / LANE_RATE[generation]
    wanted = next(
        (name for name, rate in LANE_RATE.items() if abs(width * rate - should) <= _RATE_TOLERANCE * should),
        "",
    )
    if wanted and width in _FULL_WIDTHS:
        shown, why = f"{width}x{wanted}", f": speed {generation} instead of {wanted}"
    elif abs(lanes - round(lanes)) <= _RATE_TOLERANCE and round(lanes) in _WIDTHS:
        shown, why = f"{round(lanes)}x{generation}", f": width {width}x instead of {round(lanes)}x"
    else:
        return plain, f" ({width}x{generation})"
    return (f"{plain[0]} ({shown})", f"{plain[1]} ({width}x{generation})"), why


def wrong_cables(places: DesignedPlaces, slots: FoundSlots, links: LinkDiagnosis) -> list[CablingFault]:
    """Return the links whose cable is of another part than designed, where the files tell parts."""
    design, told = places.design, slots.found.link_part
    if not told:
        return []
    part = np.append(design.assemblies.part, -1)
    faults = []
    for row, found in enumerate(told):
        port = int(links.port[slots.near[row]])
        link = int(places.link[port]) if port >= 0 else -1
        if not found or link < 0 or not links.good[link]:
            continue
        planned = int(part[design.links.assembly[link]])
        if planned < 0 or design.parts[planned].lower() == found.lower():
            continue
        ends = f"{places.label(int(links.a[link]))} and {places.label(int(links.b[link]))}"
        faults.append(
            CablingFault(
                "wrong-cable",
                links.line_of(int(slots.near[row])),
                f"the cable between {ends} is a {found}",
                design.parts[planned],
                found,
                f"replace it by a {design.parts[planned]}, or note in the plan that it may stay",
                (link,),
            )
        )
    return faults


def group_uplinks(places: DesignedPlaces, faults: list[CablingFault]) -> list[CablingFault]:
    """Return the mistakes with many missing links from one switch to those above it told as one."""
    design = places.design
    lower = design.link_device_a
    up = np.bincount(lower[places.is_switch[lower]], minlength=len(places.is_switch))
    groups: dict[int, list[CablingFault]] = defaultdict(list)
    for fault in faults:
        if fault.kind == "missing-link" and places.is_switch[lower[fault.links[0]]]:
            groups[int(lower[fault.links[0]])].append(fault)
    told: set[int] = set()
    grouped = []
    for device, own in groups.items():
        if len(own) < max(_UPLINKS_LEAST, _UPLINKS_SHARE * up[device]):
            continue
        told.update(id(fault) for fault in own)
        name = places.device_names[device]
        grouped.append(
            CablingFault(
                "missing-uplinks",
                own[0].where,
                f"{name} lacks {counted(len(own), 'link')} to the switches above it",
                counted(int(up[device]), "link"),
                counted(int(up[device]) - len(own), "link"),
                "plug the cables in, or find where they went",
                tuple(link for fault in own for link in fault.links),
            )
        )
    return [*(fault for fault in faults if id(fault) not in told), *grouped]
