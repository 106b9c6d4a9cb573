"""Priced algorithms and a library's rules → what it would run for a message, and the best that its settings allow."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase

from gpufabric.errors import InputError, did_you_mean, printable
from gpufabric.libraries.binding_limit import Rated, find_limit
from gpufabric.libraries.estimate import estimate
from gpufabric.libraries.known_rates import known_rates
from gpufabric.libraries.lifted_limits import lift_limits, setting_of
from gpufabric.libraries.limit_rates import limit_rates
from gpufabric.libraries.menu import Candidate, Menu, lay_menu, lift_rating, rated_among
from gpufabric.libraries.needs import generation_of
from gpufabric.records.calibration import Calibration
from gpufabric.records.estimate import Considered, Estimate, LibraryChoice
from gpufabric.records.job_situation import JobSituation
from gpufabric.records.library_model import LibraryModel, LibrarySettings, Tuning
from gpufabric.records.priced_algorithm import PricedAlgorithm, PricedMenu

#: What gains less than this is not worth a setting.
WORTH = 0.01


@dataclass(frozen=True, slots=True)
class Forced:
    """What the user wants to see whatever the library would do; None leaves it the choice.

    With ``only``, nothing else is considered, not even as attainable. With ``by_library`` it is what the library runs by itself,
    so its settings, not ours, lead to something else.
    """

    algorithm: str | None = None
    protocol: str | None = None
    only: bool = False
    by_library: bool = False


FREE = Forced()
"""Nothing is forced."""


def candidates_of(menu: Menu, forced: Forced) -> tuple[Candidate, ...]:
    """Return the candidates of a job with what is forced taken as allowed.

    Parameters
    ----------
    menu : Menu
    forced : Forced
        An algorithm outside of the menu is a what-if with the protocol ``simple``.

    Raises
    ------
    InputError
        If the algorithm can't run here, or the protocol not with it.
    """
    found = menu.candidates
    if forced.by_library:
        return tuple(_beside(c, forced) for c in found)
    if forced.algorithm is not None:
        chosen = [replace(c, fix=()) for c in found if c.algorithm == forced.algorithm]
        reasons = dict(menu.ruled_out)
        if not chosen and forced.algorithm in reasons:
            raise InputError(
                f"algorithm {forced.algorithm}: {reasons[forced.algorithm]}; allowed here: "
                f"{', '.join(menu.algorithms)}; choose one of them"
            )
        others = [
            replace(c, fix=c.fix or ("--algorithm left out",))
            for c in found
            if c.algorithm != forced.algorithm
        ]
        found = (*(chosen or [Candidate(forced.algorithm, "simple")]), *others)
    if forced.protocol is None:
        return found
    known = tuple(dict.fromkeys(c.protocol for c in found if not c.fix))
    if forced.protocol not in known:
        raise InputError(
            f'protocol "{printable(forced.protocol)}" can\'t be used here; allowed: {", ".join(known)}.'
            f"{did_you_mean(forced.protocol, known)}"
        )
    if forced.only:
        return tuple(c for c in found if c.algorithm == forced.algorithm and c.protocol == forced.protocol)
    kept = (
        c if c.protocol == forced.protocol or c.fix else replace(c, fix=("--protocol left out",))
        for c in found
    )
    return tuple(kept)


def _beside(candidate: Candidate, ran: Forced) -> Candidate:
    """Return a candidate beside what the library runs by itself: another one has to be asked for."""
    same = candidate.algorithm == ran.algorithm
    if same and candidate.protocol == ran.protocol:
        return replace(candidate, fix=())
    named = candidate.named[1:] if same else candidate.named
    return replace(candidate, fix=_joined(candidate.fix, named or ("another choice of the library",)))


def choose(
    model: LibraryModel,
    settings: LibrarySettings,
    situation: JobSituation,
    priced: PricedMenu,
    calibration: Calibration,
    size_bytes: int,
    forced: Forced = FREE,
) -> LibraryChoice:
    """Return what the library would run, and the best of everything that may be set.

    The library is taken to do what its tuner means to: of what is allowed, the candidate that it expects to end first by what
    it knows (:func:`gpufabric.libraries.known_rates.known_rates`). What may be set are all candidates of the menu, with and
    without each setting that limits channels and NICs, with the numbers of queue pairs that were priced, and with known tunings;
    of what is within 1 % of the best, the fewest settings are named.

    Parameters
    ----------
    model : LibraryModel
        Of one version.
    settings : LibrarySettings
    situation : JobSituation
    priced : PricedMenu
        Candidates that are missing here are not considered.
    calibration
        What times are estimated with.
    size_bytes : int
        nccl-tests' size of the message.
    forced : Forced, optional

    Raises
    ------
    InputError
        If settings or what is forced leave nothing.
    """
    menu = lay_menu(model, settings, situation, next(iter(priced.as_set.values())).op)
    usable = replace(menu, candidates=rated_among(menu.candidates, priced.as_set))
    candidates = candidates_of(usable, forced)
    rated: list[_Option] = []
    for way in _ways(model, settings, priced):
        rated += _rate(candidates, way, model, situation, calibration, size_bytes)
    rated.sort(key=lambda one: (one.time_s, len(one.fix)))
    allowed = [one for one in rated if not one.fix]
    if not allowed:
        raise InputError(f"{model.name} {model.version}: none of {', '.join(priced.as_set)} may be used here")
    chosen = min(allowed, key=_expected)
    near = [one for one in rated if one.time_s <= rated[0].time_s * (1 + WORTH)]
    best, fix = min(((one, _asked_for(one, rated)) for one in near), key=lambda pair: len(pair[1]))
    if best.time_s > chosen.time_s * (1 - WORTH):
        best, fix = chosen, ()
    return LibraryChoice(
        chosen.rated.estimate,
        best.rated.estimate,
        fix,
        tuple(Considered(one.rated.estimate, one.fix, one.quiet_s) for one in rated),
        menu.ruled_out,
        find_limit(chosen.rated, settings, situation, calibration, size_bytes),
        chosen.quiet_s,
    )


@dataclass(frozen=True, slots=True)
class _Option:
    """A candidate on the wiring, what has to be set for it, and the seconds that the library expects of it."""

    rated: Rated
    candidate: Candidate
    fix: tuple[str, ...]
    quiet_s: float

    @property
    def time_s(self) -> float:
        return self.rated.estimate.time_s


def _expected(option: _Option) -> tuple[float, float]:
    return option.quiet_s, option.time_s


def _asked_for(option: _Option, rated: Sequence[_Option]) -> tuple[str, ...]:
    """Return what has to be set so that the library runs *option*: its name too, where it expects another one to end first."""
    named, fix = option.candidate.named, option.fix
    for count in range(len(named) + 1):
        fix = _joined(option.fix, named[:count])
        kept = [text for text in named if text in fix]
        rivals = (
            one.candidate
            for one in sorted(rated, key=_expected)
            if set(one.fix) <= set(fix) and set(kept) <= set(one.candidate.named)
        )
        sooner = next(rivals)
        if (sooner.algorithm, sooner.protocol) == (option.candidate.algorithm, option.candidate.protocol):
            break
    return fix


@dataclass(frozen=True, slots=True)
class _Way:
    """Settings, what was changed to come to them, and the algorithms as priced with their queue pairs.

    ``pairs_matter``: another number of queue pairs has prices of its own.
    """

    settings: LibrarySettings
    changed: tuple[str, ...]
    priced: Mapping[str, PricedAlgorithm]
    pairs_matter: bool


def _ways(model: LibraryModel, settings: LibrarySettings, priced: PricedMenu) -> Iterator[_Way]:
    counts = {settings.queue_pairs: priced.as_set} | dict(priced.by_queue_pairs)
    name = setting_of(model, "queue-pairs")
    for lifted, texts in lift_limits(model, settings):
        for pairs, algorithms in counts.items():
            more = () if pairs == settings.queue_pairs else (f"{name}={pairs}",)
            yield _Way(
                replace(lifted, queue_pairs=pairs), (*texts, *more), algorithms, bool(priced.by_queue_pairs)
            )


def _rate(
    candidates: Sequence[Candidate],
    way: _Way,
    model: LibraryModel,
    situation: JobSituation,
    calibration: Calibration,
    size_bytes: int,
) -> Iterator[_Option]:
    """Yield every candidate with what has to be set for it."""
    for candidate in candidates:
        priced = way.priced.get(candidate.algorithm)
        if priced is None:
            continue
        limited, known = (
            limit_rates(one, model, way.settings, situation) for one in (priced, known_rates(priced))
        )
        plain, quiet = (
            estimate(one, candidate.protocol, situation, calibration, size_bytes) for one in (limited, known)
        )
        fix = _joined(way.changed, candidate.fix)
        yield _Option(Rated(plain, priced, limited), candidate, fix, quiet.time_s)
        for tuning in _tunings(model, situation, plain, size_bytes):
            if _contradicts(tuning, way, model):
                continue
            tuned = Rated(_tuned(plain, limited, tuning, size_bytes), priced, limited)
            fix = _joined(way.changed, _fix_with(tuning, candidate, model, way.settings))
            yield _Option(tuned, candidate, fix, _tuned(quiet, known, tuning, size_bytes).time_s)


def _joined(one: tuple[str, ...], other: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*one, *other)))


def _contradicts(tuning: Tuning, way: _Way, model: LibraryModel) -> bool:
    """Tell whether a tuning asks for more channels than the settings allow, or for queue pairs that have prices of their own."""
    acts = {rule.name: rule.acts for rule in model.settings}
    most = way.settings.most_channels
    for name, value in tuning.settings.items():
        if acts.get(name) == "least-channels" and most is not None and value > most:
            return True
        if acts.get(name) == "queue-pairs" and way.pairs_matter and value > way.settings.queue_pairs:
            return True
    return False


def _tunings(
    model: LibraryModel, situation: JobSituation, found: Estimate, size_bytes: int
) -> Iterator[Tuning]:
    generation = generation_of(model, situation.gpu)
    if found.algorithm != "ring" or found.protocol != "simple" or generation is None:
        return
    for tuning in model.tunings:
        fits = situation.nodes >= tuning.least_nodes and size_bytes >= tuning.least_bytes
        if (
            fits
            and generation.name in tuning.generations
            and any(fnmatchcase(situation.nic, nic) for nic in tuning.nics)
        ):
            yield tuning


def _fix_with(
    tuning: Tuning, candidate: Candidate, model: LibraryModel, settings: LibrarySettings
) -> tuple[str, ...]:
    """Return the settings that lie between: a tuning that lifts the rating of another algorithm makes asking needless."""
    acts = {rule.name: rule.acts for rule in model.settings}
    now = {"least-channels": settings.least_channels or 0, "queue-pairs": settings.queue_pairs}
    missing = tuple(
        f"{name}={value}"
        for name, value in tuning.settings.items()
        if now.get(acts.get(name) or "", 0) < value
    )
    rating = candidate.outranked
    lifted = rating is not None and {acts.get(name) for name in tuning.settings} & set(rating.lifted_by)
    return (*(lift_rating(candidate) if lifted else candidate).fix, *missing)


def _tuned(found: Estimate, priced: PricedAlgorithm, tuning: Tuning, size_bytes: int) -> Estimate:
    wire = min(found.wire_s, size_bytes / (tuning.line_share * priced.line_bytes_per_s))
    time = min(found.time_s, found.latency_s + wire)
    faster = time / found.time_s
    return replace(
        found,
        time_s=time,
        low_s=found.low_s * faster,
        high_s=found.high_s * faster,
        slow_s=found.slow_s * faster,
        wire_s=wire,
    )
