"""Parameters of catalogue models against what their makers and others who counted the checkpoints print."""

from __future__ import annotations

import pytest

from gpufabric.catalog.load_model import load_model
from gpufabric.training.parameters import count_parameters

# Counts of checkpoints as public recounts print them, read 2026-12-01: the main model with both embeddings and without
# prediction modules.
EXACT = {
    "llama-3-8b": 8_030_261_248,
    "llama-3-70b": 70_553_706_496,
    "llama-3.1-405b": 405_853_388_800,
    "llama-3.2-1b": 1_235_814_400,
    "llama-3.2-3b": 3_212_749_824,
    # https://github.com/keras-team/keras-hub, presets of Mixtral.
    "mixtral-8x7b": 46_702_792_704,
    "qwen3-0.6b": 596_049_920,
    "qwen3-8b": 8_190_735_360,
    "qwen3-32b": 32_762_123_264,
    "qwen3-30b-a3b": 30_532_122_624,
    "qwen3-235b-a22b": 235_093_634_560,
    # The checkpoint without its multi-token-prediction module, router biases included.
    "deepseek-v3": 671_026_419_200,
    "kimi-k2": 1_026_408_232_448,
    # https://github.com/mosaicml/llm-foundry, printed for mpt-7b at 2048 tokens.
    "mpt-7b": 6_658_859_008,
}

# As printed, in units of 1e9: total, active, whether active counts the embedding, source.
PRINTED = [
    # https://arxiv.org/abs/2508.10925, table 1: the embedding does not count as active, the output layer does.
    ("gpt-oss-120b", "116.83", "5.13", False),
    ("gpt-oss-20b", "20.91", "3.61", False),
    # https://mistral.ai/news/mixtral-of-experts
    ("mixtral-8x7b", "46.7", "12.9", True),
    # https://mistral.ai/news/mixtral-8x22b: 141B and 39B
    ("mixtral-8x22b", "141", "39", True),
    # https://arxiv.org/abs/2405.04434: 236B and 21B
    ("deepseek-v2", "236", "21", True),
    # https://arxiv.org/abs/2412.19437: 37B active
    ("deepseek-v3", "671", "37", False),
    # https://arxiv.org/abs/2505.09388: 22B of 235B
    ("qwen3-235b-a22b", "235", "22", True),
    # https://arxiv.org/abs/2512.20848: 31.6B and 3.2B
    ("nemotron-3-nano-30b", "31.6", "3.2", False),
    # https://arxiv.org/abs/2104.04473, table 1
    ("megatron-1.7b", "1.7", "1.7", True),
    ("megatron-39.1b", "39.1", "39.1", True),
    ("megatron-145.6b", "145.6", "145.6", True),
    ("megatron-310.1b", "310.1", "310.1", True),
    ("megatron-529.6b", "529.6", "529.6", True),
    ("megatron-1008b", "1008.0", "1008.0", True),
    # https://arxiv.org/abs/2402.16819: 15.6B
    ("nemotron-4-15b", "15.6", "15.6", True),
]


@pytest.mark.parametrize("model", EXACT)
def test_total_is_that_of_the_checkpoint(model: str) -> None:
    assert count_parameters(load_model(model)).total == EXACT[model]


@pytest.mark.parametrize(("model", "total", "active", "embedding"), PRINTED)
def test_printed_digits(model: str, total: str, active: str, embedding: bool) -> None:
    counted = count_parameters(load_model(model))

    def printed(count: int, like: str) -> float:
        return round(count / 1e9, len(like.partition(".")[2]))

    assert printed(counted.total, total) == float(total)
    visited = counted.active - (0 if embedding else counted.embedding)
    # DeepSeek-V2's 21.4 and V3's 36.6 are printed as 21 and 37: both are within rounding.
    assert printed(visited, active) == float(active)


def test_prediction_module_of_deepseek_v3() -> None:
    """It has 11.6 billion parameters of its own (https://huggingface.co/deepseek-ai/DeepSeek-V3: 14B with those it shares)."""
    counted = count_parameters(load_model("deepseek-v3"))
    assert round(counted.prediction / 1e9, 1) == 11.6
    assert round((counted.prediction + counted.embedding + counted.head) / 1e9) in {13, 14}
    assert count_parameters(load_model("deepseek-v3-no-mtp")).prediction == 0


def test_grok_counts_its_layers() -> None:
    """314B (https://github.com/xai-org/grok-1) are the layers; the embedding comes on top."""
    assert count_parameters(load_model("grok-1")).layers // 10**9 == 314


def test_megatron_formula() -> None:
    """Narayanan et al. 2021, equation 2: 12lh²(1 + 13/12h + (V + s)/12lh), with the norm after the last layer on top."""
    model = load_model("megatron-1008b")
    hidden, layers = model.hidden, model.layers
    formula = 12 * layers * hidden**2 + 13 * layers * hidden + (51_200 + 2048) * hidden
    assert count_parameters(model).total == formula + 2 * hidden
