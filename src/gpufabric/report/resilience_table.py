"""N−1 rows of a design document → the table that people read: what one lost thing costs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

COLUMNS = (
    "one lost",
    "of",
    "GPUs cut off",
    "GPUs degraded",
    "they keep",
    "injection left",
    "bisection left",
    "worst: for example",
)
_UNKNOWN = "unknown"


def resilience_rows(rows: list[Mapping[str, Any]]) -> list[tuple[str, ...]]:
    """Return one row of texts for each kind of loss, of the worst member; where most cost less, a second row of a typical one.

    Parameters
    ----------
    rows
        ``n_minus_1`` of the design document, of one fabric. The names come from the user's files: whoever prints the cells must
        escape control characters.
    """
    table = []
    for row in rows:
        kind = _kind(row)
        table.append(_cells(kind, f"{row['count']:,}", row["worst"]))
        if _metrics(row["typical"]) != _metrics(row["worst"]):
            table.append(_cells(f"{kind}, most", f"{row['typical']['count']:,}", row["typical"]))
    return table


def _kind(row: Mapping[str, Any]) -> str:
    lost, place = str(row["lost"]), str(row["place"]).replace("_", "–")
    return {"cable": f"cable {place}", "optic": f"optic in a {place}", "nic": "NIC"}.get(lost, lost)


def _metrics(cost: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in cost.items() if key not in {"example", "count"}}


def _cells(kind: str, of: str, cost: Mapping[str, Any]) -> tuple[str, ...]:
    return (
        kind,
        of,
        f"{cost['gpus_cut_off']:,}",
        f"{cost['gpus_degraded']:,}",
        "" if cost["least_share_left"] is None else percent(cost["least_share_left"]),
        percent(cost["injection_left"]),
        percent(cost["bisection_left"]),
        cost["example"],
    )


def percent(share: float | None) -> str:
    """Return a share as text; just below the whole it shows how far below, never a rounded 100 %."""
    if share is None:
        return _UNKNOWN
    if share >= 1 - 1e-12:
        return "100%"
    for digits in range(1, 9):
        text = f"{share:.{digits}%}"
        if not text.startswith("100"):
            return text
    return "just below 100%"
