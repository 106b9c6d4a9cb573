"""Two cages, a rate and a wish → the cable and transceivers of the catalogue that join them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from gpufabric.errors import SpecError, UnbuildableError
from gpufabric.records.cluster_spec import CableChoice
from gpufabric.records.parts import CablePart, TransceiverPart
from gpufabric.topologies.resolve_parts import PartSource
from gpufabric.units import format_gbps

_DEFAULT_ORDER = ("fibre", "aoc", "acc", "dac")
_SAME = 1e-6


@dataclass(frozen=True, slots=True)
class CageEnd:
    """One end of a link: the cage's connector (empty when not known) and into how many ports the cage is split."""

    connector: str
    ports: int


@dataclass(frozen=True, slots=True)
class CableRun:
    """How one kind of link is cabled.

    ``together`` says which links share an assembly: ``one`` none, ``cage-pair`` those between the same two cages, ``upper-cage``
    those that leave one cage of the upper device (a splitter).
    """

    cable: str | None
    together: str
    lower_transceiver: str | None = None
    upper_transceiver: str | None = None


@dataclass(frozen=True, slots=True)
class LinkNeed:
    """What has to be joined: lower and upper cage, rate, network, and whether the links of a cage pair end in one cage each."""

    lower: CageEnd
    upper: CageEnd
    bytes_per_s: float
    network: str
    pairs_cages: bool
    splits_upper: bool


def choose_cable(need: LinkNeed, wish: CableChoice, catalog: PartSource, where: str) -> CableRun | None:
    """Return the first cabling of the catalogue that fits, None when none does.

    Without a wish, transceivers and fibre come first, because they always fit; then active optical cable, then copper.

    Raises
    ------
    SpecError
        If the part asked for is not a cable.
    UnbuildableError
        If a technology or part is asked for that can't join these cages.
    """
    if not need.lower.connector or not need.upper.connector:
        return None
    wanted = _wanted_part(wish, catalog, where)
    order = (wish.technology,) if wish.technology else (wanted.technology,) if wanted else _DEFAULT_ORDER
    for technology in order:
        runs = (
            _fibre_runs(need, wish, catalog)
            if technology == "fibre"
            else _plug_runs(need, technology, catalog)
        )
        for run in runs:
            if wanted is None or run.cable == wanted.id:
                return run
    if wish.technology or wish.part:
        raise UnbuildableError(
            f"{where}: {_why_not(need, wish.part or wish.technology or '')}", "technology: fibre"
        )
    return None


def _wanted_part(wish: CableChoice, catalog: PartSource, where: str) -> CablePart | None:
    if wish.part is None:
        return None
    cables = {part.id: part for part in catalog.of_kind("cable") if isinstance(part, CablePart)}
    if wish.part not in cables:
        raise SpecError(f'{where}: cable part "{wish.part}" is unknown; known: {", ".join(sorted(cables))}')
    return cables[wish.part]


def _why_not(need: LinkNeed, asked: str) -> str:
    rate = format_gbps(need.bytes_per_s)
    if need.lower.ports > 1 and not need.pairs_cages:
        return (
            f"{asked} can't be used, because the {need.lower.ports} ports of one {need.lower.connector} cage "
            "go to different devices and a copper or active cable has one plug a cage"
        )
    return f"no {asked} of the catalogue joins {need.lower.connector} and {need.upper.connector} at {rate}"


def _fibre_runs(need: LinkNeed, wish: CableChoice, catalog: PartSource) -> Iterator[CableRun]:
    modules = [part for part in catalog.of_kind("transceiver") if isinstance(part, TransceiverPart)]
    fibres = [
        p
        for p in catalog.of_kind("cable")
        if isinstance(p, CablePart) and p.technology == "fibre" and p.b_ends == 1
    ]
    for medium in (wish.medium,) if wish.medium else ("multimode", "single-mode"):
        ends = [
            [m for m in modules if m.medium == medium and _module_fits(m, end, need)]
            for end in (need.lower, need.upper)
        ]
        for lower in ends[0]:
            for upper in ends[1]:
                for fibre in fibres:
                    same = (
                        fibre.medium == medium
                        and fibre.a_connector == lower.fibre_connector == upper.fibre_connector
                    )
                    if same and fibre.a_connector == fibre.b_connector:
                        yield CableRun(fibre.id, "one", lower.id, upper.id)


def _module_fits(module: TransceiverPart, end: CageEnd, need: LinkNeed) -> bool:
    return (
        module.connector == end.connector
        and module.ports == end.ports
        and abs(module.port_bytes_per_s / need.bytes_per_s - 1) < _SAME
        and need.network in module.networks
    )


def _plug_runs(need: LinkNeed, technology: str, catalog: PartSource) -> Iterator[CableRun]:
    for part in catalog.of_kind("cable"):
        if (
            not isinstance(part, CablePart)
            or part.technology != technology
            or need.network not in part.networks
        ):
            continue
        if part.link_bytes_per_s is None or abs(part.link_bytes_per_s / need.bytes_per_s - 1) > _SAME:
            continue
        plugs = (part.a_connector, part.b_connector) == (need.upper.connector, need.lower.connector)
        straight = part.b_ends == 1 and part.links == need.lower.ports == need.upper.ports
        if plugs and straight and (part.links == 1 or need.pairs_cages):
            yield CableRun(part.id, "cage-pair" if part.links > 1 else "one")
        if plugs and part.b_ends > 1 and part.b_ends == part.links == need.upper.ports and need.splits_upper:
            yield CableRun(part.id, "upper-cage")
