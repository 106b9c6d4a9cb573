"""Published training steps → how far the predictions lie from them: ``gpufabric validate training``."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import fmean

from gpufabric.catalog.calibrations.load_training import fitted_sources, load_training_calibration
from gpufabric.catalog.measurements import fold_of
from gpufabric.catalog.measurements.training_facts import TRAINING
from gpufabric.errors import InputError
from gpufabric.formats.measured_training_csv import read_measured_training
from gpufabric.jobs.predict_measured_steps import PreparedStep, predict_step, prepare_steps
from gpufabric.jobs.summarise_errors import summarise, summarise_by
from gpufabric.records.training_validation import InSampleBar, TrainingValidation, ValidatedStep
from gpufabric.records.validation import Bar

FINE_TUNING = "fine-tuning"
REPORTED = "vendor_reported, not measured"
_UNITS = {"step_time_s": "s", "tokens_per_s_per_gpu": "tokens/s", "model_TFLOPs_per_gpu": "TFLOP/s"}
_IN_SAMPLE = (
    ("recomputation on Selene (korthikanti22)", "korthikanti22", 0.037),
    ("one node of B200 (simumax_b200)", "simumax_b200", 0.056),
)
_SCALES = ((8, "up to 8 GPUs"), (64, "9 to 64 GPUs"), (512, "65 to 512 GPUs"), (10**9, "more than 512 GPUs"))
_Key = Callable[[ValidatedStep], str]


def validate_training(path: Path | str | None = None, *, in_sample: bool = False) -> TrainingValidation:
    """Predict every measured training step of a table and say how far the predictions lie off.

    A source that the shipped calibration was fitted to is predicted with constants that were fitted without it.

    Parameters
    ----------
    path
        CSV with the columns of the shipped table; None: the shipped table.
    in_sample
        Predict it with the constants that were fitted to all sources instead.

    Raises
    ------
    InputError
        If the file is no such table, or none of its rows can be predicted.
    """
    table = read_measured_training(path or TRAINING)
    prepared, unknown = prepare_steps(table.rows)
    left_out = sorted((*table.left_out, *unknown), key=lambda row: row.line)
    if not prepared:
        first = left_out[0]
        raise InputError(
            f"{table.file}:{first.line}: no row of the table can be predicted (here: {first.reason}); "
            "allowed are measurements with model, plan and rate; mend the rows"
        )
    rows = [_validated(step, in_sample) for step in prepared]
    counted = [row for row in rows if not row.not_counted]
    reported = [row for row in rows if row.not_counted in {"", REPORTED}]
    keys: dict[str, _Key] = {
        "source": lambda row: row.cluster,
        "gpu": lambda row: row.gpu,
        "precision": lambda row: row.precision,
        "family": lambda row: row.family,
        "scale": lambda row: next(name for most, name in _SCALES if row.gpus <= most),
    }
    return TrainingValidation(
        file=table.file if path else "shipped measurements",
        rows=tuple(rows),
        left_out=tuple(left_out),
        summary=summarise(counted),
        groups={what: summarise_by(reported, key) for what, key in keys.items()},
        bars=_bars(counted, reported),
        in_sample_bars=_in_sample_bars(prepared),
        fine_tuning=summarise([row for row in rows if row.not_counted == FINE_TUNING]),
        method="constants fitted to all sources, those that are judged among them: flattering"
        if in_sample
        else "each source predicted with constants that were fitted without it",
    )


def counts(step: PreparedStep) -> str:
    """Return why a measurement does not count, empty when it does."""
    if re.search(r"\b(SFT|LoRA)\b", step.row.notes):
        return FINE_TUNING
    return "" if step.row.kind == "measured" else f"{step.row.kind}, not measured"


def _bars(counted: Sequence[ValidatedStep], reported: Sequence[ValidatedStep]) -> tuple[Bar, ...]:
    usual, others = ([row for row in counted if _usual(row) == wanted] for wanted in (True, False))
    wide_usual, wide_others = ([row for row in reported if _usual(row) == wanted] for wanted in (True, False))
    return (
        Bar("A100 and H100 in 16 bits", 0.10, summarise(usual), 0.25),
        Bar("A100 and H100 in 16 bits, vendors' rows too", 0.10, summarise(wide_usual), 0.25),
        Bar("other classes", 0.20, summarise(others)),
        Bar("other classes, vendors' rows too", 0.20, summarise(wide_others)),
    )


def _in_sample_bars(prepared: Sequence[PreparedStep]) -> tuple[InSampleBar, ...]:
    found = []
    for name, source, limit in _IN_SAMPLE:
        errors = [
            abs(row.error)
            for row in (_validated(step, True) for step in prepared if step.row.source == source)
            if not row.not_counted
        ]
        found.append(InSampleBar(name, limit, len(errors), fmean(errors) if errors else None))
    return tuple(found)


def _usual(row: ValidatedStep) -> bool:
    return row.gpu_class in {"ampere", "hopper"} and row.precision in {"bf16", "fp16"}


def _validated(step: PreparedStep, in_sample: bool) -> ValidatedStep:
    row, plan, gpu = step.row, step.plan, step.hardware.hardware.gpu
    known = row.source in fitted_sources()
    calibration = load_training_calibration(row.source if known and not in_sample else "")
    time_s = predict_step(step, calibration.constants_of(gpu, plan.library))
    times = (time_s, time_s * calibration.range_low, time_s * calibration.range_high)
    if step.quantity == "step_time_s":
        (predicted, low, high), measured = times, step.step_s
    else:
        predicted, high, low = (step.per_step / time for time in times)
        measured = step.per_step / step.step_s
    return ValidatedStep(
        id=row.id,
        cluster=row.source,
        fold=fold_of("training", row.source),
        gpu=gpu,
        gpu_class=calibration.class_of(gpu),
        precision=plan.formats.matmul,
        family=re.split(r"[ -]", plan.model.name)[0],
        model=plan.model.name,
        gpus=row.gpus,
        quantity=step.quantity,
        unit=_UNITS[step.quantity],
        predicted=predicted,
        low=low,
        high=high,
        measured=measured,
        error=predicted / measured - 1,
        in_fit=in_sample and known,
        not_counted=counts(step),
        assumptions=step.assumptions,
    )
