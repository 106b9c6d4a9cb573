"""Plans that can't be: why in one line, and the nearest that can."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gpufabric.catalog.load_model import load_model
from gpufabric.records.number_formats import NumberFormats
from gpufabric.records.plan_table import PipelineSchedule, PlanTable, Recompute
from gpufabric.training.feasible import (
    PlanLimits,
    degrees_of,
    fits,
    plan_limits,
    plan_text,
    possible_plans,
    why_impossible,
    why_too_large,
)
from gpufabric.training.feasible_nearest import NearestPlan, nearest_plan, why_not
from gpufabric.training.memory import memory_per_gpu
from gpufabric.training.memory_practice import USUAL
from gpufabric.training.plan_row import one_plan, plans_of

GIB = 2**30
LLAMA = plan_limits(load_model("llama-3-70b"), 8192, 512, 64)
DEEPSEEK = plan_limits(load_model("deepseek-v3"), 4096, 1024, 256)


def test_limits_of_a_mixture() -> None:
    assert (
        PlanLimits(
            heads=128,
            kv_heads=128,
            ffn=18432,
            experts=256,
            expert_ffn=2048,
            layers=61,
            sequence=4096,
            global_batch=1024,
            gpus=256,
        )
        == DEEPSEEK
    )


def _llama(**columns: Any) -> PlanTable:
    return one_plan(**{"dp": 2, "tp": 8, "pp": 4, "micro_batches": 256, **columns})


BROKEN = [
    (LLAMA, _llama(dp=4), "plan: dp 4 × tp 8 × pp 4 × cp 1 is 128 GPUs; the job has 64; "),
    (LLAMA, _llama(tp=16, dp=1, micro_batches=512), ""),
    (LLAMA, _llama(tp=32, pp=2, dp=1, micro_batches=512), ""),
    (
        LLAMA,
        _llama(pp=64, tp=1, dp=1, micro_batches=512, virtual_stages=2, schedule=2),
        "plan: pp 64 × virtual_stages 2 is more",
    ),
    (LLAMA, _llama(virtual_stages=2), "plan: 2 virtual stages with 256 micro-batches on 4 stages; "),
    (
        LLAMA,
        _llama(micro_batches=100),
        "plan: dp 2 × micro_batch 1 × micro-batches 100 is not the global batch of 512; ",
    ),
    (LLAMA, _llama(ep=2), "plan: ep 2 does not divide 0 experts; "),
    (LLAMA, _llama(expert_tp=2), "plan: expert_tp 2 does not divide the experts' width 0; "),
    (
        LLAMA,
        _llama(shard=3),
        "plan: shard_group 3 does not divide dp × cp = 2; every group must be whole; take shard_group 2",
    ),
    (LLAMA, one_plan(dp=1, cp=64, micro_batches=512), ""),
]


@pytest.mark.parametrize(("limits", "plan", "said"), BROKEN)
def test_refusals(limits: PlanLimits, plan: PlanTable, said: str) -> None:
    message = why_impossible(limits, plan, 0)
    assert message.startswith(said) if said else not message
    assert possible_plans(limits, plan)[0] == (not said)
    assert "\n" not in message


def test_heads_that_do_not_divide() -> None:
    limits = plan_limits(load_model("llama-3-70b"), 8192, 512, 48)
    message = why_impossible(limits, one_plan(tp=12, dp=4, micro_batches=128), 0)
    assert message == (
        "plan: tp 12 does not divide 64 heads with 8 key and value heads; allowed are divisors of both, or multiples of the "
        "second; take tp 16"
    )


def test_experts_that_do_not_divide() -> None:
    plan = one_plan(dp=256, ep=48, micro_batches=4)
    assert why_impossible(DEEPSEEK, plan, 0) == (
        "plan: ep 48 does not divide 256 experts; allowed are divisors; take ep 64"
    )
    assert "ep 64 × expert_tp 8 does not divide dp × cp × tp = 256" in why_impossible(
        DEEPSEEK, one_plan(dp=256, ep=64, expert_tp=8, micro_batches=4), 0
    )


def test_dualpipe_needs_two_ways() -> None:
    dual = {"schedule": PipelineSchedule.DUALPIPE, "ep": 16}
    few = one_plan(dp=16, pp=16, micro_batch=4, micro_batches=16, **dual)
    assert "take pp 16 and at least 32 of them" in why_impossible(DEEPSEEK, few, 0)
    assert not why_impossible(DEEPSEEK, one_plan(dp=16, pp=16, micro_batches=64, **dual), 0)


def test_sequence_that_does_not_divide() -> None:
    limits = plan_limits(load_model("llama-3-8b"), 4100, 8, 8)
    assert "4,100 tokens of a sequence do not divide over cp 8" in why_impossible(
        limits, one_plan(cp=8, micro_batches=8), 0
    )


def test_llama_405b_counts_embedding_and_loss_as_layers() -> None:
    """Published: 16 stages of 8 chunks for 126 layers (Megatron Bridge, performance summary)."""
    limits = plan_limits(load_model("llama-3.1-405b"), 8192, 1536, 1024)
    plan = one_plan(tp=8, pp=16, dp=8, virtual_stages=8, schedule=2, micro_batches=192)
    assert not why_impossible(limits, plan, 0)


def _memory(plan: PlanTable) -> Any:
    return memory_per_gpu(load_model("llama-3-70b"), 8192, plan, NumberFormats(), USUAL)


def test_memory_over_names_the_largest_part() -> None:
    plan = plans_of(one_plan(dp=64, micro_batches=8), _llama())
    memory = _memory(plan)
    assert fits(memory, 80 * GIB).tolist() == [False, True]
    message = why_too_large(memory, plan, 0, 80 * GIB)
    assert message.startswith("plan: tp 1, pp 1, dp 64, micro_batch 1, zero 1 needs ")
    assert "(of that gradients 262.8 GiB); a GPU has 80 GiB; raise tp or pp" in message
    assert not why_too_large(memory, plan, 1, 80 * GIB)


def test_plan_in_short() -> None:
    plan = one_plan(tp=2, pp=4, cp=2, ep=8, dp=4, recompute=Recompute.FULL, zero=3)
    assert (
        plan_text(degrees_of(plan, 0))
        == "tp 2, pp 4, cp 2, ep 8, dp 4, micro_batch 1, zero 3, full recompute"
    )


@pytest.mark.parametrize(
    ("model", "plan", "gpus", "batch", "gib"),
    [
        ("llama-3-70b", one_plan(dp=64, micro_batches=8), 64, 512, 80),
        ("llama-3-70b", one_plan(tp=12, dp=4, micro_batches=128), 64, 512, 80),
        ("deepseek-v3", one_plan(dp=256, ep=48, micro_batches=4), 256, 1024, 80),
        ("llama-3.1-405b", one_plan(tp=8, pp=100, dp=1), 512, 512, 80),
        ("llama-3-8b", one_plan(dp=7), 8, 12, 80),
    ],
)
def test_nearest_plan_is_possible_and_fits(
    model: str, plan: PlanTable, gpus: int, batch: int, gib: int
) -> None:
    transformer = load_model(model)
    limits = plan_limits(transformer, 4096, batch, gpus)
    near = nearest_plan(plan, NearestPlan(transformer, limits, NumberFormats(), USUAL, gib * GIB))
    assert near is not None
    assert len(near) == 1
    assert not why_impossible(limits, near, 0)
    assert fits(memory_per_gpu(transformer, 4096, near, NumberFormats(), USUAL), gib * GIB)[0]


def test_no_plan_is_near() -> None:
    transformer = load_model("kimi-k2")
    limits = plan_limits(transformer, 4096, 8, 8)
    assert (
        nearest_plan(one_plan(dp=8), NearestPlan(transformer, limits, NumberFormats(), USUAL, 80 * GIB))
        is None
    )


def test_one_line_says_why_and_what_works() -> None:
    among = NearestPlan(load_model("llama-3-70b"), LLAMA, NumberFormats(), USUAL, 80 * GIB)
    message = why_not(one_plan(dp=64, micro_batches=8), among)
    assert "a GPU has 80 GiB; raise tp or pp, or shard with zero 2 or 3; nearest that works: tp " in message
    assert why_not(one_plan(tp=3, dp=21, micro_batches=24), among).count("\n") == 0
    assert not why_not(_llama(), among)
    small = NearestPlan(
        load_model("kimi-k2"),
        plan_limits(load_model("kimi-k2"), 4096, 8, 8),
        NumberFormats(),
        USUAL,
        80 * GIB,
    )
    assert why_not(one_plan(dp=8, micro_batches=1), small).endswith(
        "nearest that works: none near; use more GPUs"
    )


def test_a_plan_that_works_is_its_own_nearest() -> None:
    transformer = load_model("llama-3-70b")
    plan = one_plan(tp=8, pp=4, dp=2, micro_batches=256)
    near = nearest_plan(plan, NearestPlan(transformer, LLAMA, NumberFormats(), USUAL, 80 * GIB))
    assert near is not None
    assert degrees_of(near, 0) == degrees_of(plan, 0)


def test_masks_say_what_lines_say() -> None:
    rng = np.random.default_rng(7)
    plans = plans_of(
        *(
            one_plan(
                tp=int(rng.choice([1, 2, 3, 8])),
                pp=int(rng.choice([1, 4, 7])),
                dp=int(rng.choice([1, 2, 64])),
                cp=int(rng.choice([1, 2])),
                micro_batches=int(rng.choice([8, 256, 512])),
            )
            for _ in range(60)
        )
    )
    said = [not why_impossible(LLAMA, plans, row) for row in range(len(plans))]
    assert possible_plans(LLAMA, plans).tolist() == said
