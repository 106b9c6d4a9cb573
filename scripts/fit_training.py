"""Fit the constants of the model of time of training to the published measurements, and leave every source out once.

Writes ``catalog/calibrations/training.toml`` and ``training_folds.toml``. Every source has the weight of at most ``MOST_ROWS``
rows (``MOST_REPORTED`` where a vendor reports them) for a class of GPUs and a format; rows of fine-tuning and estimates are not
used. Each constant is drawn to a value known beforehand as far as measurements say nothing of it; none belongs to a row or a
source.

    PYTHONPATH=src python scripts/fit_training.py [--no-folds | --models]
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.optimize import least_squares

from gpufabric.catalog.calibrations.load_training import load_training_calibration
from gpufabric.catalog.measurements.training_facts import TRAINING, source_facts
from gpufabric.formats.measured_training_csv import read_measured_training
from gpufabric.jobs.predict_measured_steps import PreparedStep, predict_step, prepare_steps
from gpufabric.jobs.validate_training import REPORTED, counts
from gpufabric.records.training_constants import TrainingCalibration

FOLDER = TRAINING.parent.parent / "calibrations"
MOST_ROWS, MOST_REPORTED = 8, 3
ROW_SIGMA = 0.04


@dataclass(frozen=True)
class Constant:
    """One constant: its place, what is known of it beforehand, how sure (natural logarithm), and its bounds."""

    table: str
    name: str
    field: str
    expected: float
    sure: float
    low: float
    high: float

    def touches(self, step: PreparedStep, calibration: TrainingCalibration) -> bool:
        if self.table == "all":
            return True
        if self.table == "libraries":
            return step.plan.library == self.name
        if self.field == "attention_ultra":
            return "ultra" in calibration.class_of(step.hardware.hardware.gpu)
        if self.field == "clock":
            return calibration.class_of(step.hardware.hardware.gpu) == self.name
        if self.field in {"bf16", "fp8", "mxfp8", "nvfp4"} and self.field not in formats_of(step):
            return False
        return generation(calibration.class_of(step.hardware.hardware.gpu)) == self.name


def generation(name: str) -> str:
    """Classes of one generation differ by their sustained clock and share the rest."""
    return "blackwell" if "blackwell" in name else name


def formats_of(step: PreparedStep) -> set[str]:
    """Formats whose share a step depends on: logits and routing stay in 16 bits."""
    matmul = step.plan.formats.matmul
    return {"bf16", "bf16" if matmul == "fp16" else matmul}


def constants() -> list[Constant]:
    found: list[Constant] = []
    for name, formats in (
        ("ampere", ("bf16",)),
        ("hopper", ("bf16", "fp8")),
        ("blackwell", ("bf16", "fp8", "mxfp8", "nvfp4")),
    ):
        # Large products reach about three quarters of the dense peak, less where operands are scaled.
        for number_format in formats:
            expected = {"bf16": 0.78, "fp8": 0.7, "mxfp8": 0.65, "nvfp4": 0.5}[number_format]
            found.append(Constant("classes", name, number_format, expected, 0.15, 0.2, 0.98))
        found += [
            Constant("classes", name, "half_size", 60.0, 0.5, 1.0, 1000.0),
            Constant("classes", name, "grouped_share", 0.8, 0.2, 0.1, 1.0),
            Constant("classes", name, "attention_share", 0.5, 0.08, 0.1, 0.8),
            Constant("classes", name, "memory_share", 0.8, 0.15, 0.3, 0.95),
            Constant("classes", name, "launch_s", 4e-6, 0.4, 5e-7, 1.5e-5),
            Constant("classes", name, "step_s", 0.02, 0.7, 1e-3, 0.2),
        ]
    # Blackwell Ultra doubles the rate of the exponentials of attention
    # (https://developer.nvidia.com/blog/inside-nvidia-blackwell-ultra-the-chip-powering-the-ai-factory-era/, read 2026-12-01).
    found.append(Constant("classes", "ultra", "attention_ultra", 1.4, 0.15, 1.0, 2.0))
    for name in ("blackwell-ultra", "grace-blackwell", "grace-blackwell-ultra"):
        found.append(Constant("classes", name, "clock", 1.0, 0.1, 0.7, 1.5))
    for name in ("megatron-2021", "megatron-2022", "pytorch-compiled", "pytorch-eager"):
        fused = name.startswith("megatron")
        found += [
            Constant("libraries", name, "element_factor", 1.0 if fused else 1.3, 0.4, 0.5, 6.0),
            Constant("libraries", name, "launch_factor", 1.0 if fused else 1.5, 0.5, 0.2, 20.0),
        ]
        if not fused:
            found.append(Constant("libraries", name, "attention_factor", 0.8, 0.4, 0.1, 1.5))
    found.append(Constant("all", "", "backward_ratio", 0.75, 0.2, 0.2, 1.0))
    found.append(Constant("all", "", "overlap_slowdown", 0.2, 0.5, 0.01, 1.0))
    return found


def calibrated(
    base: TrainingCalibration, known: Sequence[Constant], values: Iterable[float]
) -> TrainingCalibration:
    """Return the calibration with the values of *known* in place."""
    document = base.model_dump()
    ratio, ultra, clocks = 0.75, 1.0, {}
    for constant, value in zip(known, values, strict=True):
        number = float(f"{value:.4g}")
        if constant.table == "all":
            ratio = number if constant.field == "backward_ratio" else ratio
            if constant.field == "overlap_slowdown":
                for one in document["classes"].values():
                    one["overlap_slowdown"] = number
        elif constant.field == "attention_ultra":
            ultra = number
        elif constant.field == "clock":
            clocks[constant.name] = number
        elif constant.field in {"bf16", "fp8", "mxfp8", "nvfp4"}:
            document["classes"][constant.name]["gemm_share"][constant.field] = number
        else:
            document[constant.table][constant.name][constant.field] = number
    for name, clock in clocks.items():
        copied = {**document["classes"]["blackwell"], "gpus": document["classes"][name]["gpus"]}
        scaled = {key: min(float(f"{share * clock:.4g}"), 1.0) for key, share in copied["gemm_share"].items()}
        faster = clock * (ultra if "ultra" in name else 1.0)
        attention = min(float(f"{copied['attention_share'] * faster:.4g}"), 1.0)
        document["classes"][name] = {**copied, "gemm_share": scaled, "attention_share": attention}
    for one in document["classes"].values():
        one["attention_backward_share"] = float(f"{one['attention_share'] * ratio:.4g}")
        shares = one["gemm_share"]
        shares["fp16"] = shares["bf16"]
    return TrainingCalibration.model_validate(document)


def weights(steps: Sequence[PreparedStep], base: TrainingCalibration) -> np.ndarray:
    groups = [(s.row.source, base.class_of(s.hardware.hardware.gpu), s.plan.formats.matmul) for s in steps]
    counted = Counter(groups)
    most = [MOST_ROWS if step.row.kind == "measured" else MOST_REPORTED for step in steps]
    return np.array(
        [
            np.sqrt(min(counted[group], limit) / counted[group])
            for group, limit in zip(groups, most, strict=True)
        ]
    )


def fit(
    base: TrainingCalibration,
    known: Sequence[Constant],
    steps: Sequence[PreparedStep],
    start: np.ndarray,
    rounds: int,
) -> np.ndarray:
    """Return the logarithms of the constants that fit best."""
    weight = weights(steps, base) / ROW_SIGMA
    measured = np.log([step.step_s for step in steps])
    touched = [np.array([constant.touches(step, base) for step in steps]) for constant in known]
    expected = np.log([constant.expected for constant in known])
    sure = np.array([constant.sure for constant in known])
    low = np.log([constant.low for constant in known])
    high = np.log([constant.high for constant in known])

    def logs(x: np.ndarray, rows: np.ndarray) -> np.ndarray:
        calibration = calibrated(base, known, np.exp(x))
        cache: dict[tuple[str, str], object] = {}
        found = []
        for row in rows:
            step = steps[row]
            key = (step.hardware.hardware.gpu, step.plan.library)
            if key not in cache:
                cache[key] = calibration.constants_of(*key)
            found.append(predict_step(step, cache[key]))
        return np.log(found)

    everything = np.arange(len(steps))
    last: dict[str, np.ndarray] = {}

    def residuals(x: np.ndarray) -> np.ndarray:
        last["x"], last["logs"] = x.copy(), logs(x, everything)
        return np.concatenate([(last["logs"] - measured) * weight, (x - expected) / sure])

    def jacobian(x: np.ndarray) -> np.ndarray:
        if not np.array_equal(last.get("x"), x):
            residuals(x)
        matrix = np.zeros((len(steps) + len(known), len(known)))
        for column, rows in enumerate(touched):
            moved = x.copy()
            by = 0.02 if x[column] + 0.02 < high[column] else -0.02
            moved[column] += by
            index = np.flatnonzero(rows)
            if len(index):
                matrix[index, column] = (logs(moved, index) - last["logs"][index]) / by * weight[index]
            matrix[len(steps) + column, column] = 1.0 / sure[column]
        return matrix

    inside = np.clip(start, low + 1e-4, high - 1e-4)
    return least_squares(
        residuals, inside, jac=jacobian, bounds=(low, high), loss="cauchy", f_scale=2.0, max_nfev=rounds
    ).x


def toml_value(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{name} = {toml_value(one)}" for name, one in value.items()) + " }"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(toml_value(one) for one in value) + "]"
    return repr(value)


def write_calibration(calibration: TrainingCalibration, path: Path) -> None:
    lines = [
        "# Written by scripts/fit_training.py; do not edit.",
        "# Constants of the model of time of training (docs/reference/validation-training.md): shares and seconds.",
    ]
    document = calibration.model_dump()
    lines += [
        f"{name} = {toml_value(document[name])}"
        for name in ("name", "script", "range_low", "range_high", "rows")
    ]
    for table in ("classes", "libraries"):
        for name, fields in document[table].items():
            lines += ["", f"[{table}.{name}]"] + [f"{key} = {toml_value(one)}" for key, one in fields.items()]
    for source in document["sources"]:
        lines += ["", "[[sources]]"] + [f"{key} = {toml_value(one)}" for key, one in source.items() if one]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def write_folds(whole: TrainingCalibration, folds: dict[str, TrainingCalibration], path: Path) -> None:
    lines = ["# Written by scripts/fit_training.py: what changes when a source is left out.", "[folds]"]
    for source, calibration in folds.items():
        lines.append(f"[folds.{source}]")
        for table in ("classes", "libraries"):
            for name, one in getattr(calibration, table).items():
                old, new = getattr(whole, table)[name].model_dump(), one.model_dump()
                changed = {key: value for key, value in new.items() if value != old[key]}
                if changed:
                    lines.append(f"[folds.{source}.{table}.{name}]")
                    lines += [f"{key} = {toml_value(value)}" for key, value in changed.items()]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def described(base: TrainingCalibration, steps: Sequence[PreparedStep]) -> TrainingCalibration:
    """Name the sources behind every class, and where they were read."""
    document = base.model_dump()
    by_class = {name: set() for name in document["classes"]}
    by_library = {name: set() for name in document["libraries"]}
    for step in steps:
        by_class[base.class_of(step.hardware.hardware.gpu)].add(step.row.source)
        by_library[step.plan.library].add(step.row.source)
    for table, found in (("classes", by_class), ("libraries", by_library)):
        for name, sources in found.items():
            document[table][name]["sources"] = sorted(sources)
    used = sorted({step.row.source for step in steps})
    facts = [source_facts(source) for source in used]
    document["sources"] = [{"title": one.title, "url": one.url, "read": one.read} for one in facts if one]
    document["rows"] = len(steps)
    return TrainingCalibration.model_validate(document)


def residual_range(
    folds: dict[str, TrainingCalibration], steps: Sequence[PreparedStep]
) -> tuple[float, float]:
    """Return the 10 % and 90 % quantiles of measured / predicted of sources that were left out, one vote a source."""
    ratios, votes = [], []
    for source, calibration in folds.items():
        mine = [step for step in steps if step.row.source == source]
        for step in mine:
            reached = calibration.constants_of(step.hardware.hardware.gpu, step.plan.library)
            ratios.append(step.step_s / predict_step(step, reached))
            votes.append(1.0 / len(mine))
    order = np.argsort(ratios)
    share = np.cumsum(np.array(votes)[order]) / np.sum(votes)
    low, high = (float(np.array(ratios)[order][np.searchsorted(share, level)]) for level in (0.1, 0.9))
    return float(f"{min(low, 1.0):.4g}"), float(f"{max(high, 1.0):.4g}")


def leave_models_out(
    base: TrainingCalibration, known: Sequence[Constant], steps: Sequence[PreparedStep], best: np.ndarray
) -> None:
    """Print how far every model of the classes that are no A100 or H100 in 16 bits is off when all its rows are left out."""
    found = []
    for name in sorted({step.plan.model.name for step in steps}):
        mine = [step for step in steps if step.plan.model.name == name]
        others = [
            step
            for step in mine
            if base.class_of(step.hardware.hardware.gpu) not in {"ampere", "hopper"}
            or step.plan.formats.matmul not in {"bf16", "fp16"}
        ]
        if not others:
            continue
        rest = [step for step in steps if step.plan.model.name != name]
        fold = calibrated(base, known, np.exp(fit(base, known, rest, best, 7)))
        errors = [
            predict_step(step, fold.constants_of(step.hardware.hardware.gpu, step.plan.library)) / step.step_s
            - 1
            for step in others
        ]
        found.append(float(np.median(np.abs(errors))))
        print(f"left out {name}: median {found[-1]:.1%} of {len(others)} rows", flush=True)
    print(f"leaving models out: median {np.median(found):.1%} of {len(found)} models")


def main() -> None:
    base, known = load_training_calibration(), constants()
    prepared, _ = prepare_steps(read_measured_training(TRAINING).rows)
    steps = [step for step in prepared if counts(step) in {"", REPORTED}]
    start = np.log([constant.expected for constant in known])
    best = fit(base, known, steps, start, 14)
    whole = described(calibrated(base, known, np.exp(best)), steps)
    for constant, value in zip(known, np.exp(best), strict=True):
        print(f"{constant.table:10} {constant.name:18} {constant.field:20} {value:.4g}")
    if "--models" in sys.argv:
        leave_models_out(base, known, steps, best)
        return
    folds = {}
    if "--no-folds" not in sys.argv:
        for source in sorted({step.row.source for step in steps}):
            rest = [step for step in steps if step.row.source != source]
            folds[source] = calibrated(base, known, np.exp(fit(base, known, rest, best, 7)))
            print("left out", source, flush=True)
        low, high = residual_range(folds, steps)
        whole = whole.model_copy(update={"range_low": low, "range_high": high})
        write_folds(whole, folds, FOLDER / "training_folds.toml")
    write_calibration(whole, FOLDER / "training.toml")


if __name__ == "__main__":
    main()
