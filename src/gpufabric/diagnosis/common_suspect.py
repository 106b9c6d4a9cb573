"""Runs on parts of a cluster → the server, NIC or leaf that all slow ones have and no other has."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from gpufabric.records.compared_run import ComparedRun
from gpufabric.records.findings import Finding
from gpufabric.units import counted, format_gigabytes_per_s, format_message_bytes

RULE = "suspect-place"
#: A run is slow below this share of the median of its like, and at least so many of the runs must tell what that is.
_SLOW = 0.85
_LEAST_RUNS = 3
#: With so many runs that hardly differ, less than that is slow too: six times the median distance, and at least 4 %.
_TIGHT_RUNS = 6
_TIGHT, _DISTANCES = 0.96, 6.0
_MOST_SUSPECTS = 8


@dataclass(frozen=True, slots=True)
class _Place:
    name: str
    slow: int
    fast: int

    @property
    def gain(self) -> float:
        """How much better it explains what is slow than another would: slow runs with it, less those that are fast with it."""
        return self.slow - 2.0 * self.fast


def find_suspects(runs: Sequence[ComparedRun]) -> list[Finding]:
    """Return the places that explain which runs are slow, the surest first.

    Runs are compared with those of the same operation, ranks, hosts and size; a run is slow below 85 % of their median, and where
    six or more hardly differ below 96 % of it, if that is six times the median distance from it (a usual bound for outliers:
    B. Iglewicz and D. C. Hoaglin, How to Detect and Handle Outliers, 1993) and seen in two runs. A place
    is suspected when slow runs have it and, of the runs that have it, at most every third is fast; the fewest places that cover
    the slow runs are named, hosts before leaves where both explain as much.

    Parameters
    ----------
    runs
        Of servers alone, of pairs, or of one NIC each; what they have in common decides.
    """
    findings: list[Finding] = []
    groups: dict[tuple[str, int, int, int], list[ComparedRun]] = {}
    for run in runs:
        groups.setdefault((run.op, run.ranks, len(run.hosts), run.size_bytes), []).append(run)
    for alike in groups.values():
        if len(alike) >= _LEAST_RUNS:
            findings += _of_alike(alike)
    return findings


def _of_alike(runs: Sequence[ComparedRun]) -> list[Finding]:
    usual = median(_score(run) for run in runs)
    limit = _limit([_score(run) for run in runs], usual)
    slow = [run for run in runs if _score(run) < limit]
    fast = [run for run in runs if _score(run) >= limit]
    if not slow or len(slow) > len(runs) / 2:
        return []
    findings: list[Finding] = []
    left = list(slow)
    while left and len(findings) < _MOST_SUSPECTS:
        best = _best(left, fast)
        if best is None:
            break
        covered = [run for run in left if best in _places(run)]
        # A little less counts only where it is seen again.
        if len(covered) > 1 or _score(covered[0]) < _SLOW * usual:
            findings.append(_finding(best, covered, fast, runs))
        left = [run for run in left if run not in covered]
    return findings


def _limit(scores: Sequence[float], usual: float) -> float:
    """Return below what a run is slow."""
    if len(scores) < _TIGHT_RUNS:
        return _SLOW * usual
    distance = median(abs(score - usual) for score in scores)
    return max(_SLOW * usual, min(_TIGHT * usual, usual - _DISTANCES * distance))


def _score(run: ComparedRun) -> float:
    return run.busbw_bytes_per_s if math.isnan(run.share) else run.share


def _places(run: ComparedRun) -> tuple[str, ...]:
    return (*(f"server {host}" for host in run.hosts), *run.places)


def _best(left: Sequence[ComparedRun], fast: Sequence[ComparedRun]) -> str | None:
    names = dict.fromkeys(name for run in left for name in _places(run))
    places = [
        _Place(name, sum(name in _places(r) for r in left), sum(name in _places(r) for r in fast))
        for name in names
    ]
    explaining = [place for place in places if place.gain > 0]
    # max keeps the first of equals: hosts stand before leaves, and a host of an earlier run before one of a later.
    return max(explaining, key=lambda place: place.gain).name if explaining else None


def _finding(
    name: str, slow: Sequence[ComparedRun], fast: Sequence[ComparedRun], runs: Sequence[ComparedRun]
) -> Finding:
    same = [
        other
        for other in dict.fromkeys(place for run in slow for place in _places(run))
        if other != name
        and all(other in _places(run) for run in slow)
        and not any(other in _places(run) for run in fast)
    ]
    worst = min(slow, key=_score)
    usual = median(run.busbw_bytes_per_s for run in runs)
    sure = 0.9 if len(slow) > 1 or not same else 0.5
    known_fast = sum(name in _places(run) for run in fast)
    doubt = f"; it may as well be {', '.join(same[:4])}" if same else ""
    return Finding(
        RULE,
        "error" if _score(worst) < _SLOW * median(_score(run) for run in runs) else "warning",
        name,
        f"{name} is in {counted(len(slow), 'slow run')} and in {known_fast} of {counted(len(fast), 'other')}{doubt}",
        expected=f"{format_gigabytes_per_s(usual)} at {format_message_bytes(worst.size_bytes)}, the median of {len(runs)} runs",
        found=f"{format_gigabytes_per_s(worst.busbw_bytes_per_s)}: {worst.what}",
        evidence="; ".join(run.what for run in slow[:8]),
        confidence=sure if not known_fast else 0.6,
        fix=_next(name, same),
        source="docs/rules/suspect-place.md",
    )


def _next(name: str, same: Sequence[str]) -> str:
    if same:
        return f"run {name} and {same[0]} each with a server of a run that is not slow: one of the two pairs will be slow"
    if name.startswith("server "):
        return "on that server: nvidia-smi nvlink -s, lspci -vvv, ibstat and mlxlink -c; give all to gpufabric check"
    return "read the counters of its ports (ibqueryerrors, show interfaces counters) and give them to gpufabric check"
