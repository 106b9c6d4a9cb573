"""The HTML report: whole, escaped, bounded, and loading nothing."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Callable
from dataclasses import replace
from html import unescape
from html.parser import HTMLParser
from typing import Any

import pytest

from gpufabric.jobs.design import Design
from gpufabric.report.cabling_plan import cabling_table
from gpufabric.report.floor_plan_svg import draw_floor_plan
from gpufabric.report.html_report import MOST_CABLE_ROWS, Pictures, html_report
from gpufabric.report.logical_fabric_svg import draw_logical_fabric
from gpufabric.report.rack_elevation_svg import draw_rack_elevations
from gpufabric.report.report_sources import part_references

RAILS = {"topology": "rail-optimized", "switch": "qm9790", "tiers": 2}
EVIL = "<script>alert(1)</script>\"'&<img src=x onerror=alert(1)>"


class Page(HTMLParser):
    """Tags with their attributes, and the text outside scripts and styles."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self._inside = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self._inside = tag

    def handle_data(self, data: str) -> None:
        if self._inside not in {"script", "style"}:
            self.words.append(data)

    def of(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.tags if name == tag]


def report(result: Design, **changes: Any) -> str:
    cluster, plan, groups = result.cluster, result.floor_plan, result.rack_groups
    pictures = Pictures(
        fabrics=tuple((f.name, draw_logical_fabric(cluster, i)) for i, f in enumerate(cluster.fabrics)),
        floor_plan=draw_floor_plan(cluster, plan, groups),
        racks=draw_rack_elevations(cluster, plan, groups),
    )
    table = cabling_table(cluster, result.parts, plan)
    references = part_references(cluster.parts, result.parts)
    return html_report(
        {**result.document, **changes}, pictures, table, references, {"design.json": "all of it"}
    )


def loss(example: str) -> dict[str, Any]:
    """One row of the N−1 table of the design document."""
    shares = {"least_share_left": 0.5, "injection_left": 0.875, "bisection_left": None}
    shares |= {"all_reduce_left": 0.875, "all_to_all_left": 0.5}
    cost = {"example": example, "count": 1, "gpus_cut_off": 0, "gpus_degraded": 8, **shares}
    return {"fabric": "compute", "lost": "leaf", "place": "", "count": 8, "worst": cost, "typical": cost}


@pytest.fixture
def small(designed: Callable[..., Design]) -> Design:
    return designed(8, **RAILS)


def test_the_page_loads_nothing(small: Design) -> None:
    page = Page(report(small))
    assert {tag for tag, _ in page.tags} & {
        "link",
        "img",
        "iframe",
        "object",
        "embed",
        "form",
        "base",
        "use",
    } == set()
    for tag, attributes in page.tags:
        for name, value in attributes.items():
            assert not name.startswith("on"), (tag, name)
            assert name not in {"src", "srcset", "xlink:href"}, (tag, name)
            assert name != "href" or str(value).startswith("#"), (tag, value)
            assert "://" not in str(value), (tag, name, value)


def test_only_the_script_of_the_page_may_run(small: Design) -> None:
    text = report(small)
    policy = next(
        m["content"] for m in Page(text).of("meta") if m.get("http-equiv") == "Content-Security-Policy"
    )
    script = re.findall(r"<script>(.*?)</script>", text, re.DOTALL)
    assert len(script) == 1
    digest = base64.b64encode(hashlib.sha256(script[0].encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in str(policy)
    assert str(policy).startswith("default-src 'none'")


def test_every_section_is_there_and_linked(small: Design) -> None:
    page = Page(report(small))
    ids = {str(section["id"]) for section in page.of("section") if section.get("id")}
    links = {str(a["href"])[1:] for a in page.of("a") if str(a.get("href")).startswith("#")}
    assert ids == {
        "fabric-1", "n-minus-1", "room", "racks", "bill", "cables", "findings", "assumptions", "sources",
    }  # fmt: skip
    assert links == ids
    assert len(page.of("svg")) == 3
    assert all(svg["role"] == "img" and svg["aria-label"] for svg in page.of("svg"))


def test_hostile_texts_stay_text(small: Design) -> None:
    finding = {"rule": EVIL, "severity": "error", "where": EVIL, "message": EVIL, "fix": EVIL}
    names = tuple(f"{EVIL}{i}" for i in range(len(small.cluster.devices)))
    cluster = replace(small.cluster, name=EVIL, devices=replace(small.cluster.devices, names=names))
    evil = replace(small, cluster=cluster)
    text = report(evil, findings=[finding], notes=[EVIL], assumptions=[EVIL], n_minus_1=[loss(EVIL)])
    page = Page(text)
    assert len(page.of("script")) == 1
    assert page.of("img") == []
    assert not [name for _, attributes in page.tags for name in attributes if name.startswith("on")]
    assert "".join(page.words).count(EVIL) >= 6


def test_control_characters_are_shown_and_long_texts_cut(small: Design) -> None:
    text = report(small, notes=["a\x1b[31mb\u202ec", "x" * 100_000])
    assert "a\\x1b[31mb\\u202ec" in text
    assert "x" * 3000 not in text


def test_findings_lead_from_the_top(small: Design) -> None:
    assert "No findings" in report(small)
    found = [
        {"rule": "some-rule", "severity": severity, "where": f"w{i}", "message": "m", "fix": "f"}
        for i, severity in enumerate(["info", "error", "warning"])
    ]
    text = unescape(report(small, findings=found))
    assert "3 findings, the worst of severity error" in text
    assert text.index(">w1") < text.index(">w2") < text.index(">w0")


def test_the_n_minus_1_table_is_shown_when_it_is_there(small: Design) -> None:
    assert 'id="n-minus-1"' not in report(small, n_minus_1=[])
    text = report(small, n_minus_1=[loss("leaf-su01-r1")])
    assert 'id="n-minus-1"' in text
    assert ">leaf-su01-r1" in text
    assert "What one loss costs" in text


def test_unknown_is_said_and_never_zero(small: Design) -> None:
    words = " ".join(" ".join(Page(report(small)).words).split())
    assert "Price unknown" in words
    assert re.search(r"Power [\d.]+ [kM]W at least: largest power of \d+ lines? of the bill unknown", words)


@pytest.mark.slow
def test_a_long_cabling_plan_is_cut_and_says_so(designed: Callable[..., Design]) -> None:
    result = designed(256, topology="leaf-spine", switch="sn5600")
    assert len(result.cluster.links) > MOST_CABLE_ROWS
    text = report(result)
    assert f"The first {MOST_CABLE_ROWS:,} of {len(result.cluster.links):,} links" in text
    assert "cabling-plan.parquet" in text
    assert len(text) < 3 * 2**20


@pytest.mark.slow
def test_the_same_design_gives_the_same_page(designed: Callable[..., Design]) -> None:
    assert report(designed(8, **RAILS)) == report(designed(8, **RAILS))


def test_each_figure_has_its_document(small: Design) -> None:
    references = part_references(small.cluster.parts, small.parts)
    covered = {part for reference in references for part in reference.parts}
    assert set(small.cluster.parts) <= covered
    assert all(reference.url.startswith("https://") and reference.read for reference in references)
