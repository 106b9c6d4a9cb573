"""Validated rows → medians, 90th percentiles and shares, one vote a fold."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from gpufabric.records.validation import Bar, ErrorSummary, ValidatedRow

SMALL_BYTES = 64 << 10
LARGE_BYTES = 16 << 20
ONLY_CLUSTER = "only cluster of its class"
_BANDS = ("up to 64 KiB", "64 KiB to 16 MiB", "from 16 MiB")


def size_band(row: ValidatedRow) -> str:
    """Return the band of sizes of a row, with whether it stays in one server."""
    band = _BANDS[(row.size_bytes > SMALL_BYTES) + (row.size_bytes >= LARGE_BYTES)]
    return f"{'one server' if row.nodes == 1 else 'multi-node'}, {band}"


def summarise(rows: Iterable[ValidatedRow]) -> ErrorSummary:
    """Return how far *rows* lie from their measurements; see :class:`gpufabric.records.validation.ErrorSummary`."""
    by_fold: dict[str, list[ValidatedRow]] = {}
    for row in rows:
        by_fold.setdefault(row.fold, []).append(row)
    if not by_fold:
        return ErrorSummary(0, 0, None, None, None, None)
    errors = [np.array([row.error for row in fold]) for fold in by_fold.values()]
    weights = [np.full(len(found), 1.0 / len(found)) for found in errors]
    inside = [np.mean([row.inside for row in fold]) for fold in by_fold.values()]
    return ErrorSummary(
        rows=sum(map(len, errors)),
        clusters=len(errors),
        median_abs_error=float(np.median([np.median(np.abs(found)) for found in errors])),
        p90_abs_error=_weighted_quantile(np.abs(np.concatenate(errors)), np.concatenate(weights), 0.9),
        bias=float(np.median([np.median(found) for found in errors])),
        inside_range=float(np.mean(inside)),
    )


def summarise_by(rows: Sequence[ValidatedRow], key: Callable[[ValidatedRow], str]) -> dict[str, ErrorSummary]:
    """Return one summary for each value of *key*, sorted by it."""
    groups: dict[str, list[ValidatedRow]] = {}
    for row in rows:
        groups.setdefault(key(row), []).append(row)
    return {name: summarise(groups[name]) for name in sorted(groups)}


def bars(counted: Sequence[ValidatedRow]) -> tuple[Bar, ...]:
    """Return what predictions have to reach, with what they do reach over the rows that count."""

    def of(keep: Callable[[ValidatedRow], bool]) -> ErrorSummary:
        return summarise(row for row in counted if keep(row))

    small, large = SMALL_BYTES, LARGE_BYTES
    return (
        Bar("one server, from 16 MiB", 0.05, of(lambda r: r.nodes == 1 and r.size_bytes >= large)),
        Bar(
            "multi-node all_reduce, from 16 MiB",
            0.10,
            of(lambda r: r.nodes > 1 and r.op == "all_reduce" and r.size_bytes >= large),
            0.25,
        ),
        Bar("64 KiB to 16 MiB", 0.20, of(lambda r: small < r.size_bytes < large)),
        Bar("one server, up to 64 KiB", 0.20, of(lambda r: r.nodes == 1 and r.size_bytes <= small)),
        Bar("multi-node, up to 64 KiB", 0.35, of(lambda r: r.nodes > 1 and r.size_bytes <= small)),
    )


def _weighted_quantile(values: NDArray[np.float64], weights: NDArray[np.float64], level: float) -> float:
    """Return the least value that has *level* of the weight at or below it."""
    order = np.argsort(values, kind="stable")
    share = np.cumsum(weights[order]) / weights.sum()
    return float(values[order][min(int(np.searchsorted(share, level - 1e-12)), len(values) - 1)])
