"""The figures of the shipped table in docs/reference/validation.md are those of the command."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from gpufabric.jobs.validate_collectives import validate_collectives

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "validation.md"


def figures(text):
    section = text.split("## What the shipped table says")[1].split("\n## ")[0]
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in section.splitlines()
        if line.startswith("|")
    ]
    return section, rows[2:]


def percent(share):
    return "" if share is None else f"{share:.1%}".replace("%", " %").replace(".0 ", " ")


@pytest.mark.slow
def test_the_page_shows_what_the_command_says():
    found = validate_collectives()
    section, rows = figures(PAGE.read_text())
    shown = {row[0]: [cell.replace(".0 ", " ") for cell in row[1:]] for row in rows}
    assert shown == {
        bar.name: [
            str(bar.summary.clusters),
            *map(
                percent, (bar.summary.median_abs_error, bar.limit, bar.summary.p90_abs_error, bar.p90_limit)
            ),
        ]
        for bar in found.bars
    }
    rows_said, clusters, inside = re.search(
        r"(\d+) rows of (\d+) clusters count, and ([\d.]+) %", section
    ).groups()
    assert (int(rows_said), int(clusters)) == (found.summary.rows, found.summary.clusters)
    assert float(inside) == round(100 * found.summary.inside_range, 1)
    assert ("All limits are kept" in section) == all(bar.met for bar in found.bars)
