"""A library, its settings and a job → the algorithms and protocols that may be used, and those that may not with the reason."""

from __future__ import annotations

from collections.abc import Container, Iterator
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase

from gpufabric.errors import InputError
from gpufabric.libraries.needs import Asking, Unmet, check_need, generation_of
from gpufabric.records.job_situation import JobSituation
from gpufabric.records.library_model import AlgorithmRule, LibraryModel, LibrarySettings, Need, Rating


@dataclass(frozen=True, slots=True)
class Candidate:
    """An algorithm with a protocol. ``fix`` are the settings that are missing for it; empty: it is allowed as things are.

    ``outranked`` is the rating by which the library prefers another algorithm; ``ask`` is then what of ``fix`` asks for
    this one. ``named`` are the settings that leave the library nothing but this algorithm and this protocol, empty where
    none do.
    """

    algorithm: str
    protocol: str
    fix: tuple[str, ...] = ()
    outranked: Rating | None = None
    ask: str = ""
    named: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Menu:
    """Everything that settings can reach, and (algorithm, reason) for what is not allowed as things are."""

    candidates: tuple[Candidate, ...]
    ruled_out: tuple[tuple[str, str], ...]

    @property
    def algorithms(self) -> tuple[str, ...]:
        """The algorithms to price: each once, allowed ones first."""
        ordered = sorted(self.candidates, key=lambda candidate: bool(candidate.fix))
        return tuple(dict.fromkeys(candidate.algorithm for candidate in ordered))


def lay_menu(model: LibraryModel, settings: LibrarySettings, situation: JobSituation, op: str) -> Menu:
    """Return the menu of an operation.

    Parameters
    ----------
    model : LibraryModel
        Of one version.
    settings : LibrarySettings
    situation : JobSituation
    op : str

    Raises
    ------
    InputError
        If the settings leave nothing for this operation.
    """
    asking = Asking(situation, settings, generation_of(model, situation.gpu), op)
    candidates: list[Candidate] = []
    ruled_out: dict[str, str] = {}
    for rule in (rule for rule in model.algorithms if op in rule.ops):
        unmet = list(_unmet(rule.needs, replace(asking, rule=rule)))
        if not any(not one.fix for one in unmet):
            unmet += _not_listed(rule, asking)
            candidates += _with_protocols(rule, model, asking, unmet)
        if unmet:
            ruled_out[rule.name] = "; ".join(one.reason for one in unmet)
    candidates = _rated(model, asking, candidates, ruled_out)
    if not any(not candidate.fix for candidate in candidates):
        candidates = _way_out(model, settings, op, candidates, ruled_out)
    return Menu(tuple(candidates), tuple(ruled_out.items()))


def _unmet(needs: tuple[Need, ...], asking: Asking) -> Iterator[Unmet]:
    for need in needs:
        found = check_need(need, asking)
        if found is not None:
            yield found


def _not_listed(rule: AlgorithmRule, asking: Asking) -> list[Unmet]:
    listed = asking.settings.algorithms.get(asking.op)
    if listed is None or not rule.spelling or rule.name in listed:
        return []
    return [Unmet("NCCL_ALGO leaves it out", (f"NCCL_ALGO={rule.spelling}",))]


def _with_protocols(
    rule: AlgorithmRule, model: LibraryModel, asking: Asking, unmet: list[Unmet]
) -> Iterator[Candidate]:
    fix = tuple(dict.fromkeys(text for one in unmet for text in one.fix))
    # Sends and receives have no list of protocols.
    listed = asking.settings.protocols.get(asking.op) if rule.spelling else None
    spelling = {protocol.name: protocol.spelling for protocol in model.protocols}
    for name in rule.protocols:
        if not _has_protocol(name, model, asking):
            continue
        missing = () if listed is None or name in listed else (f"NCCL_PROTO={spelling[name]}",)
        named = (f"NCCL_ALGO={rule.spelling}", f"NCCL_PROTO={spelling[name]}") if rule.spelling else ()
        yield Candidate(rule.name, name, (*fix, *missing), named=named)


def _has_protocol(name: str, model: LibraryModel, asking: Asking) -> bool:
    generation = asking.generation.name if asking.generation else ""
    return any(
        protocol.name == name
        and (not protocol.generations or generation in protocol.generations)
        and not list(_unmet(protocol.needs, asking))
        for protocol in model.protocols
    )


def rating_holds(rating: Rating, situation: JobSituation, settings: LibrarySettings) -> bool:
    """Return whether a library prefers one algorithm to another for this job."""
    given = {"least-channels": settings.least_channels is not None, "queue-pairs": settings.queue_pairs > 1}
    return (
        situation.nodes >= rating.least_nodes
        and situation.node_ranks >= rating.least_node_ranks
        and not any(fnmatchcase(situation.nic, nic) for nic in rating.not_nics)
        and not any(given[effect] for effect in rating.lifted_by)
    )


def lift_rating(candidate: Candidate) -> Candidate:
    """Return a candidate as it is where nothing is rated above it."""
    fix = tuple(text for text in candidate.fix if text != candidate.ask)
    return replace(candidate, fix=fix, outranked=None, ask="")


def rated_among(candidates: tuple[Candidate, ...], priced: Container[str]) -> tuple[Candidate, ...]:
    """Return *candidates*, none of them rated below an algorithm that turned out impossible on the wiring."""
    return tuple(
        lift_rating(c) if c.outranked and c.outranked.algorithm not in priced else c for c in candidates
    )


def _rated(
    model: LibraryModel, asking: Asking, candidates: list[Candidate], ruled_out: dict[str, str]
) -> list[Candidate]:
    spelling = {rule.name: rule.spelling for rule in model.algorithms}
    for rating in model.ratings:
        usable = any(c.algorithm == rating.algorithm and not c.fix for c in candidates)
        if not usable or asking.op not in rating.ops:
            continue
        if rating_holds(rating, asking.situation, asking.settings):
            ask = f"NCCL_ALGO={spelling[rating.above]}"
            ruled_out.setdefault(
                rating.above, f"the library rates {spelling[rating.algorithm]} above it here"
            )
            candidates = [
                replace(c, fix=tuple(dict.fromkeys((*c.fix, ask))), outranked=rating, ask=ask)
                if c.algorithm == rating.above
                else c
                for c in candidates
            ]
    return candidates


def _way_out(
    model: LibraryModel,
    settings: LibrarySettings,
    op: str,
    candidates: list[Candidate],
    ruled_out: dict[str, str],
) -> list[Candidate]:
    """Return *candidates* with what versions without lists by operation do when theirs leaves nothing: run a ring."""
    left_out = [
        c for c in candidates if c.algorithm == "ring" and all(f.startswith("NCCL_ALGO=") for f in c.fix)
    ]
    if model.lists_by_op_since is None and left_out:
        ruled_out.pop("ring", None)
        return [replace(c, fix=()) if c in left_out else c for c in candidates]
    said = ", ".join(
        f"{name}={settings.given[name]}" for name in ("NCCL_ALGO", "NCCL_PROTO") if name in settings.given
    )
    reasons = "; ".join(f"{name}: {reason}" for name, reason in ruled_out.items())
    why = f" ({reasons})" if reasons else ""
    raise InputError(
        f"{said or model.name}: nothing is left for {op} here{why}; allowed: "
        f"{', '.join(dict.fromkeys(c.algorithm for c in candidates)) or 'no algorithm'}; change the settings"
    )
