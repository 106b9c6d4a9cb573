"""Validated rows → which of them count, and medians, 90th percentiles and shares, one vote a fold.

``gpufabric validate`` and the script that fits the constants both judge by this file.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import replace
from typing import Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from gpufabric.records.validation import Bar, ErrorSummary, ValidatedRow

SMALL_BYTES = 64 << 10
LARGE_BYTES = 16 << 20
ONLY_CLUSTER = "only cluster of its class in its band"
# Band → the most that the median and the 90th percentile may be.
_BARS: dict[str, tuple[float, float | None]] = {
    "one server, from 16 MiB": (0.05, None),
    "multi-node all_reduce, from 16 MiB": (0.10, 0.25),
    "64 KiB to 16 MiB": (0.20, None),
    "one server, up to 64 KiB": (0.20, None),
    "multi-node, up to 64 KiB": (0.35, None),
}
_BANDS = ("up to 64 KiB", "64 KiB to 16 MiB", "from 16 MiB")


def size_band(row: ValidatedRow) -> str:
    """Return the band of sizes of a row, with whether it stays in one server."""
    band = _BANDS[(row.size_bytes > SMALL_BYTES) + (row.size_bytes >= LARGE_BYTES)]
    return f"{'one server' if row.nodes == 1 else 'multi-node'}, {band}"


class Judged(Protocol):
    """What a row must have to be summarised."""

    @property
    def fold(self) -> str:
        """What it votes with."""
        ...

    @property
    def error(self) -> float:
        """Predicted / measured − 1."""
        ...

    @property
    def inside(self) -> bool:
        """Whether the measurement lies inside the range."""
        ...


_J = TypeVar("_J", bound=Judged)


def summarise(rows: Iterable[Judged]) -> ErrorSummary:
    """Return how far *rows* lie from their measurements; see :class:`gpufabric.records.validation.ErrorSummary`."""
    by_fold: dict[str, list[Judged]] = {}
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


def summarise_by(rows: Sequence[_J], key: Callable[[_J], str]) -> dict[str, ErrorSummary]:
    """Return one summary for each value of *key*, sorted by it."""
    groups: dict[str, list[_J]] = {}
    for row in rows:
        groups.setdefault(key(row), []).append(row)
    return {name: summarise(groups[name]) for name in sorted(groups)}


def bar_of(row: ValidatedRow) -> str:
    """Return the bar that a row counts for; large messages of other operations between nodes have a name, but no bar."""
    if SMALL_BYTES < row.size_bytes < LARGE_BYTES:
        return "64 KiB to 16 MiB"
    size = "up to 64 KiB" if row.size_bytes <= SMALL_BYTES else "from 16 MiB"
    if row.nodes == 1:
        return f"one server, {size}"
    if row.size_bytes <= SMALL_BYTES:
        return f"multi-node, {size}"
    return f"multi-node {'all_reduce' if row.op == 'all_reduce' else 'other operations'}, {size}"


def without_lonely_classes(
    rows: Sequence[ValidatedRow], fitted: Container[str] | None = None
) -> list[ValidatedRow]:
    """Take rows out of the count whose class has no second cluster in their bar's band.

    Such a cluster can't be cross-validated: left out, nothing of its class is left to learn from.

    Parameters
    ----------
    rows
    fitted
        Clusters that the constants were fitted to, None: all. Any other one needs no second, as nothing has to be left out.
    """
    clusters = {(row.hw_class, bar_of(row), row.fold) for row in rows if not row.not_counted}
    folds = Counter((hw_class, bar) for hw_class, bar, _ in clusters)
    return [
        replace(row, not_counted=ONLY_CLUSTER)
        if not row.not_counted
        and (fitted is None or row.cluster in fitted)
        and folds[row.hw_class, bar_of(row)] == 1
        else row
        for row in rows
    ]


def bars(counted: Sequence[ValidatedRow]) -> tuple[Bar, ...]:
    """Return what predictions have to reach, with what they do reach over the rows that count."""
    return tuple(
        Bar(name, median, summarise(row for row in counted if bar_of(row) == name), p90)
        for name, (median, p90) in _BARS.items()
    )


def _weighted_quantile(values: NDArray[np.float64], weights: NDArray[np.float64], level: float) -> float:
    """Return the least value that has *level* of the weight at or below it."""
    order = np.argsort(values, kind="stable")
    share = np.cumsum(weights[order]) / weights.sum()
    return float(values[order][min(int(np.searchsorted(share, level - 1e-12)), len(values) - 1)])
