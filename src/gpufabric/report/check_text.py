"""Verdicts on logs → the text that people read: a table of sizes and a line of verdict for each table of a log."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from gpufabric.records.verdicts import SizeVerdict, Verdict
from gpufabric.units import format_message_bytes, gigabytes

COLUMNS = ("size", "place", "measured GB/s", "expected GB/s", "ceiling GB/s", "verdict", "note")


def size_rows(sizes: Iterable[SizeVerdict]) -> list[tuple[str, ...]]:
    """Return one row a measured half row, with the texts of ``COLUMNS``."""
    return [
        (
            format_message_bytes(size.size_bytes),
            "in-place" if size.in_place else "out-of-place",
            f"{gigabytes(size.measured_bytes_per_s):.1f}",
            f"{gigabytes(size.expected.low_bytes_per_s):.0f}–{gigabytes(size.expected.high_bytes_per_s):.0f}",
            f"{gigabytes(size.expected.ceiling_bytes_per_s):.0f}",
            size.verdict,
            size.reason,
        )
        for size in sizes
    ]


def verdict_text(verdict: Verdict) -> str:
    """Return the verdict in a few lines: what was found and expected, and hints at causes."""
    lines = [f"verdict: {verdict.verdict} — {verdict.found}"]
    if verdict.expected:
        lines.append(f"    expected: {verdict.expected}")
    for cause in verdict.causes:
        lines.append(f"    {cause.cause} (confidence {cause.confidence:.0%}; {cause.evidence})")
        lines.append(f"        {cause.next}")
    return "\n".join(lines)


def assumption_text(assumptions: Sequence[str]) -> str:
    """Return what was taken for granted, one line each."""
    return "\n".join(f"assumed: {assumption}" for assumption in assumptions)
