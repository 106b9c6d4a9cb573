"""What must hold of the memory of any plan."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from gpufabric.catalog.load_model import load_model
from gpufabric.records.number_formats import NumberFormats
from gpufabric.records.plan_table import PlanTable
from gpufabric.training.memory import MemoryParts, memory_per_gpu
from gpufabric.training.memory_practice import MEGATRON
from gpufabric.training.plan_row import one_plan, plans_of

_MODELS = ("llama-3-8b", "mixtral-8x7b", "deepseek-v3", "nemotron-3-nano", "gpt-oss-20b", "megatron-22b")
_POWER = st.sampled_from([1, 2, 4, 8])
_PLANS = st.fixed_dictionaries(
    {
        "dp": st.sampled_from([8, 16, 64]),
        "tp": _POWER,
        "pp": _POWER,
        "cp": st.sampled_from([1, 2]),
        "ep": st.sampled_from([1, 2, 8]),
        "micro_batch": st.sampled_from([1, 2]),
        "micro_batches": st.sampled_from([1, 8, 32]),
        "zero": st.integers(0, 3),
        "schedule": st.integers(0, 4),
        "recompute": st.integers(0, 2),
        "sequence_parallel": st.booleans(),
    }
)


def _memory(model: str, plans: PlanTable, sequence: int = 4096) -> MemoryParts:
    return memory_per_gpu(load_model(model), sequence, plans, NumberFormats(), MEGATRON)


@settings(max_examples=15, deadline=None)
@given(st.sampled_from(_MODELS), _PLANS, _PLANS)
def test_a_table_is_its_rows(model: str, one: dict[str, Any], other: dict[str, Any]) -> None:
    rows = [one_plan(**one), one_plan(**other)]
    together = _memory(model, plans_of(*rows))
    for index, row in enumerate(rows):
        alone = _memory(model, row)
        assert np.isclose(together.total[index], alone.total[0], rtol=1e-12)
        assert together.stage[index] == alone.stage[0]


@settings(max_examples=15, deadline=None)
@given(st.sampled_from(_MODELS), _PLANS)
def test_less_where_less_is_kept(model: str, plan: dict[str, Any]) -> None:
    """More recomputation, a sharded optimizer, shorter sequences and smaller micro-batches never keep more."""
    base = _memory(model, one_plan(**plan))
    total = base.weights + base.gradients + base.optimizer + base.activations
    for change in (
        {"recompute": 2},
        {"micro_batch": 1},
        {"zero": max(1, plan["zero"])},
        {"micro_batches": 1},
    ):
        less = _memory(model, one_plan(**{**plan, **change}))
        same_stage = less.stage[0] == base.stage[0]
        kept = less.weights + less.gradients + less.optimizer + less.activations
        assert not same_stage or kept[0] <= total[0] * (1 + 1e-12)
        assert less.allocated[0] <= base.allocated[0] * (1 + 1e-12) or "recompute" in change
    assert _memory(model, one_plan(**plan), 2048).allocated[0] <= base.allocated[0]


@settings(max_examples=15, deadline=None)
@given(st.sampled_from(_MODELS), _PLANS)
def test_parts_are_positive_and_finite(model: str, plan: dict[str, Any]) -> None:
    parts = _memory(model, one_plan(**plan))
    for value in (
        parts.weights,
        parts.gradients,
        parts.optimizer,
        parts.activations,
        parts.logits,
        parts.buffers,
    ):
        assert np.isfinite(value).all()
        assert (value >= 0).all()
    assert 0 <= parts.stage[0] < plan["pp"]
