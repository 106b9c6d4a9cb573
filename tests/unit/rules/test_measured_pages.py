"""Each finding about a log has its page."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[3]


def test_every_measured_finding_has_a_page_and_no_page_is_left_over():
    sources = [
        p for folder in ("formats", "rules", "jobs") for p in (ROOT / "src/gpufabric" / folder).glob("*.py")
    ]
    used = {
        rule for p in sources for rule in re.findall(r'"(measured-[a-z-]+)"', p.read_text(encoding="utf-8"))
    }
    pages = {p.stem for p in (ROOT / "docs/rules").glob("measured-*.md")}
    assert used == pages
