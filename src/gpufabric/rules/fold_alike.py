"""Findings of which many say the same of other places → the first of them, and how many more there are."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from gpufabric.records.findings import Finding
from gpufabric.units import counted

MOST_ALIKE = 20


def fold_alike(findings: Iterable[Finding]) -> list[Finding]:
    """Return the findings with at most ``MOST_ALIKE`` of a kind, each longer kind ended by one that counts the rest.

    Findings are alike when rule, severity, message, what is expected, what to do and source are the same: the place and what was
    found there differ. One wrong setting of a large fabric is found at every port, and nobody reads that list.

    Parameters
    ----------
    findings
        In the order in which they are to be shown.
    """
    shown: list[Finding] = []
    alike: dict[tuple[object, ...], list[int]] = {}
    for finding in findings:
        kind = (
            finding.rule,
            finding.severity,
            finding.message,
            finding.expected,
            finding.fix,
            finding.source,
        )
        seen = alike.setdefault(kind, [0, 0])
        seen[0] += 1
        if seen[0] <= MOST_ALIKE + 1:
            seen[1] = len(shown)
            shown.append(finding)
    for count, place in alike.values():
        if count > MOST_ALIKE:
            shown[place] = _counted(shown[place], count - MOST_ALIKE)
    return shown


def _counted(finding: Finding, more: int) -> Finding:
    return replace(
        finding,
        where=counted(more, "more place"),
        message=f"{finding.message}, and {more:,} more like it",
        found="",
        evidence=f"the first {MOST_ALIKE} are listed one by one",
    )
