"""Verdicts and findings of a check → JUnit XML, which continuous integration shows.

The elements are those of the widely read schema of Apache Ant's JUnit task
(https://ant.apache.org/manual/Tasks/junitreport.html, read 2026-11-30).
"""

from __future__ import annotations

from collections.abc import Sequence
from xml.sax.saxutils import quoteattr

from gpufabric.errors import printable
from gpufabric.records.findings import Finding
from gpufabric.records.verdicts import Verdict

_LONGEST = 1000
_CLASS = "gpufabric.check"


def check_junit(verdicts: Sequence[Verdict], findings: Sequence[Finding]) -> str:
    """Return a test suite: a case for each verdict, and one for each finding; without either, one case that passed.

    Errors and low verdicts are failures; what can't be told and warnings are cases that were skipped.
    """
    cases = [_verdict(verdict) for verdict in verdicts] + [_finding(finding) for finding in findings]
    cases = cases or [_case("nothing to find", "", "", "")]
    failures, skipped = (sum(f"<{word} " in case for case in cases) for word in ("failure", "skipped"))
    head = f'<testsuite name="gpufabric check" tests="{len(cases)}" failures="{failures}" errors="0" skipped="{skipped}">'
    return "\n".join(['<?xml version="1.0" encoding="UTF-8"?>', head, *cases, "</testsuite>"]) + "\n"


def _verdict(verdict: Verdict) -> str:
    outcome = {"low": "failure", "cannot tell": "skipped"}.get(verdict.verdict, "")
    return _case(verdict.what, outcome, f"{verdict.verdict}: {verdict.found}", verdict.expected)


def _finding(finding: Finding) -> str:
    outcome = {"error": "failure", "warning": "skipped"}.get(finding.severity, "")
    return _case(f"{finding.rule} {finding.where}", outcome, finding.message, finding.fix)


def _case(name: str, outcome: str, message: str, more: str) -> str:
    head = f"  <testcase classname={quoteattr(_CLASS)} name={_quoted(name)}"
    if not outcome:
        return f"{head}/>"
    text = f"{message}; {more}" if more else message
    return f"{head}><{outcome} message={_quoted(text)}/></testcase>"


def _quoted(text: str) -> str:
    return quoteattr(printable(text, _LONGEST))
