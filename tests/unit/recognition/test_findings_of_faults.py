"""Every mistake becomes a finding with a page."""

import re
from pathlib import Path
from typing import get_args

from gpufabric.recognition.describe_faults import findings_of_faults
from gpufabric.records.fabric_match import CablingFault, FaultKind

ROOT = Path(__file__).parents[3]


def test_every_kind_of_mistake_has_a_page():
    pages = {page.stem for page in (ROOT / "docs" / "rules").glob("*.md")}
    findings = findings_of_faults(CablingFault(kind, "a:1", "m") for kind in get_args(FaultKind))
    assert [finding.rule for finding in findings if finding.rule not in pages] == []
    assert [finding.severity for finding in findings] == ["error"] * (len(findings) - 1) + ["warning"]


def test_every_finding_of_a_fabric_file_has_a_page():
    pages = {page.stem for page in (ROOT / "docs" / "rules").glob("*.md")}
    told = set()
    for path in (ROOT / "src" / "gpufabric" / "formats").glob("*.py"):
        told |= set(re.findall(r'"(found-[a-z-]+)"', path.read_text(encoding="utf-8")))
    assert len(told) >= 7
    assert told - pages == set()
