"""A design and a found fabric → what was cabled otherwise, as the mistakes that people make."""

from __future__ import annotations

from collections import Counter

import numpy as np
from numpy.typing import NDArray

from gpufabric.recognition.alike_names import duplicate_names
from gpufabric.recognition.designed_places import DesignedPlaces
from gpufabric.recognition.diagnose_links import LinkDiagnosis, links_of_devices
from gpufabric.recognition.diagnose_rates import group_uplinks, wrong_cables, wrong_rates
from gpufabric.recognition.extra_links import extra_links
from gpufabric.recognition.found_slots import FoundSlots
from gpufabric.recognition.match_ports import match_ports, place_leftovers
from gpufabric.records.cluster import Cluster
from gpufabric.records.fabric_match import CablingFault, FabricMatch
from gpufabric.records.found_fabric import FoundFabric
from gpufabric.records.part_lookup import PartLookup
from gpufabric.units import counted

Int = NDArray[np.int64]
_EXCHANGED_SHARE = 0.6
_EXCHANGED_LEAST = 2


def diagnose_cabling(
    design: Cluster, found: FoundFabric, match: FabricMatch, parts: PartLookup | None = None
) -> list[CablingFault]:
    """Return the mistakes that explain all differences between a found fabric and its design.

    Parameters
    ----------
    design
    found
    match
        From :func:`gpufabric.recognition.match_fabric.match_fabric` on the same two.
    parts
        Parts by id, for the labels on server chassis.

    Returns
    -------
    list of CablingFault
        Empty where the fabric is as designed, as far as its files tell.
    """
    places, slots = DesignedPlaces(design, parts), FoundSlots(found)
    device = match.device.astype(np.int64)
    port = match.port.astype(np.int64)
    known = port >= 0
    slots.slot[known] = places.slot[port[known]]
    exchanged = _exchanged(places, slots, device, port)
    for one, other in exchanged:
        rows = device == one, device == other
        device[rows[0]], device[rows[1]] = other, one
    if exchanged:
        slots = FoundSlots(found)
        port = match_ports(places, slots, device)
        place_leftovers(places, slots, device, port, match.in_scope)
    links = LinkDiagnosis(places, slots, device, port, match.in_scope)
    faults = [_exchange_fault(places, links, pair) for pair in exchanged]
    told: set[int] = set()
    faults += _missing_devices(places, links, device, match.in_scope, told)
    faults += _foreign_devices(places, slots, links, device, told)
    faults += duplicate_names(places, slots, device)
    faults += links.faults(told)
    faults += extra_links(places, slots, links, device)
    faults += wrong_rates(places, slots, links)
    faults += wrong_cables(places, slots, links)
    return group_uplinks(places, faults)


def _exchanged(places: DesignedPlaces, slots: FoundSlots, device: Int, port: Int) -> list[tuple[int, int]]:
    """Return pairs of devices of one role of which each has most of its links where the other should have them.

    Two exchanged leaves look like exchanged servers below them too: the pair that explains most links comes first, and what it
    explains speaks for no other.
    """
    near, far = port[slots.near], port[slots.far]
    known = (near >= 0) & (far >= 0)
    near, far = near[known], far[known]
    expected = places.peer[near]
    known = expected >= 0
    near, far, expected = near[known], far[known], expected[known]
    ends = np.stack([places.device[near], places.device[far], places.device[expected]])
    away = (places.slot[expected] == places.slot[far]) & (ends[2] != ends[1])
    pairs: list[tuple[int, int]] = []
    while (pair := _most_exchanged(places, ends, away)) is not None:
        pairs.append(pair)
        left = ~np.isin(ends, pair).any(axis=0)
        ends, away = ends[:, left], away[left]
    return sorted(pairs)


def _most_exchanged(places: DesignedPlaces, ends: Int, away: NDArray[np.bool_]) -> tuple[int, int] | None:
    if not away.any():
        return None
    total = np.bincount(ends[1])
    votes = Counter(zip(ends[2, away].tolist(), ends[1, away].tolist(), strict=True))
    roles = places.design.devices.role
    best, most = None, 0
    for (one, other), count in sorted(votes.items()):
        back = votes.get((other, one), 0)
        if one > other or roles[one] != roles[other] or min(count, back) <= most:
            continue
        if min(count, back) >= max(_EXCHANGED_LEAST, _EXCHANGED_SHARE * max(total[one], total[other])):
            best, most = (one, other), min(count, back)
    return best


def _exchange_fault(places: DesignedPlaces, links: LinkDiagnosis, pair: tuple[int, int]) -> CablingFault:
    one, other = (places.device_names[device] for device in pair)
    rows = np.flatnonzero(np.isin(places.device, pair) & (links.found_at >= 0))
    where = next(
        (links.line_of(int(links.found_at[row])) for row in rows if links.far[links.found_at[row]] >= 0), one
    )
    return CablingFault(
        "exchanged-devices",
        where,
        f"{one} and {other} are exchanged: each has the cables of the other",
        f"{one} in its own place",
        f"{other} in the place of {one}",
        "exchange their names and settings, which is one step, or all of their cables",
        devices=(one, other),
    )


def _missing_devices(
    places: DesignedPlaces, links: LinkDiagnosis, device: Int, in_scope: NDArray[np.bool_], told: set[int]
) -> list[CablingFault]:
    matched = set(device.tolist())
    bad = links_of_devices(places, links.bad)
    whole = links_of_devices(places, np.flatnonzero(in_scope))
    faults = []
    for row, own in sorted(bad.items()):
        if row in matched or len(own) < len(whole[row]):
            continue
        fresh = [link for link in own if link not in told]
        told.update(own)
        name = places.device_names[row]
        faults.append(
            CablingFault(
                "missing-device",
                name,
                f"{name} was not found, with {counted(len(own), 'link')}",
                "a device of this name, or of this wiring",
                "none",
                "check that it is powered, and that it has the name of the plan",
                tuple(fresh),
                devices=(name,),
            )
        )
    return faults


def _foreign_devices(
    places: DesignedPlaces, slots: FoundSlots, links: LinkDiagnosis, device: Int, told: set[int]
) -> list[CablingFault]:
    faults = []
    ends: dict[int, list[tuple[int, int]]] = {}
    for near, far in zip(slots.near.tolist(), slots.far.tolist(), strict=True):
        if device[slots.device[near]] < 0:
            ends.setdefault(int(slots.device[near]), []).append((near, far))
    for row in np.flatnonzero(device < 0).tolist():
        own = ends.get(row, [])
        if not own and slots.shared[row]:
            continue  # it may be the end of a missing link
        designed = [int(links.port[far]) for _, far in own]
        taken = tuple(int(places.link[port]) for port in designed if port >= 0 and places.link[port] >= 0)
        told.update(taken)
        neighbours = ", ".join(links.label(far) for _, far in own[:3]) or "nothing"
        faults.append(
            CablingFault(
                "foreign-device",
                links.line_of(own[0][0]) if own else slots.names[row],
                f"{slots.names[row]} is in no place of the design; it is linked with {neighbours}{', …' if len(own) > 3 else ''}",
                "only devices of the design",
                slots.names[row],
                "add it to the description, or unplug it",
                taken,
                devices=(slots.names[row],),
            )
        )
    return faults
