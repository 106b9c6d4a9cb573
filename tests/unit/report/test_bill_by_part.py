"""The short bill of the terminal."""

from __future__ import annotations

from typing import Any

import pytest

from gpufabric.report.bill_by_part import bill_by_part, unknown_parts
from gpufabric.report.design_text import bill_section, design_sections


def row(
    part: str | None, count: int, length: float | None, power: float | None = 0.0, **more: Any
) -> dict[str, Any]:
    """Return a row as the design document has it."""
    plain = {
        "kind": "cable",
        "note": "",
        "included": False,
        "price_usd": None,
        "model": "M",
        "part_number": "",
        "added_power_w": power,
        "typical_power": False,
    }
    return {
        **plain,
        "description": "",
        **more,
        "part": part,
        "count": count,
        "length_m": length,
        "power_w": power,
    }


def test_lengths_of_a_part_are_one_row() -> None:
    found = bill_by_part(
        [row("a", 2, 5.0, 1.5), row("b", 1, 3.0), row("a", 3, 19.0, 2.0), row("a", 1, 7.5, 0.25)]
    )
    assert [(r["part"], r["count"], r["lengths"], r["power_w"]) for r in found] == [
        ("a", 6, "5–19 m", 3.75),
        ("b", 1, "3 m", 0.0),
    ]


@pytest.mark.parametrize(
    ("lengths", "shown"),
    [
        ([None, None], ""),
        ([2.0, None], "2 m, some unknown"),
        ([2.0, 2.0], "2 m"),
        ([0.5, 1500.0], "0.5–1,500 m"),
    ],
)
def test_what_the_lengths_are(lengths: list[float | None], shown: str) -> None:
    assert [r["lengths"] for r in bill_by_part([row("a", 1, length) for length in lengths])] == [shown]


def test_a_sum_with_an_unknown_figure_is_unknown() -> None:
    (found,) = bill_by_part([row("a", 1, 1.0, None, price_usd=3.0), row("a", 1, 2.0, 4.0, price_usd=5.0)])
    assert (found["power_w"], found["price_usd"]) == (None, 8.0)


def test_unknown_parts_are_counted_once_and_not_inside_others() -> None:
    bill = [
        row("a", 1, 1.0, None),
        row("a", 1, 2.0, None),
        row(None, 1, None, None),
        row("c", 1, None, None, included=True),
    ]
    assert unknown_parts(bill, "power_w") == 2
    assert unknown_parts([*bill, row("d", 1, None, 9.0, typical_power=True)], "power_w") == 3
    assert unknown_parts(bill, "price_usd") == 2


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        (1, "at least 2 kW (largest power of 1 part unknown)"),
        (2, "at least 2 kW (largest power of 2 parts unknown)"),
    ],
)
def test_the_terminal_counts_unknown_parts_and_shortens_remarks(parts: int, said: str) -> None:
    bill = [
        row("known", 1, None, 2000.0, description="d" * 200),
        *(row(f"p{n}", 1, None, None) for n in range(parts)),
    ]
    document = {
        "name": "x",
        "gpus": 1,
        "servers": 1,
        "assemblies": 1,
        "power_w": 2000.0,
        "price_usd": None,
        "fabrics": [],
        "bill_of_materials": bill,
    }
    whole, short = design_sections(document)
    assert ("power", said) in whole.rows
    assert [len(cells[-1]) for cells in short.rows if cells[0] == "known"] == [80]
    assert bill_section(bill).rows[0][-1] == "M. " + "d" * 200
