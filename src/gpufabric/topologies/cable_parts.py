"""Two cages, a rate and a wish → the cables and transceivers of the catalogue that join them, cheapest first."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

from gpufabric.errors import SpecError, UnbuildableError, did_you_mean, printable
from gpufabric.records.cluster_spec import CableChoice
from gpufabric.records.connectors import accepts
from gpufabric.records.parts import AnyPart, CablePart, TransceiverPart
from gpufabric.topologies.resolve_parts import PartSource
from gpufabric.units import counted, format_gbps

_TECHNOLOGIES = ("cat6", "dac", "acc", "aoc", "fibre")
_MEDIA = ("multimode", "single-mode")
_SAME = 1e-6


@dataclass(frozen=True, slots=True)
class CageEnd:
    """One end of a link: the cage's connector (empty when not known) and into how many ports the cage is split."""

    connector: str
    ports: int


@dataclass(frozen=True, slots=True)
class CableRun:
    """One way of cabling a kind of link.

    ``together`` says which links share an assembly: ``one`` none, ``cage-pair`` those between the same two cages, ``upper-cage``
    those that leave one cage of the upper device (a splitter). ``reach_m`` is the longest that works and is on sale, infinite
    where neither is known; ``lengths_m`` are the lengths on sale. ``price_usd`` is for one link, None when a part has none.
    """

    cable: str
    technology: str
    medium: str
    together: str
    lengths_m: tuple[float, ...]
    reach_m: float
    lower_transceiver: str | None = None
    upper_transceiver: str | None = None
    fibre_connector: str = ""
    price_usd: float | None = None


@dataclass(frozen=True, slots=True)
class LinkNeed:
    """What has to be joined: lower and upper cage, rate, network, and whether the links of a cage pair end in one cage each."""

    lower: CageEnd
    upper: CageEnd
    bytes_per_s: float
    network: str
    pairs_cages: bool
    splits_upper: bool

    def with_pairs(self, pairs_cages: bool) -> LinkNeed:
        """Return the same need for links whose cages are, or are not, joined to one other cage each."""
        return replace(self, pairs_cages=pairs_cages)


def cable_runs(need: LinkNeed, wish: CableChoice, catalog: PartSource, where: str) -> list[CableRun]:
    """Return every cabling of the catalogue that fits, the one to prefer first; the length is not looked at.

    Passive copper comes before active copper, active optical cable, multimode and single-mode fibre, and within these the
    shorter reach before the longer, because that is the order of their prices. Where all prices are known they decide instead.

    Raises
    ------
    SpecError
        If the part asked for is neither a cable nor a transceiver.
    UnbuildableError
        If a technology, medium or part is asked for that can't join these cages.
    """
    if not need.lower.connector or not need.upper.connector:
        return []
    wanted = _wanted_part(wish, catalog, where)
    runs = [*_plug_runs(need, catalog), *_fibre_runs(need, catalog)]
    runs = [run for run in runs if _is_wished(run, wish)]
    if not runs and (wish.technology or wish.part or wish.medium):
        raise UnbuildableError(f"{where}: {_why_not(need, wish, wanted)}", "technology: fibre")
    priced = all(run.price_usd is not None for run in runs)
    return sorted(runs, key=_price if priced else _preference)


def _price(run: CableRun) -> tuple[float, ...]:
    return (run.price_usd or 0.0, run.reach_m)


def _preference(run: CableRun) -> tuple[float, ...]:
    medium = _MEDIA.index(run.medium) if run.technology == "fibre" else 0
    return (_TECHNOLOGIES.index(run.technology), medium, run.reach_m)


def _is_wished(run: CableRun, wish: CableChoice) -> bool:
    parts = (run.cable, run.lower_transceiver, run.upper_transceiver)
    return (
        wish.technology in (None, run.technology)
        and wish.medium in (None, run.medium)
        and (wish.part is None or wish.part in parts)
    )


def _wanted_part(wish: CableChoice, catalog: PartSource, where: str) -> AnyPart | None:
    if wish.part is None:
        return None
    known = {part.id: part for kind in ("cable", "transceiver") for part in catalog.of_kind(kind)}
    if wish.part not in known:
        raise SpecError(
            f'{where}: cable part "{printable(wish.part)}" is unknown; known: {", ".join(sorted(known))}.'
            f"{did_you_mean(wish.part, known)}"
        )
    return known[wish.part]


def _why_not(need: LinkNeed, wish: CableChoice, wanted: AnyPart | None) -> str:
    rate = format_gbps(need.bytes_per_s)
    asked = wish.part or wish.technology or f"{wish.medium} fibre"
    plugs = wish.technology in {"dac", "acc", "aoc"} or (
        isinstance(wanted, CablePart) and wanted.technology != "fibre"
    )
    if plugs and need.lower.ports > 1 and not need.pairs_cages:
        return (
            f"{asked} can't be used, because the {counted(need.lower.ports, 'port')} of one {need.lower.connector} cage "
            "go to different devices and a copper or active cable has one plug a cage"
        )
    cages = f"{need.lower.connector} and {need.upper.connector}"
    if isinstance(wanted, TransceiverPart) and wanted.connector not in (
        need.lower.connector,
        need.upper.connector,
    ):
        return f"{asked} is {wanted.connector} and fits neither of the cages, which are {cages}"
    return f"no {asked} of the catalogue joins {cages} at {rate}"


def _fibre_runs(need: LinkNeed, catalog: PartSource) -> Iterator[CableRun]:
    modules = [part for part in catalog.of_kind("transceiver") if isinstance(part, TransceiverPart)]
    fibres = [
        p
        for p in catalog.of_kind("cable")
        if isinstance(p, CablePart) and p.technology == "fibre" and p.b_ends == 1
    ]
    lowers, uppers = ([m for m in modules if _module_fits(m, end, need)] for end in (need.lower, need.upper))
    for lower in lowers:
        for upper in uppers:
            for fibre in fibres:
                plugs = {fibre.a_connector, fibre.b_connector, lower.fibre_connector, upper.fibre_connector}
                if len(plugs) == 1 and lower.medium == upper.medium == fibre.medium:
                    yield _fibre_run(fibre, lower, upper)


def _fibre_run(fibre: CablePart, lower: TransceiverPart, upper: TransceiverPart) -> CableRun:
    prices = (fibre.price_usd, lower.price_usd, upper.price_usd)
    ports = (1, lower.ports, upper.ports)
    priced = [price / shared for price, shared in zip(prices, ports, strict=True) if price is not None]
    return CableRun(
        cable=fibre.id,
        technology="fibre",
        medium=fibre.medium,
        together="one",
        lengths_m=fibre.lengths_m,
        reach_m=min(_longest(fibre), lower.reach_m, upper.reach_m),
        lower_transceiver=lower.id,
        upper_transceiver=upper.id,
        fibre_connector=fibre.a_connector,
        price_usd=math.fsum(priced) if len(priced) == len(prices) else None,
    )


def _module_fits(module: TransceiverPart, end: CageEnd, need: LinkNeed) -> bool:
    return (
        accepts(end.connector, module.connector)
        and module.ports == end.ports
        and abs(module.port_bytes_per_s / need.bytes_per_s - 1) < _SAME
        and need.network in module.networks
    )


def _plug_runs(need: LinkNeed, catalog: PartSource) -> Iterator[CableRun]:
    for part in catalog.of_kind("cable"):
        if (
            not isinstance(part, CablePart)
            or part.technology not in _TECHNOLOGIES[:-1]
            or need.network not in part.networks
        ):
            continue
        if part.link_bytes_per_s is None or abs(part.link_bytes_per_s / need.bytes_per_s - 1) > _SAME:
            continue
        upper, lower = need.upper.connector, need.lower.connector
        fits = accepts(upper, part.a_connector) and accepts(lower, part.b_connector)
        turned = accepts(lower, part.a_connector) and accepts(upper, part.b_connector)
        straight = part.b_ends == 1 and part.links == need.lower.ports == need.upper.ports
        if straight and (fits or turned) and (part.links == 1 or need.pairs_cages):
            yield _plug_run(part, "cage-pair" if part.links > 1 else "one")
        splits = part.b_ends == part.links == need.upper.ports and part.b_ends > 1
        if splits and fits and need.splits_upper:
            yield _plug_run(part, "upper-cage")


def _plug_run(part: CablePart, together: str) -> CableRun:
    return CableRun(
        cable=part.id,
        technology=part.technology,
        medium=part.medium,
        together=together,
        lengths_m=part.lengths_m,
        reach_m=_longest(part),
        price_usd=None if part.price_usd is None else part.price_usd / part.links,
    )


def _longest(part: CablePart) -> float:
    return min(part.reach_m or math.inf, max(part.lengths_m, default=math.inf))
