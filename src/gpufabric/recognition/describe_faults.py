"""Cabling mistakes → findings."""

from __future__ import annotations

from collections.abc import Iterable

from gpufabric.records.fabric_match import CablingFault
from gpufabric.records.findings import Finding, Severity

#: What only deserves a look; everything else is not as it was designed.
_WARNINGS = {"foreign-device"}


def findings_of_faults(faults: Iterable[CablingFault]) -> tuple[Finding, ...]:
    """Return a finding for each mistake, with the rule ``built-<kind>``; errors first."""
    findings = [_finding(fault) for fault in faults]
    return tuple(sorted(findings, key=lambda finding: finding.severity != "error"))


def _finding(fault: CablingFault) -> Finding:
    severity: Severity = "warning" if fault.kind in _WARNINGS else "error"
    return Finding(
        rule=f"built-{fault.kind}",
        severity=severity,
        where=fault.where,
        message=fault.message,
        expected=fault.expected,
        found=fault.found,
        confidence=fault.confidence,
        fix=fault.fix,
    )
