"""A design and files of the running fabric → as built against as designed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from gpufabric.formats.found_merge import merge_found
from gpufabric.jobs.cost_of_faults import CostedDesign, cost_of_faults
from gpufabric.jobs.found_wiring import found_wiring, match_through
from gpufabric.recognition.describe_faults import findings_of_faults
from gpufabric.recognition.designed_places import DesignedPlaces
from gpufabric.recognition.diagnose_cabling import diagnose_cabling
from gpufabric.recognition.links_in_view import breaks_off, devices_that_tell, links_in_view
from gpufabric.recognition.match_fabric import match_fabric
from gpufabric.recognition.order_repairs import order_repairs
from gpufabric.records.as_built import DesignOf, FaultCost, WiringCheck, WiringMatch
from gpufabric.records.calibration import Calibration
from gpufabric.records.cluster import Cluster
from gpufabric.records.fabric_match import CablingFault, FabricMatch, MatchedBy
from gpufabric.records.findings import Finding
from gpufabric.records.found_fabric import FoundFabric
from gpufabric.records.part_lookup import PartLookup
from gpufabric.units import counted, format_gbps

_UNLIKELY = 0.125
_AGREEING_LEAST = 0.5
_COST_NOTE = (
    "costs: a new job on the wiring as found, at the rates that the files tell (nominal where they tell none); "
    "servers without any link are left out of both figures"
)


@dataclass(frozen=True, slots=True)
class WiringDesign:
    """What was meant to be built.

    ``costed`` is None where nothing can be predicted; ``racks`` are names by device.
    """

    cluster: Cluster
    of: DesignOf
    parts: PartLookup | None
    costed: CostedDesign | None
    racks: dict[str, str]


@dataclass(frozen=True, slots=True)
class CheckedWiring:
    """The outcome, with what a drawing of it needs: the mistakes and the match."""

    check: WiringCheck
    faults: tuple[CablingFault, ...]
    match: FabricMatch
    found: FoundFabric


def check_wiring(
    design: WiringDesign,
    fabrics: Sequence[FoundFabric],
    calibration: Calibration | None = None,
    match: FabricMatch | None = None,
) -> CheckedWiring:
    """Compare what was built with what was meant.

    Parameters
    ----------
    design
    fabrics
        What each file tells; at least one.
    calibration
        For the cost of faults; None: the shipped one.
    match
        How the fabrics together lie over the design, where that is known.

    Raises
    ------
    InputError
        If there is no fabric.
    """
    found, unlikely = _without_unlikely_rates(merge_found(fabrics), design.cluster)
    match = match or match_fabric(design.cluster, found, design.parts)
    faults = tuple(diagnose_cabling(design.cluster, found, match, design.parts))
    summary = _summary(design, found, match, faults)
    unlike = _not_matched(summary, len(found.cluster.links))
    if design.of == "inferred":
        faults = tuple(
            replace(fault, confidence=min(fault.confidence, summary.certainty)) for fault in faults
        )
    faults = () if unlike else faults
    places = DesignedPlaces(design.cluster, design.parts)
    rack_of: Callable[[str], str] = lambda name: design.racks.get(name, "")  # noqa: E731
    costs: tuple[FaultCost, ...] = ()
    if faults and design.costed is not None:
        costs = _costs(design, design.costed, found, match, calibration)
    named_twice = {fault.devices[0].lower() for fault in faults if fault.kind == "duplicate-name"}
    told = [
        finding
        for finding in found.findings
        if finding.rule != "found-no-links" or not len(found.cluster.links)
        if not any(f'"{name}"' in finding.message for name in named_twice)
    ]
    check = WiringCheck(
        match=summary,
        findings=(*unlike, *_breaks_off(found), *findings_of_faults(faults), *told),
        repairs=order_repairs(faults, places, rack_of),
        costs=costs,
        assumptions=(
            *unlikely,
            *_out_of_view(design.cluster, found, match),
            *((_COST_NOTE,) if costs else ()),
        ),
        lines_read=found.lines_read,
        lines_not_understood=found.lines_not_understood,
    )
    return CheckedWiring(check, faults, match, found)


def _costs(
    design: WiringDesign,
    costed: CostedDesign,
    found: FoundFabric,
    match: FabricMatch,
    calibration: Calibration | None,
) -> tuple[FaultCost, ...]:
    if costed.device is not None and costed.port is not None:
        match = match_through(design.cluster, match, (costed.cluster, costed.device, costed.port))
    return cost_of_faults(costed, found_wiring(costed.cluster, found, match), calibration)


def _not_matched(match: WiringMatch, links_found: int) -> tuple[Finding, ...]:
    """Return one finding where the names say nothing and the wiring agrees too little for single mistakes to be named."""
    agreeing = match.links_as_designed / max(links_found, 1)
    if not links_found or agreeing >= _AGREEING_LEAST or 2 * match.devices_by_name > match.devices_found:
        return ()
    return (
        Finding(
            "built-not-matched",
            "error",
            "all files",
            f"the fabric could not be matched with the {match.design}: by names {match.devices_by_name:,} of "
            f"{counted(match.devices_found, 'device')} are in it, by the wiring at best {match.links_as_designed:,} of "
            f"{counted(links_found, 'link')}",
            expected=f"{counted(match.links, 'link')} of the {match.design}",
            found=counted(links_found, "link"),
            fix="check that both are of one cluster; else give some devices the names of the plan, a leaf of each unit first, or "
            "give a file that numbers ports, such as ibnetdiscover",
        ),
    )


def _without_unlikely_rates(found: FoundFabric, design: Cluster) -> tuple[FoundFabric, tuple[str, ...]]:
    """Take no rates from files that tell one far too low rate of every link, as those of simulators do."""
    links = found.cluster.links
    told = np.unique(links.bytes_per_s[~np.isnan(links.bytes_per_s)])
    if len(told) != 1 or not len(design.links) or told[0] > _UNLIKELY * float(design.links.bytes_per_s.min()):
        return found, ()
    unknown = replace(links, bytes_per_s=np.full(len(links), np.nan))
    cluster = replace(found.cluster, links=unknown)
    rate = format_gbps(float(told[0]))
    said = (
        f"rates are not judged: the files tell {rate} of all {len(links):,} links, as those of simulators do"
    )
    return replace(found, cluster=cluster), (said,)


def _out_of_view(design: Cluster, found: FoundFabric, match: FabricMatch) -> tuple[str, ...]:
    """Say how much of the design no file can tell of."""
    view = links_in_view(design, found, match.device.astype(np.int64))
    if view.all():
        return ()
    return (
        f"in view: {int(view.sum()):,} of {len(view):,} links of the design; "
        "the others are between devices that tell nothing here",
    )


def _breaks_off(found: FoundFabric) -> list[Finding]:
    """Return a finding on files that end before all that they name has told of itself."""
    if not breaks_off(found):
        return []
    silent = int((~devices_that_tell(found)).sum())
    return [
        Finding(
            "found-file-cut",
            "warning",
            found.files[0],
            f"{counted(silent, 'device')} named by others {'has' if silent == 1 else 'have'} no record here: "
            "the files break off; only links that the others tell of are compared",
            expected="a record of each device",
            found=f"none of {silent:,} of {len(found.cluster.devices):,}",
            fix="take the output again and give all of it",
        )
    ]


def _summary(
    design: WiringDesign, found: FoundFabric, match: FabricMatch, faults: Sequence[CablingFault]
) -> WiringMatch:
    matched = match.device >= 0
    bad = np.unique([link for fault in faults for link in fault.links])
    links = int(match.in_scope.sum())
    ends = design.cluster.link_device_a, design.cluster.link_device_b
    wanted = (
        np.unique(np.concatenate([end[match.in_scope] for end in ends])) if links else np.array([], np.int64)
    )
    return WiringMatch(
        design=design.of,
        formats=found.formats,
        devices_found=len(matched),
        devices_by_name=int((match.how[matched] == MatchedBy.NAME).sum()),
        devices_by_wiring=int((match.how[matched] == MatchedBy.WIRING).sum()),
        devices_foreign=int((~matched).sum()),
        devices_missing=len(np.setdiff1d(wanted, match.device[matched])),
        certainty=float(match.certainty[matched].min()) if matched.any() else 0.0,
        links=links,
        links_as_designed=links - len(bad),
    )
