"""Activations of one layer against Korthikanti et al. 2022 (https://arxiv.org/abs/2205.05198), equations 1 to 5."""

from __future__ import annotations

import pytest

from gpufabric.catalog.load_model import load_model
from gpufabric.records.number_formats import NumberFormats
from gpufabric.records.plan_table import PipelineSchedule, PlanTable, Recompute
from gpufabric.training.activations import layer_activations
from gpufabric.training.memory import memory_per_gpu
from gpufabric.training.memory_practice import MEGATRON, MEGATRON_2022
from gpufabric.training.plan_row import one_plan

MODEL = load_model("megatron-22b")
S, H, A, L = 2048, 6144, 64, 48


def _kept(plan: PlanTable) -> float:
    parts = memory_per_gpu(MODEL, S, plan, NumberFormats(), MEGATRON_2022)
    return float(parts.activations[0])


def test_equation_1_no_parallelism() -> None:
    assert _kept(one_plan()) == pytest.approx(L * S * H * (34 + 5 * A * S / H), rel=1e-12)


def test_equation_2_tensor_parallel() -> None:
    plan = one_plan(tp=8, sequence_parallel=False)
    assert _kept(plan) == pytest.approx(L * S * H * (10 + 24 / 8 + 5 * A * S / (H * 8)), rel=1e-12)


def test_equation_4_sequence_parallel() -> None:
    assert _kept(one_plan(tp=8)) == pytest.approx(L * S * H / 8 * (34 + 5 * A * S / H), rel=1e-12)


def test_equation_5_first_stage_of_a_pipeline() -> None:
    """With pp stages the first keeps pp micro-batches of layers ÷ pp: as much as without."""
    plan = one_plan(tp=8, pp=4, micro_batches=16, dp=1)
    assert _kept(plan) == pytest.approx(L * S * H / 8 * (34 + 5 * A * S / H), rel=1e-12)


def test_interleaving_keeps_more() -> None:
    """Section 4.2.3: 1 + (p − 1)/(pv) times as much on the first stage."""
    plan = one_plan(tp=8, pp=4, micro_batches=16, virtual_stages=3, schedule=PipelineSchedule.INTERLEAVED)
    assert _kept(plan) == pytest.approx(L * S * H / 8 * (34 + 5 * A * S / H) * (1 + 3 / 12))


def test_equation_6_selective_recomputation() -> None:
    assert _kept(one_plan(tp=8, recompute=Recompute.SELECTIVE)) == pytest.approx(
        L * S * H / 8 * 34, rel=1e-12
    )


def test_full_recomputation_keeps_inputs() -> None:
    assert _kept(one_plan(tp=8, recompute=Recompute.FULL)) == pytest.approx(L * S * H / 8 * 2, rel=1e-12)
    assert _kept(one_plan(recompute=Recompute.FULL)) == pytest.approx(L * S * H * 2, rel=1e-12)


def test_some_layers_recompute() -> None:
    none, full = _kept(one_plan()), _kept(one_plan(recompute=Recompute.FULL))
    half = _kept(one_plan(recompute=Recompute.FULL, recompute_layers=24))
    assert half == pytest.approx((none + full) / 2)


def test_table_2_scores_are_large() -> None:
    """Table 2: 5as/h is 80 for GPT-3 175B and 64 for MT-NLG 530B at 2048 tokens."""
    for model, share in (("megatron-175b", 80), ("mt-nlg-530b", 64)):
        block = load_model(model).runs[0].block
        of = layer_activations(block, load_model(model).hidden, MEGATRON_2022)
        assert of.scores * 2048 / load_model(model).hidden == share


def test_latent_attention_keeps_opened_heads() -> None:
    block = load_model("deepseek-v3").runs[-1].block
    of = layer_activations(block, 7168, MEGATRON)
    # Two norms, the input of attention, twice both compressions and the shared rotary key, and the input of the experts.
    assert of.whole == 2 * (2 * 7168 + 7168 + 2 * (1536 + 512) + 64 + 7168)
    heads = 2 * 128 * (192 + 128)
    assert of.split == 2 * heads + 4 * 128 + 2 * 3 * 2048
    assert of.routed == 8 * 2 * 3 * 2048
    assert of.routed_input == 8 * 2 * 7168


def test_state_space_layer_keeps_no_scores() -> None:
    block = load_model("nemotron-h-56b").runs[0].block
    of = layer_activations(block, 8192, MEGATRON_2022)
    assert of.scores == 0
    assert of.attention_output == 0
    assert of.split > 0
