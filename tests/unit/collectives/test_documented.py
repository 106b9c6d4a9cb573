"""The reference page keeps up with the registry."""

import re
from pathlib import Path

from gpufabric.collectives import ALGORITHMS

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "collectives.md"


def test_every_algorithm_has_a_section_and_every_operation_its_algorithms():
    text = PAGE.read_text(encoding="utf-8")
    sections = set(re.findall(r"^### `(\w+)`$", text, re.MULTILINE))
    assert sections == {name for plans in ALGORITHMS.values() for name in plans}
    rows = dict(re.findall(r"^\| `(\w+)` \|.*\|(.*)\|$", text, re.MULTILINE))
    assert {op: re.findall(r"`(\w+)`", row) for op, row in rows.items()} == {
        op: list(plans) for op, plans in ALGORITHMS.items()
    }
