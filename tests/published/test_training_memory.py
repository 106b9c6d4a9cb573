"""Peak memory of training runs against published measurements (``catalog/measurements/training_memory.csv``)."""

from __future__ import annotations

import csv
from typing import Any

import numpy as np
import pytest

from gpufabric.catalog.load_model import model_facts
from gpufabric.catalog.measurements import TRAINING_MEMORY
from gpufabric.catalog.model_entry import build_transformer
from gpufabric.records.number_formats import NumberFormats
from gpufabric.records.plan_table import PipelineSchedule, Recompute
from gpufabric.records.transformer import Transformer
from gpufabric.training.memory import memory_per_gpu
from gpufabric.training.memory_practice import PRACTICES
from gpufabric.training.plan_row import one_plan

ROWS = list(csv.DictReader(TRAINING_MEMORY.read_text(encoding="utf-8").splitlines()))
_DEGREES = ("dp", "tp", "pp", "cp", "ep", "zero", "micro_batch", "micro_batches", "virtual_stages")


def _model(row: dict[str, str]) -> Transformer:
    entry, source = model_facts(row["model"])
    change: dict[str, Any] = {name: int(row[name]) for name in ("layers", "kv_heads") if row[name]}
    if row["first_dense_layers"] and entry.experts:
        dense = {"first_dense_layers": int(row["first_dense_layers"])}
        change["experts"] = entry.experts.model_copy(update=dense)
    return build_transformer(entry.model_copy(update=change), source.url)


def _error(row: dict[str, str]) -> float:
    plan = one_plan(
        **{name: int(row[name]) for name in _DEGREES},
        schedule=PipelineSchedule.NAMES.index(row["schedule"]),
        recompute=Recompute.NAMES.index(row["recompute"]),
    )
    sequence = int(row["sequence_length"])
    parts = memory_per_gpu(_model(row), sequence, plan, NumberFormats(), PRACTICES[row["practice"]])
    counted = parts.allocated + (parts.fragmentation if row["counted"] == "reserved" else 0.0)
    return float(counted[0]) / 2**30 / float(row["peak_gib"]) - 1.0


def test_all_rows_name_their_source() -> None:
    assert len(ROWS) == 59
    assert len({row["id"] for row in ROWS}) == len(ROWS)
    assert all(row["source"].startswith("https://") and row["read"] for row in ROWS)


# Bars of issue 7 are a mean of 10 % and a largest error of 20 %; reached on 2026-12-01: 1.1 % and 4.4 % on B200, 6.6 % and
# 17.3 % with torchtitan, whose runs differ by up to 15 % among each other where the counted parts are equal.
@pytest.mark.parametrize(
    ("source", "rows", "mean", "largest"), [("b200", 43, 0.02, 0.06), ("titan", 16, 0.10, 0.20)]
)
def test_peaks(source: str, rows: int, mean: float, largest: float) -> None:
    errors = np.abs([_error(row) for row in ROWS if row["id"].startswith(source)])
    assert len(errors) == rows
    assert errors.mean() < mean
    assert errors.max() < largest
