"""A plan that can't be → the nearest one that can, by degrees."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpufabric.records.number_formats import NumberFormats
from gpufabric.records.plan_table import PlanTable
from gpufabric.records.transformer import Transformer
from gpufabric.training.feasible import (
    PlanLimits,
    degrees_of,
    fits,
    plan_text,
    possible_plans,
    why_impossible,
    why_too_large,
)
from gpufabric.training.memory import memory_per_gpu
from gpufabric.training.memory_practice import MemoryPractice

_MOST_CANDIDATES = 60_000


@dataclass(frozen=True, slots=True)
class NearestPlan:
    """What the nearest plan is sought among."""

    model: Transformer
    limits: PlanLimits
    formats: NumberFormats
    practice: MemoryPractice
    memory_bytes: float


def nearest_plan(asked: PlanTable, among: NearestPlan) -> PlanTable | None:
    """Return the plan nearest to *asked* that is possible and fits, a table of one row; None if none is near.

    Degrees change by factors of two and by those that divide heads, layers and experts; the distance is the sum of the changes as
    powers of two, and what costs time (recomputation, sharding) counts one each.

    Parameters
    ----------
    asked
        A table of one row.
    among
        The model and what a plan must fit.
    """
    candidates, distance = _candidates(asked, among.limits)
    possible = np.flatnonzero(possible_plans(among.limits, candidates))
    if not len(possible):
        return None
    nearest_first = possible[np.argsort(distance[possible], kind="stable")][:_MOST_CANDIDATES]
    some = candidates.take(nearest_first)
    memory = memory_per_gpu(among.model, among.limits.sequence, some, among.formats, among.practice)
    fitting = np.flatnonzero(fits(memory, among.memory_bytes))
    return some.take(fitting[:1]) if len(fitting) else None


def why_not(asked: PlanTable, among: NearestPlan) -> str:
    """Return why a plan can't be, with the nearest that can, in one line; empty if it can.

    Parameters
    ----------
    asked
        A table of one row.
    among
        The model and what a plan must fit.
    """
    reason = why_impossible(among.limits, asked, 0)
    if not reason:
        memory = memory_per_gpu(among.model, among.limits.sequence, asked, among.formats, among.practice)
        reason = why_too_large(memory, asked, 0, among.memory_bytes)
    if not reason:
        return ""
    near = nearest_plan(asked, among)
    works = plan_text(degrees_of(near, 0)) if near is not None else "none near; use more GPUs"
    return f"{reason}; nearest that works: {works}"


def _candidates(asked: PlanTable, limits: PlanLimits) -> tuple[PlanTable, NDArray[np.float64]]:
    one = {part.name: getattr(asked, part.name)[0] for part in fields(asked) if part.name != "order"}
    choices = {
        "tp": _degrees(int(one["tp"]), limits.heads or limits.ffn, 16),
        # Layers need not divide over stages.
        "pp": sorted({*_degrees(int(one["pp"]), limits.layers, 64), *_powers(min(64, limits.layers))}),
        "cp": _degrees(int(one["cp"]), limits.sequence, 16) if one["cp"] > 1 else [1],
        "ep": _degrees(int(one["ep"]), limits.experts or 1, 64) if one["ep"] > 1 else [1],
        "micro_batch": sorted({1, max(1, int(one["micro_batch"]) // 2), int(one["micro_batch"])}),
        "recompute": list(range(int(one["recompute"]), 3)),
        "zero": sorted({int(one["zero"]), max(1, int(one["zero"])), 3}),
        "virtual_stages": sorted({1, int(one["virtual_stages"])}),
    }
    grid = np.array(list(product(*choices.values())), dtype=np.int64).T
    columns: dict[str, Any] = {name: np.full(grid.shape[1], value) for name, value in one.items()}
    columns.update(zip(choices, grid, strict=True))
    over = columns["tp"] * columns["pp"] * columns["cp"]
    columns["dp"] = np.maximum(limits.gpus // over, 1)
    columns["shard"] = columns["dp"] * columns["cp"]
    columns["micro_batches"] = np.maximum(limits.global_batch // (columns["dp"] * columns["micro_batch"]), 1)
    columns["expert_tp"] = np.ones_like(over)
    columns["recompute_layers"] = np.full_like(over, -1)
    degrees = ("tp", "pp", "cp", "ep", "micro_batch", "virtual_stages")
    distance = np.sum([np.abs(np.log2(columns[name] / int(one[name]))) for name in degrees], axis=0)
    distance = distance + sum(np.abs(columns[name] - int(one[name])) for name in ("recompute", "zero"))
    return replace(asked, **columns), distance


def _degrees(asked: int, whole: int, most: int) -> list[int]:
    """Return the divisors of *whole* and the powers of two up to four times what was asked, or *most*."""
    top = max(most, 4 * asked)
    powers = _powers(top)
    divisors = {degree for degree in range(1, min(top, whole) + 1) if whole % degree == 0}
    return sorted((powers & divisors if whole else powers) | _closest(divisors, asked) | {1, asked})


def _powers(most: int) -> set[int]:
    return {2**power for power in range(12) if 2**power <= most}


def _closest(divisors: set[int], asked: int) -> set[int]:
    return set(sorted(divisors, key=lambda degree: abs(degree - asked))[:4])
