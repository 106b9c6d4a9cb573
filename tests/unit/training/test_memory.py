"""Memory of one GPU by part."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from gpufabric.catalog.load_model import load_model
from gpufabric.records.number_formats import NumberFormats
from gpufabric.records.plan_table import PipelineSchedule, PlanTable, Recompute
from gpufabric.training.memory import MemoryParts, memory_per_gpu
from gpufabric.training.memory_activations import micro_batches_in_flight
from gpufabric.training.memory_practice import FSDP, MEGATRON, MEGATRON_FUSED_LOSS
from gpufabric.training.memory_stages import candidate_stages, chunk_start, sums_of_stages
from gpufabric.training.parameters import count_parameters
from gpufabric.training.plan_row import one_plan, plans_of

LLAMA = load_model("llama-3-8b")
DEEPSEEK = load_model("deepseek-v3")


def _memory(plan: PlanTable, model: str = "llama-3-8b") -> MemoryParts:
    return memory_per_gpu(load_model(model), 8192, plan, NumberFormats(), MEGATRON)


def test_states_without_sharding_are_18_bytes() -> None:
    """Weights in BF16, gradients, a copy and two moments in FP32: 2 + 4 + 12 bytes (the 16 of ZeRO have FP16 gradients)."""
    parts = _memory(one_plan(dp=8, zero=0, micro_batches=4))
    total = count_parameters(LLAMA).total
    assert parts.weights[0] == 2 * total
    assert parts.gradients[0] == 4 * total
    assert parts.optimizer[0] == 12 * total


@pytest.mark.parametrize(("zero", "bytes_of_one"), [(1, 2 + 4 + 12 / 8), (2, 2 + 16 / 8), (3, 16 / 8)])
def test_zero_stages(zero: int, bytes_of_one: float) -> None:
    parts = _memory(one_plan(dp=8, zero=zero))
    states = parts.weights + parts.gradients + parts.optimizer
    assert states[0] == pytest.approx(bytes_of_one * count_parameters(LLAMA).total)


def test_shard_group_is_what_divides() -> None:
    whole, part = _memory(one_plan(dp=64)), _memory(one_plan(dp=64, shard=8))
    assert part.optimizer[0] == 8 * whole.optimizer[0]


def test_experts_shard_over_their_own_replicas() -> None:
    """256 experts over 64 ranks of 128 leave two replicas, over which alone their optimizer is sharded."""
    parts = memory_per_gpu(DEEPSEEK, 4096, one_plan(dp=128, ep=64), NumberFormats(), MEGATRON)
    counted = count_parameters(DEEPSEEK)
    experts = 58 * 256 * 3 * 7168 * 2048 + 256 * 3 * 7168 * 2048
    dense = counted.total + counted.prediction - experts
    assert parts.weights[0] == pytest.approx(2 * (dense + experts / 64), rel=1e-3)
    assert parts.optimizer[0] == pytest.approx(12 * (dense / 128 + experts / 128), rel=1e-3)


def test_tensor_parallel_splits_weights() -> None:
    one, eight = _memory(one_plan(zero=0)), _memory(one_plan(tp=8, zero=0))
    # The vocabulary is padded to a multiple of 128 × 8.
    assert eight.weights[0] == pytest.approx(one.weights[0] / 8, rel=2e-3)
    assert eight.weights[0] > one.weights[0] / 8


def test_dualpipe_doubles_weights() -> None:
    """A device of eight has two eighths of the layers, and the embedding and the output layer if it is the first or the last."""
    one_way = _memory(one_plan(pp=8, micro_batches=16))
    both = _memory(one_plan(pp=8, micro_batches=16, schedule=PipelineSchedule.DUALPIPE))
    counted = count_parameters(LLAMA)
    assert both.weights[0] == 2 * (counted.layers / 4 + counted.embedding + counted.head + counted.final_norm)
    # Eight micro-batches of the first eighth and one of the last: DeepSeek-V3 Technical Report, table 2.
    assert both.activations[0] == pytest.approx(one_way.activations[0] * 9 / 8)


def test_micro_batches_in_flight() -> None:
    """Eight stages, 32 micro-batches: first stage of each schedule."""
    schedules = [one_plan(pp=8, micro_batches=32, schedule=code) for code in range(5)]
    schedules[2] = one_plan(pp=8, micro_batches=32, schedule=2, virtual_stages=4)
    plans = plans_of(*schedules)
    kept = micro_batches_in_flight(plans, candidate_stages(plans.pp))
    assert kept[:, 0].tolist() == [32, 8, 8 * (1 + 7 / 32), 8, 8]
    assert kept[1].tolist() == [8, 7, 2, 1]
    few = one_plan(pp=8, micro_batches=3)
    assert micro_batches_in_flight(few, candidate_stages(few.pp))[0].tolist() == [3, 3, 2, 1]


def test_chunks_hold_all_layers_once() -> None:
    for layers, chunks in ((126, 16), (61, 16), (10, 8), (96, 8), (5, 5), (126, 128)):
        starts = chunk_start(layers, np.int64(chunks) * np.ones(chunks + 1, np.int64), np.arange(chunks + 1))
        assert starts[0] == 0
        assert starts[-1] == layers
        assert (np.diff(starts) >= 0).all()
        assert np.diff(starts).max() == -(-layers // chunks)
    sizes = np.diff(chunk_start(126, np.full(17, 16), np.arange(17)))
    # The Llama 3 Herd of Models: one layer fewer on the first and the last of 16 stages.
    assert sizes.tolist() == [7, *[8] * 14, 7]


def test_sums_over_interleaved_stages() -> None:
    layers = np.arange(16.0)[None]
    got = sums_of_stages(layers, np.array([4, 4]), np.array([1, 2]))
    assert got[0, 0].tolist() == [0 + 1 + 2 + 3, 4 + 5 + 6 + 7, 8 + 9 + 10 + 11, 12 + 13 + 14 + 15]
    assert got[0, 1, 0] == 0 + 1 + 8 + 9
    assert got[0, 1, 3] == 6 + 7 + 14 + 15


def test_fullest_stage_is_named() -> None:
    assert _memory(one_plan(pp=8, micro_batches=32)).stage[0] == 0
    # With full recomputation little is kept, and the logits of the last stage weigh most.
    assert _memory(one_plan(pp=8, micro_batches=8, recompute=Recompute.FULL, micro_batch=4)).stage[0] == 7


def test_offload_takes_its_share() -> None:
    base, off = _memory(one_plan()), _memory(one_plan(offload_optimizer=0.75, offload_activations=0.5))
    assert off.optimizer[0] == pytest.approx(base.optimizer[0] / 4)
    assert off.activations[0] == pytest.approx(base.activations[0] / 2)


def test_formats_count() -> None:
    small = replace(NumberFormats(), gradients="bf16", states="bf16", master_weights="")
    parts = memory_per_gpu(LLAMA, 8192, one_plan(zero=0), small, MEGATRON)
    total = count_parameters(LLAMA).total
    assert parts.gradients[0] == 2 * total
    assert parts.optimizer[0] == 4 * total


def test_gathered_weights_of_fully_sharded_pipelines() -> None:
    alone = memory_per_gpu(LLAMA, 8192, one_plan(dp=8, zero=3), NumberFormats(), FSDP)
    piped = memory_per_gpu(LLAMA, 8192, one_plan(dp=8, pp=2, zero=3, micro_batches=8), NumberFormats(), FSDP)
    assert piped.buffers[0] > alone.buffers[0]


def test_fused_loss_keeps_less() -> None:
    plain, fused = (
        memory_per_gpu(LLAMA, 8192, one_plan(), NumberFormats(), practice)
        for practice in (MEGATRON, MEGATRON_FUSED_LOSS)
    )
    assert fused.logits[0] == plain.logits[0] * 4 / 6


def test_total_has_what_is_outside_the_allocator() -> None:
    parts = _memory(plans_of(one_plan(), one_plan(dp=8)))
    assert parts.total == pytest.approx(parts.allocated * 1.05 + 988e6)
    assert parts.take(np.array([1])).total[0] == parts.total[1]
