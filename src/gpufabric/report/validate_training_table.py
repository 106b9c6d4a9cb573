"""A validation of training → rows of tables, besides those that every validation has."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from gpufabric.records.training_validation import InSampleBar, TrainingValidation, ValidatedStep
from gpufabric.units import counted, format_time, percent_text

STEP_COLUMNS = ("row", "model", "GPU", "GPUs", "format", "measured", "predicted", "80 % range", "error", "")
IN_SAMPLE_COLUMNS = ("in sample", "mean", "at most", "reached", "rows")
STEP_TITLES: Mapping[str, str] = {
    "source": "By source",
    "gpu": "By GPU",
    "precision": "By number format",
    "family": "By family of models",
    "scale": "By scale",
}
_MOST_LISTED = 12


def step_rows(rows: Sequence[ValidatedStep]) -> list[tuple[str, ...]]:
    """Return one row of text a measurement; the last cell says why it does not count."""
    return [
        (
            row.id,
            row.model,
            row.gpu,
            f"{row.gpus:,}",
            row.precision,
            _value(row, row.measured),
            _value(row, row.predicted),
            f"{_value(row, row.low)} – {_value(row, row.high)}",
            f"{'+' if row.error > 0 else ''}{percent_text(row.error)}",
            row.not_counted,
        )
        for row in rows
    ]


def in_sample_rows(bars: Sequence[InSampleBar]) -> list[tuple[str, ...]]:
    """Return one row of text a source that other planners state their error for."""
    return [
        (
            bar.name,
            "" if bar.mean_abs_error is None else percent_text(bar.mean_abs_error),
            percent_text(bar.limit),
            {True: "yes", False: "no", None: "no data"}[bar.met],
            str(bar.rows),
        )
        for bar in bars
    ]


def assumption_rows(rows: Sequence[ValidatedStep]) -> list[tuple[str, ...]]:
    """Return what was taken for each row that does not say all."""
    return [(row.id, "; ".join(row.assumptions)) for row in rows if row.assumptions]


def training_notes(result: TrainingValidation) -> str:
    """Return what stands below the tables: how rows were treated and what is missing, one line each."""
    lines = [result.method]
    reasons = Counter(row.not_counted for row in result.rows if row.not_counted)
    lines += [f"not counted: {counted(number, 'row')}: {reason}" for reason, number in reasons.most_common()]
    lines.append(
        "the summary counts measured rows; groups have rows that vendors report too; rows of fine-tuning are in neither"
    )
    taken = Counter(text for row in result.rows for text in set(row.assumptions))
    lines += [
        f"assumed for {counted(number, 'row')}: {text}" for text, number in taken.most_common(_MOST_LISTED)
    ]
    if len(taken) > _MOST_LISTED:
        lines.append(
            f"{counted(len(taken) - _MOST_LISTED, 'assumption')} more; --rows shows those of every row"
        )
    missing = Counter(row.reason for row in result.left_out)
    lines += [
        f"not predicted: {counted(number, 'row')}: {reason}"
        for reason, number in missing.most_common(_MOST_LISTED)
    ]
    return "\n".join(lines)


def _value(row: ValidatedStep, value: float) -> str:
    return format_time(value) if row.quantity == "step_time_s" else f"{value:,.4g} {row.unit}"
