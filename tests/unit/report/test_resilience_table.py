"""The N−1 table as people read it."""

from __future__ import annotations

from typing import Any

import pytest

from gpufabric.report.resilience_table import percent, resilience_table


def cost(**changed: Any) -> dict[str, Any]:
    whole = {
        "example": "leaf-01",
        "count": 2,
        "gpus_cut_off": 0,
        "gpus_degraded": 0,
        "least_share_left": None,
        "injection_left": 1.0,
        "bisection_left": None,
        "all_reduce_left": None,
        "all_to_all_left": None,
    }
    return {**whole, **changed}


def row(lost: str, place: str, typical: dict[str, Any], worst: dict[str, Any]) -> dict[str, Any]:
    return {"fabric": "f", "lost": lost, "place": place, "count": 1234, "typical": typical, "worst": worst}


def test_one_row_where_all_cost_the_same() -> None:
    same = cost(gpus_degraded=1016, least_share_left=0.875, injection_left=0.875, bisection_left=0.875)
    headings, rows = resilience_table([row("cable", "leaf_spine", same, same)])
    assert rows == [("cable leaf–spine", "1,234", "0", "1,016", "87.5%", "87.5%", "87.5%", "leaf-01")]
    assert len(rows[0]) == len(headings)


def test_the_typical_loss_follows_where_it_costs_less() -> None:
    _, rows = resilience_table(
        [row("optic", "server", cost(example="a"), cost(gpus_cut_off=64, example="b"))]
    )
    assert [r[:3] for r in rows] == [
        ("optic in a server", "1,234", "64"),
        ("optic in a server, most", "2", "0"),
    ]
    assert [r[-2:] for r in rows] == [("unknown", "b"), ("unknown", "a")]
    assert resilience_table([row("nic", "", cost(), cost(example="other"))])[1][0][0] == "NIC"


def test_collectives_have_columns_where_they_are_known() -> None:
    lost = cost(all_reduce_left=0.875, all_to_all_left=0.5)
    headings, rows = resilience_table([row("nic", "", lost, lost), row("leaf", "", cost(), cost())])
    assert headings[-3:-1] == ("all-reduce left", "all-to-all left")
    assert [r[-3:-1] for r in rows] == [("87.5%", "50.0%"), ("unknown", "unknown")]


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (1.0, "100%"),
        (0.5, "50.0%"),
        (0.9996, "99.96%"),
        (0.99999, "99.999%"),
        (1 - 1e-11, "just below 100%"),
        (0, "0.0%"),
        (None, "unknown"),
    ],
)
def test_a_share_below_the_whole_is_never_rounded_up_to_it(share: float | None, text: str) -> None:
    assert percent(share) == text
