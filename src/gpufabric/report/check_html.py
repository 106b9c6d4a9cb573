"""A check → one HTML page that loads nothing: verdicts, wiring, drawing, repairs, findings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gpufabric.records.findings import Finding
from gpufabric.report.html_page import html_page, inline_svg


@dataclass(frozen=True, slots=True)
class PageTable:
    """A table of the page: title, headings, rows of texts."""

    title: str
    columns: tuple[str, ...]
    rows: list[tuple[str, ...]]


FINDING_COLUMNS = ("severity", "where", "what", "expected", "found", "do", "rule")


def check_html(name: str, lines: Sequence[str], tables: Sequence[PageTable], drawing: str) -> str:
    """Return the page.

    Parameters
    ----------
    name
        Of the cluster or file that was checked.
    lines
        Sentences for the head of the page.
    tables
        Empty ones are left out.
    drawing
        SVG document of this package, or empty.
    """
    values = {
        "name": name,
        "lines": list(lines),
        "tables": [table for table in tables if table.rows],
        "drawing": inline_svg(drawing) if drawing else "",
    }
    return html_page("check.html.j2", values, "report.css")


def finding_rows(findings: Sequence[Finding]) -> list[tuple[str, ...]]:
    """Return one row a finding, the worst first, with the texts of ``FINDING_COLUMNS``."""
    order = ("error", "warning", "info")
    return [
        (f.severity, f.where, f.message, f.expected, f.found, f.fix, f.rule)
        for f in sorted(findings, key=lambda finding: order.index(finding.severity))
    ]
