"""Plans that are known to have run: none is called impossible."""

from __future__ import annotations

from typing import Any

import pytest

from gpufabric.catalog.load_model import load_model
from gpufabric.records.number_formats import NumberFormats
from gpufabric.training.feasible import fits, plan_limits, why_impossible
from gpufabric.training.memory import memory_per_gpu
from gpufabric.training.memory_practice import PRACTICES
from gpufabric.training.plan_row import one_plan

SC21 = "https://arxiv.org/abs/2104.04473, tables 1 and 2"
KORTHIKANTI = "https://arxiv.org/abs/2205.05198, table 3"
MT_NLG = "https://arxiv.org/abs/2201.11990, section 2.3"
LLAMA_3 = "https://arxiv.org/abs/2407.21783, table 4"
DEEPSEEK = "https://arxiv.org/abs/2412.19437, sections 3.2 and 3.3"
FOUNDRY = "https://github.com/mosaicml/llm-foundry, scripts/train/benchmarking/README.md"
BRIDGE = "https://github.com/NVIDIA-NeMo/Megatron-Bridge, docs/performance-summary.md"
FP32_GRADIENTS = NumberFormats()
FP16_GRADIENTS = NumberFormats(gradients="fp16", reduction="fp16")
BF16_STATES = NumberFormats(states="bf16")

# Model, tokens, global batch, GiB of a GPU, practice, formats, plan, source. Where a source does not say whether layers
# recompute, the plan has full recomputation.
_FULL = {"zero": 0, "recompute": 2}
KNOWN: list[tuple[str, int, int, int, str, NumberFormats, dict[str, Any], str]] = [
    (
        "megatron-1.7b",
        2048,
        512,
        80,
        "megatron-2022",
        FP32_GRADIENTS,
        {"dp": 32, "micro_batch": 16, **_FULL},
        SC21,
    ),
    (
        "megatron-18.4b",
        2048,
        1024,
        80,
        "megatron-2022",
        FP32_GRADIENTS,
        {"dp": 32, "tp": 8, "micro_batch": 4, **_FULL},
        SC21,
    ),
    (
        "megatron-145.6b",
        2048,
        2304,
        80,
        "megatron-2022",
        FP32_GRADIENTS,
        {"dp": 24, "tp": 8, "pp": 8, **_FULL},
        SC21,
    ),
    (
        "megatron-1008b",
        2048,
        3072,
        80,
        "megatron-2022",
        FP32_GRADIENTS,
        {"dp": 6, "tp": 8, "pp": 64, **_FULL},
        SC21,
    ),
    (
        "megatron-175b",
        2048,
        1536,
        80,
        "deepspeed-2021",
        FP16_GRADIENTS,
        {"dp": 384, "micro_batch": 4, "recompute": 2, "zero": 3},
        SC21,
    ),
    (
        "megatron-529.6b",
        2048,
        2560,
        80,
        "deepspeed-2021",
        FP16_GRADIENTS,
        {"dp": 640, "micro_batch": 4, "recompute": 2, "zero": 3},
        SC21,
    ),
    (
        "megatron-22b",
        2048,
        4,
        80,
        "megatron-2022",
        FP32_GRADIENTS,
        {"tp": 8, "micro_batch": 4, "zero": 0, "recompute": 1},
        KORTHIKANTI,
    ),
    (
        "megatron-175b",
        2048,
        64,
        80,
        "megatron-2022",
        FP32_GRADIENTS,
        {"tp": 8, "pp": 8, "virtual_stages": 3, "schedule": 2, "zero": 0, "recompute": 1},
        KORTHIKANTI,
    ),
    (
        "megatron-529.6b",
        2048,
        280,
        80,
        "megatron-2022",
        FP32_GRADIENTS,
        {"tp": 8, "pp": 35, "virtual_stages": 3, "schedule": 2, "zero": 0, "recompute": 1},
        KORTHIKANTI,
    ),
    (
        "megatron-1008b",
        2048,
        512,
        80,
        "megatron-2022",
        FP32_GRADIENTS,
        {"tp": 8, "pp": 64, "zero": 0, "recompute": 1},
        KORTHIKANTI,
    ),
    (
        "mt-nlg-530b",
        2048,
        1920,
        80,
        "megatron-2022",
        FP32_GRADIENTS,
        {"dp": 8, "tp": 8, "pp": 35, **_FULL},
        MT_NLG,
    ),
    (
        "llama-3.1-405b",
        8192,
        2048,
        80,
        "megatron-fused-loss",
        FP32_GRADIENTS,
        {"dp": 128, "tp": 8, "pp": 16, "zero": 2},
        LLAMA_3,
    ),
    (
        "llama-3.1-405b",
        131072,
        128,
        80,
        "megatron-fused-loss",
        FP32_GRADIENTS,
        {"dp": 8, "tp": 8, "pp": 16, "cp": 16, "zero": 2, "recompute": 2},
        LLAMA_3,
    ),
    (
        "deepseek-v3",
        4096,
        15360,
        80,
        "deepseek-v3",
        BF16_STATES,
        {"dp": 128, "pp": 16, "ep": 64, "schedule": 4, "recompute": 1},
        DEEPSEEK,
    ),
    (
        "mpt-70b",
        2048,
        512 * 8,
        80,
        "fsdp-fused-loss",
        FP32_GRADIENTS,
        {"dp": 512, "micro_batch": 8, "recompute": 2, "zero": 3},
        FOUNDRY,
    ),
    (
        "mpt-1b",
        2048,
        64 * 20,
        80,
        "fsdp-fused-loss",
        FP32_GRADIENTS,
        {"dp": 64, "micro_batch": 20, "zero": 3},
        FOUNDRY,
    ),
    (
        "mpt-13b",
        2048,
        64 * 16,
        40,
        "fsdp-fused-loss",
        FP32_GRADIENTS,
        {"dp": 64, "micro_batch": 16, "recompute": 2, "zero": 3},
        FOUNDRY,
    ),
    (
        "llama-3.1-405b",
        8192,
        1536,
        80,
        "megatron-fused-loss",
        FP32_GRADIENTS,
        {"dp": 4, "tp": 8, "pp": 16, "cp": 2, "virtual_stages": 8, "schedule": 2},
        BRIDGE,
    ),
]


@pytest.mark.parametrize(
    ("model", "sequence", "batch", "gib", "practice", "formats", "plan", "source"), KNOWN
)
def test_known_plan_is_possible(
    model: str,
    sequence: int,
    batch: int,
    gib: int,
    practice: str,
    formats: NumberFormats,
    plan: dict[str, Any],
    source: str,
) -> None:
    transformer = load_model(model)
    degrees = {"dp": 1, "tp": 1, "pp": 1, "cp": 1, "micro_batch": 1, **plan}
    gpus = degrees["dp"] * degrees["tp"] * degrees["pp"] * degrees["cp"]
    row = one_plan(**degrees, micro_batches=batch // (degrees["dp"] * degrees["micro_batch"]))
    assert not why_impossible(plan_limits(transformer, sequence, batch, gpus), row, 0), source
    memory = memory_per_gpu(transformer, sequence, row, formats, PRACTICES[practice])
    assert fits(memory, gib * 2**30)[0], (source, memory)
