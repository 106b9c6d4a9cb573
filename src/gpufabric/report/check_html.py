"""A check → one HTML page that loads nothing: verdicts, wiring, drawing, repairs, findings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gpufabric.records.as_built import FaultCost, Repair
from gpufabric.records.findings import Finding
from gpufabric.report.html_page import html_page, inline_svg
from gpufabric.report.wiring_text import COST_COLUMNS, REPAIR_COLUMNS, cost_rows, repair_rows


@dataclass(frozen=True, slots=True)
class PageTable:
    """A table of the page: title, headings, rows of texts."""

    title: str
    columns: tuple[str, ...]
    rows: list[tuple[str, ...]]


FINDING_COLUMNS = ("severity", "where", "what", "expected", "found", "do", "rule")


def check_page(name: str, body: Mapping[str, Any], drawing: str) -> str:
    """Return the page of a check.

    Parameters
    ----------
    name
        Of the cluster or file that was checked.
    body
        The document of the check.
    drawing
        SVG document of this package, or empty.
    """
    lines = []
    if body["match"]:
        match = body["match"]
        lines.append(
            f"{match['links_as_designed']:,} of {match['links']:,} links as designed; {match['devices_found']:,} devices found, "
            f"surety of the match {match['certainty']:.0%}"
        )
    if body["inferred"]:
        facts = ", ".join(f"{fact['name']} {fact['text']}" for fact in body["inferred"]["facts"])
        lines.append(
            f"No design given; inferred: {facts}; {body['inferred']['certainty']:.1%} of the links agree"
        )
    repairs = [Repair(**repair) for repair in body["repairs"]]
    costs = [FaultCost(**cost) for cost in body["costs"]]
    verdicts: list[tuple[str, ...]] = [
        (v["what"], v["verdict"], v["expected"], v["found"]) for v in body["verdicts"]
    ]
    findings = [Finding(**finding) for finding in body["findings"]]
    tables = (
        PageTable("Measured", ("log", "verdict", "expected", "found"), verdicts),
        PageTable("Findings", FINDING_COLUMNS, finding_rows(findings)),
        PageTable("Repairs, in this order", REPAIR_COLUMNS, repair_rows(repairs)),
        PageTable("Cost until then", COST_COLUMNS, cost_rows(costs)),
        PageTable("Assumed", ("",), [(text,) for text in body["assumptions"]]),
    )
    return check_html(name, lines or ["Nothing of the wiring was checked"], tables, drawing)


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
