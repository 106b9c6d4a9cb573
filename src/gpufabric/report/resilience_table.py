"""N−1 rows of a design document → the table that people read: what one lost thing costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

_COUNTS = ("GPUs cut off", "GPUs degraded")
_SHARES = {
    "least_share_left": "they keep",
    "injection_left": "injection left",
    "bisection_left": "bisection left",
    "all_reduce_left": "all-reduce left",
    "all_to_all_left": "all-to-all left",
}
# A fabric that carries no collectives has no columns for them.
_ONLY_WHERE_KNOWN = ("all_reduce_left", "all_to_all_left")
_UNKNOWN = "unknown"


def resilience_table(rows: Sequence[Mapping[str, Any]]) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Return headings and one row of texts for each kind of loss, of the worst member; then a typical one where it costs less.

    Parameters
    ----------
    rows
        ``n_minus_1`` of the design document, of one fabric. The names come from the user's files: whoever prints the cells must
        escape control characters.
    """
    shares = [key for key in _SHARES if key not in _ONLY_WHERE_KNOWN or _known(rows, key)]
    table = []
    for row in rows:
        kind = _kind(row)
        table.append(_cells(kind, f"{row['count']:,}", row["worst"], shares))
        if _metrics(row["typical"]) != _metrics(row["worst"]):
            table.append(_cells(f"{kind}, most", f"{row['typical']['count']:,}", row["typical"], shares))
    headings = ("one lost", "of", *_COUNTS, *(_SHARES[key] for key in shares), "worst: for example")
    return headings, table


def _known(rows: Sequence[Mapping[str, Any]], key: str) -> bool:
    return any(row[which][key] is not None for row in rows for which in ("worst", "typical"))


def _kind(row: Mapping[str, Any]) -> str:
    lost, place = str(row["lost"]), str(row["place"]).replace("_", "–")
    return {"cable": f"cable {place}", "optic": f"optic in a {place}", "nic": "NIC"}.get(lost, lost)


def _metrics(cost: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in cost.items() if key not in {"example", "count"}}


def _cells(kind: str, of: str, cost: Mapping[str, Any], shares: Sequence[str]) -> tuple[str, ...]:
    # Where no server is degraded there is nothing that its GPUs keep.
    texts = ["" if key == "least_share_left" and cost[key] is None else percent(cost[key]) for key in shares]
    return (kind, of, f"{cost['gpus_cut_off']:,}", f"{cost['gpus_degraded']:,}", *texts, cost["example"])


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
