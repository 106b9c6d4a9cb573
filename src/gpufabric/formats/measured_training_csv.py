"""CSV of published measurements of training → :class:`~gpufabric.records.measured_step.MeasuredStepFile`.

The columns are in ``docs/reference/validation-training.md``. A row that can't be used is left out with its reason; a file that is
no such table is refused.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from pathlib import Path

from gpufabric.errors import InputError, printable
from gpufabric.formats.csv_rows import csv_rows
from gpufabric.records.measured_collective import LeftOut
from gpufabric.records.measured_step import MeasuredStep, MeasuredStepFile
from gpufabric.units import from_teraflops

REQUIRED = ("id", "group", "model", "gpu", "gpus", "seq_len")
MEASURES = ("step_time_s", "tokens_per_s_per_gpu", "model_tflops_per_gpu")
_MAX_CELL = 4000
_MOST = 10**12
_NUMBER = re.compile(r"\d{1,18}(?:\.\d{0,18})?(?:[eE][+-]?\d{1,3})?")
_WHOLE = re.compile(r"\d{1,13}(?:\.0{0,6})?")
_SHAPE = ("layers", "hidden", "heads", "kv_heads", "ffn", "vocab")
_DEGREES = {"tp": "tp", "pp": "pp", "cp": "cp", "ep": "ep", "dp": "dp", "interleave_vp": "virtual"}
_ACCUMULATED = re.compile(r"\b(\d{1,6}) micro-batches per iteration")
_TEXTS = {
    "model": "model",
    "gpu": "gpu",
    "network": "cluster_network",
    "precision": "precision",
    "recompute": "recompute",
    "sharding": "zero_fsdp",
    "sequence_parallel": "seq_parallel",
    "notes": "notes",
    "experts": "experts",
    "convention": "flops_convention",
}


def read_measured_training(path: Path | str) -> MeasuredStepFile:
    """Return the measurements in a CSV file.

    Parameters
    ----------
    path
        UTF-8, at most 64 MiB; the first line names the columns, unknown ones are allowed.

    Raises
    ------
    InputError
        If the file can't be read, is not CSV, lacks a needed column, or has no rows.
    """
    where = printable(str(path), 200)
    rows = csv_rows(path, where)
    columns = _columns(next(rows, (1, [])), where)
    read: list[MeasuredStep] = []
    left_out: list[LeftOut] = []
    for line, cells in rows:
        row = {name: cells[i] if i < len(cells) else "" for name, i in columns.items()}
        shown = printable(row["id"] or f"line {line}")
        try:
            read.append(_measured(row, shown, line))
        except InputError as error:
            left_out.append(LeftOut(shown, printable(row["group"]), line, str(error)))
    if not read and not left_out:
        raise InputError(f"{where}: has no rows; a table of measurements has one row a measurement; add some")
    return MeasuredStepFile(where, tuple(read), tuple(left_out))


def _columns(header: tuple[int, list[str]], where: str) -> dict[str, int]:
    line, cells = header
    names = [cell.lower() for cell in cells]
    missing = [name for name in REQUIRED if name not in names]
    if missing or not set(MEASURES) & set(names):
        wrong = f"column {missing[0]} is missing" if missing else "no column says what was measured"
        raise InputError(
            f"{where}:{line}: {wrong} (found {printable(','.join(cells), 60)}); needed are {', '.join(REQUIRED)} "
            "and one of step_time_s, tokens_per_s_per_gpu, model_TFLOPs_per_gpu; name them in the first line"
        )
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise InputError(f'{where}:{line}: column "{printable(twice)}" is named twice; remove one')
    return {name: index for index, name in enumerate(names)}


def _measured(row: Mapping[str, str], shown: str, line: int) -> MeasuredStep:
    if any(len(cell) > _MAX_CELL for cell in row.values()):
        raise InputError(f"a cell has more than {_MAX_CELL:,} characters")
    if not row["group"]:
        raise InputError("group is blank")
    shape = {name: value for name in _SHAPE if (value := _positive(row.get(name, "")))}
    degrees = {to: _whole(row, name) for name, to in _DEGREES.items() if row.get(name, "")}
    told = _ACCUMULATED.search(row.get("notes", ""))
    gpus = _whole(row, "gpus")
    total = _positive(row.get("tokens_per_s", ""))
    rate = _positive(row.get("tokens_per_s_per_gpu", "")) or (total / gpus if total and gpus else 0.0)
    return MeasuredStep(
        id=shown,
        source=printable(row["group"]),
        line=line,
        kind=printable(row.get("kind", "")) or "measured",
        shape=shape,
        gpus=gpus,
        sequence=_whole(row, "seq_len"),
        global_batch=_whole(row, "global_batch_seqs"),
        micro_batch=_whole(row, "micro_batch"),
        micro_batches=int(told.group(1)) if told else 0,
        degrees=degrees,
        step_time_s=_positive(row.get("step_time_s", "")),
        tokens_per_s_per_gpu=rate,
        flops_per_s_per_gpu=from_teraflops(_positive(row.get("model_tflops_per_gpu", ""))),
        **{name: printable(row.get(column, ""), 400) for name, column in _TEXTS.items()},
    )


def _positive(text: str) -> float:
    if not _NUMBER.fullmatch(text):
        return 0.0
    value = float(text)
    return value if math.isfinite(value) and value < _MOST else 0.0


def _whole(row: Mapping[str, str], name: str) -> int:
    text = row.get(name, "")
    if not text:
        return 0
    if not _WHOLE.fullmatch(text) or not 1 <= float(text) < _MOST:
        raise InputError(f'{name} "{printable(text, 40)}" is no whole number from 1 to {_MOST - 1:,}')
    return int(float(text))
