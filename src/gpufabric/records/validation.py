"""Predictions beside published measurements, and how far they lie apart."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

from gpufabric.records.measured_collective import LeftOut

Quantity = Literal["time_s", "busbw_bytes_per_s"]
UNITS: Mapping[str, str] = {"time_s": "s", "busbw_bytes_per_s": "B/s"}


@dataclass(frozen=True, slots=True)
class ValidatedRow:
    """One measurement with its prediction.

    ``low`` and ``high`` bound the 80 % range; ``error`` is predicted / measured − 1. ``in_fit`` says that the constants behind
    the prediction were fitted to this cluster too; None when that is not known. ``not_counted`` is why the row does not count,
    empty when it does. ``notes`` are what of its library's settings was not acted on.
    """

    id: str
    cluster: str
    fold: str
    hw_class: str
    op: str
    nodes: int
    gpus: int
    size_bytes: int
    quantity: Quantity
    unit: str
    predicted: float
    low: float
    high: float
    measured: float
    error: float
    algorithm: str
    protocol: str
    in_fit: bool | None
    not_counted: str
    notes: tuple[str, ...] = ()

    @property
    def inside(self) -> bool:
        """Whether the measurement lies inside the range."""
        return self.low <= self.measured <= self.high

    def to_dict(self) -> dict[str, Any]:
        """Return the row as plain JSON values."""
        return {**asdict(self), "inside": self.inside}


@dataclass(frozen=True, slots=True)
class ErrorSummary:
    """How far predictions lie from measurements, one vote a fold. Figures are None where there are no rows.

    Attributes
    ----------
    rows, clusters : int
        ``clusters`` counts folds.
    median_abs_error : float
        Median over the folds of the median absolute error of a fold's rows.
    p90_abs_error : float
        90th percentile of the absolute error over the rows, each weighing 1 / the rows of its fold.
    bias : float
        Median over the folds of the median error of a fold's rows.
    inside_range : float
        Mean over the folds of the share of a fold's rows whose measurement lies inside the 80 % range.
    """

    rows: int
    clusters: int
    median_abs_error: float | None
    p90_abs_error: float | None
    bias: float | None
    inside_range: float | None


@dataclass(frozen=True, slots=True)
class Bar:
    """What the predictions must reach: limits of the median and, if any, of the 90th percentile of the absolute error."""

    name: str
    limit: float
    summary: ErrorSummary
    p90_limit: float | None = None

    @property
    def met(self) -> bool | None:
        """Whether it is reached; None where nothing counts."""
        found = self.summary
        if found.median_abs_error is None or found.p90_abs_error is None:
            return None
        return found.median_abs_error <= self.limit and (
            self.p90_limit is None or found.p90_abs_error <= self.p90_limit
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the bar as plain JSON values."""
        own = {"name": self.name, "limit": self.limit, "p90_limit": self.p90_limit, "met": self.met}
        return {**own, **asdict(self.summary)}


@dataclass(frozen=True, slots=True)
class Validation:
    """Everything that ``gpufabric validate`` says.

    ``groups`` maps what rows were grouped by (``class``, ``op``, ``size_band``) to a summary a value. A class is summarised even
    where it has one cluster only, which counts nowhere else. ``method`` says how rows in the fit were treated.
    """

    file: str
    rows: tuple[ValidatedRow, ...]
    left_out: tuple[LeftOut, ...]
    summary: ErrorSummary
    groups: Mapping[str, Mapping[str, ErrorSummary]]
    bars: tuple[Bar, ...]
    method: str

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain JSON values; the fields are in ``docs/reference/json.md``."""
        by = {
            f"by_{what}": {name: asdict(found) for name, found in group.items()}
            for what, group in self.groups.items()
        }
        reasons: dict[str, int] = {}
        for row in self.rows:
            if row.not_counted:
                reasons[row.not_counted] = reasons.get(row.not_counted, 0) + 1
        return {
            "file": self.file,
            "method": self.method,
            "summary": {**asdict(self.summary), **by},
            "bars": [bar.to_dict() for bar in self.bars],
            "not_counted_by_reason": reasons,
            "left_out": [asdict(row) for row in self.left_out],
            "rows": [row.to_dict() for row in self.rows],
        }
