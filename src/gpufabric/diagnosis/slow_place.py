"""One server, leaf or NIC that every slow run has and hardly any other: the cause of those runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gpufabric.records.findings import Finding
from gpufabric.records.job_evidence import JobEvidence
from gpufabric.records.verdicts import Cause

SLOW_PLACE = "slow-place"
_SURE = 0.9
#: Below this it may as well be another place that the same runs have.
_NAMED = 0.55


def slow_place(evidence: JobEvidence) -> Iterator[Cause]:
    """Yield the places that the slow runs given together have in common, of those that this job has too."""
    if not evidence.slow:
        return
    for finding in evidence.suspects:
        words = slow_words([finding])
        yield Cause(
            words or f"one {finding.where.replace(' ', ' may be slow: ', 1)}",
            finding.confidence if finding.confidence is not None else _SURE,
            finding.message,
            finding.fix,
            SLOW_PLACE,
        )


def slow_words(suspects: Sequence[Finding]) -> str:
    """Return what a verdict says of those that are sure, such as ``one server slow: n07``; empty without any."""
    names: dict[str, list[str]] = {}
    for finding in suspects:
        if (_SURE if finding.confidence is None else finding.confidence) < _NAMED:
            continue
        kind, _, name = finding.where.partition(" ")
        names.setdefault(kind, []).append(name)
    return "; ".join(
        f"one {kind} slow: {own[0]}" if len(own) == 1 else f"{len(own)} {kind}s slow: {', '.join(own)}"
        for kind, own in names.items()
    )
