"""A check → one HTML page that loads nothing: verdicts, causes, wiring, drawing, repairs to tick off, findings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gpufabric.records.as_built import FaultCost, Repair
from gpufabric.records.findings import Finding
from gpufabric.report.html_page import html_page, inline_svg
from gpufabric.report.wiring_text import COST_COLUMNS, REPAIR_COLUMNS, cost_rows, repair_rows
from gpufabric.units import counted, format_gigabytes_per_s, format_message_bytes

_TONES = {"healthy": "fine", "low": "error", "high": "warning", "cannot tell": "warning"}
_BOX = "☐"
_MOST_BANNERS = 5
#: Of a ladder of thousands of tests the healthy ones would hide the others.
_MOST_ROWS = 500


@dataclass(frozen=True, slots=True)
class PageTable:
    """A table of the page: title, headings, rows of texts."""

    title: str
    columns: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]

    @property
    def id(self) -> str:
        """What links within the page call it: the first word of the title."""
        return self.title.split()[0].strip(",").lower()


@dataclass(frozen=True, slots=True)
class Banner:
    """A sentence at the head, and its colour: fine, info, warning or error."""

    tone: str
    text: str


FINDING_COLUMNS = ("severity", "where", "what", "expected", "found", "do", "rule")
CAUSE_COLUMNS = ("log", "possible cause", "confidence", "rests on", "look at next")
SIZE_COLUMNS = ("log", "size", "place", "measured", "low below", "expected", "at most", "verdict")


def check_page(name: str, body: Mapping[str, Any], drawing: str) -> str:
    """Return the page of a check.

    Parameters
    ----------
    name
        Of the cluster or file that was checked.
    body
        The document of the check; that of an acceptance has neither ``match``, ``inferred`` nor ``costs``.
    drawing
        SVG document of this package, or empty.
    """
    lines = list(_lines(body))
    repairs = [Repair(**repair) for repair in body["repairs"]]
    costs = [FaultCost(**cost) for cost in body.get("costs", ())]
    verdicts = body["verdicts"]
    telling = [v for v in verdicts if v["verdict"] != "healthy"] if len(verdicts) > _MOST_ROWS else verdicts
    findings = [Finding(**finding) for finding in body["findings"]]
    tables = (
        PageTable("Measured", ("log", "verdict", "expected", "found"), _measured(telling)),
        PageTable("Causes", CAUSE_COLUMNS, list(_causes(telling))[:_MOST_ROWS]),
        PageTable("Findings", FINDING_COLUMNS, finding_rows(findings)),
        PageTable(
            "Repairs, in this order",
            ("done", *REPAIR_COLUMNS),
            [(_BOX, *row) for row in repair_rows(repairs)],
        ),
        PageTable("Cost until then", COST_COLUMNS, cost_rows(costs)),
        PageTable("Sizes of each log", SIZE_COLUMNS, list(_sizes(telling))[:_MOST_ROWS]),
        PageTable("Assumed", ("",), [(text,) for text in body["assumptions"]]),
    )
    return check_html(name, lines, tables, drawing, list(_banners(body, findings)))


def _lines(body: Mapping[str, Any]) -> Iterator[str]:
    match, inferred = body.get("match"), body.get("inferred")
    if match:
        yield (
            f"{match['links_as_designed']:,} of {match['links']:,} links as designed; {match['devices_found']:,} devices found, "
            f"surety of the match {match['certainty']:.0%}"
        )
    if inferred:
        facts = ", ".join(f"{fact['name']} {fact['text']}" for fact in inferred["facts"])
        yield f"No design given; inferred: {facts}; {inferred['certainty']:.1%} of the links agree"
    if "tests" in body["coverage"]:
        healthy = sum(verdict["verdict"] == "healthy" for verdict in body["verdicts"])
        yield (
            f"{healthy:,} of {counted(body['coverage']['tests_run'], 'test')} healthy; {body['coverage']['tests']:,} planned"
        )
    not_checked = body["coverage"].get("not_checked", ())
    if not_checked:
        yield f"Not checked: {'; '.join(not_checked)}."


def _banners(body: Mapping[str, Any], findings: Sequence[Finding]) -> Iterator[Banner]:
    """Yield one sentence each of the worst verdicts, and one on the findings."""
    order = ("low", "high", "cannot tell", "healthy")
    worst = sorted(body["verdicts"], key=lambda verdict: order.index(verdict["verdict"]))
    healthy = sum(verdict["verdict"] == "healthy" for verdict in worst)
    for verdict in worst[: min(_MOST_BANNERS, len(worst) - healthy or 1)]:
        yield Banner(
            _TONES[verdict["verdict"]], f"{verdict['what']}: {verdict['verdict']} — {verdict['found']}"
        )
    if healthy and len(worst) > 1:
        yield Banner("fine", f"{healthy:,} of {counted(len(worst), 'log')} healthy")
    counts = [(sum(f.severity == s for f in findings), s) for s in ("error", "warning")]
    said = ", ".join(counted(number, severity) for number, severity in counts if number)
    tone = next((severity for number, severity in counts if number), "fine")
    more = f"; {counted(len(body['repairs']), 'step')} to repair the wiring" if body["repairs"] else ""
    yield Banner(tone, f"{said or 'no errors and no warnings'}{more}")


def _measured(verdicts: Sequence[Mapping[str, Any]]) -> list[tuple[str, ...]]:
    return [(v["what"], v["verdict"], v["expected"], v["found"]) for v in verdicts]


def _causes(verdicts: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, ...]]:
    for verdict in verdicts:
        for cause in verdict["causes"]:
            log = verdict["what"]
            yield log, cause["cause"], f"{cause['confidence']:.0%}", cause["evidence"], cause["next"]


def _sizes(verdicts: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, ...]]:
    for verdict in verdicts:
        for size in verdict["sizes"]:
            e = size["expected"]
            low, high = (format_gigabytes_per_s(e[f"{name}_bytes_per_s"]) for name in ("low", "high"))
            yield (
                verdict["what"],
                format_message_bytes(size["size_bytes"]),
                "in-place" if size["in_place"] else "out-of-place",
                format_gigabytes_per_s(size["measured_bytes_per_s"]),
                format_gigabytes_per_s(e["limit_low_bytes_per_s"]),
                f"{low} to {high}",
                format_gigabytes_per_s(e["ceiling_bytes_per_s"]),
                size["verdict"],
            )


def check_html(
    name: str, lines: Sequence[str], tables: Sequence[PageTable], drawing: str, banners: Sequence[Banner] = ()
) -> str:
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
    banners
        What is to be seen first.
    """
    values = {
        "name": name,
        "lines": list(lines),
        "banners": list(banners),
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
