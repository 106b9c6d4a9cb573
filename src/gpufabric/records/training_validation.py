"""Predicted training steps beside published ones, and how far they lie apart."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from gpufabric.records.measured_collective import LeftOut
from gpufabric.records.validation import Bar, ErrorSummary


@dataclass(frozen=True, slots=True)
class ValidatedStep:
    """One measurement with its prediction.

    ``cluster`` and ``fold`` are the source; ``low`` and ``high`` bound the 80 % range; ``error`` is predicted / measured − 1.
    ``in_fit`` says that the constants were fitted to this source too; None: that is not known. ``not_counted`` is why the row
    does not count, empty when it does. ``assumptions`` are what the row does not say and was taken.
    """

    id: str
    cluster: str
    fold: str
    gpu: str
    gpu_class: str
    precision: str
    family: str
    model: str
    gpus: int
    quantity: str
    unit: str
    predicted: float
    low: float
    high: float
    measured: float
    error: float
    in_fit: bool | None
    not_counted: str
    assumptions: tuple[str, ...]

    @property
    def inside(self) -> bool:
        """Whether the measurement lies inside the range."""
        return self.low <= self.measured <= self.high

    def to_dict(self) -> dict[str, Any]:
        """Return the row as plain JSON values."""
        return {**asdict(self), "inside": self.inside}


@dataclass(frozen=True, slots=True)
class InSampleBar:
    """Mean absolute error of one source with constants that were fitted to it too, as other planners state theirs."""

    name: str
    limit: float
    rows: int
    mean_abs_error: float | None

    @property
    def met(self) -> bool | None:
        """Whether it is reached; None where the table has no such rows."""
        return None if self.mean_abs_error is None else self.mean_abs_error <= self.limit

    def to_dict(self) -> dict[str, Any]:
        """Return the bar as plain JSON values."""
        return {**asdict(self), "met": self.met}


@dataclass(frozen=True, slots=True)
class TrainingValidation:
    """Everything that ``gpufabric validate training`` says; ``groups`` maps what rows were grouped by to a summary a value."""

    file: str
    rows: tuple[ValidatedStep, ...]
    left_out: tuple[LeftOut, ...]
    summary: ErrorSummary
    groups: Mapping[str, Mapping[str, ErrorSummary]]
    bars: tuple[Bar, ...]
    in_sample_bars: tuple[InSampleBar, ...]
    fine_tuning: ErrorSummary
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
            "in_sample_bars": [bar.to_dict() for bar in self.in_sample_bars],
            "fine_tuning": asdict(self.fine_tuning),
            "not_counted_by_reason": reasons,
            "left_out": [asdict(row) for row in self.left_out],
            "rows": [row.to_dict() for row in self.rows],
        }
