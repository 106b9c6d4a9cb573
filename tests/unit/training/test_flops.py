"""Floating-point operations by convention against published rates: a rate is right if operations ÷ time give what was printed."""

from __future__ import annotations

import pytest

from gpufabric.catalog.load_model import load_model
from gpufabric.training.flops import CONVENTIONS, forward_flops, training_flops_per_token
from gpufabric.training.parameters import count_parameters


@pytest.mark.parametrize("size", ["1.7b", "39.1b", "145.6b", "1008b"])
def test_megatron_formula(size: str) -> None:
    """Narayanan et al. 2021, equation 3: 96Bslh²(1 + s/6h + V/16lh)."""
    model = load_model(f"megatron-{size}")
    hidden, layers, sequence, vocabulary = model.hidden, model.layers, 2048, model.vocabulary
    formula = 96 * layers * hidden**2 * (1 + sequence / (6 * hidden) + vocabulary / (16 * layers * hidden))
    assert training_flops_per_token(model, sequence, "hardware") == pytest.approx(formula, rel=1e-12)


def test_palm_formula() -> None:
    """PaLM, appendix B: 6N + 12LHQT."""
    model = load_model("mpt-7b")
    formula = 6 * count_parameters(model).total + 12 * 32 * 32 * 128 * 2048
    assert training_flops_per_token(model, 2048, "palm") == pytest.approx(formula, rel=1e-12)


_LLM_FOUNDRY = "https://github.com/mosaicml/llm-foundry, scripts/train/benchmarking/README.md"
_BRIDGE = "https://github.com/NVIDIA-NeMo/Megatron-Bridge, docs/performance-summary.md and its archive"
_MT_NLG = "https://arxiv.org/abs/2201.11990, section 2.3: 1920 sequences in 60.1, 50.2 and 44.4 s"
# Model, tokens of a sequence, convention, tokens/s and GPU, printed TFLOP/s and GPU, source; all read 2026-12-01.
PUBLISHED = [
    ("mt-nlg-530b", 2048, "hardware", 1920 * 2048 / 60.1 / 2240, 126, _MT_NLG),
    ("mt-nlg-530b", 2048, "hardware", 1920 * 2048 / 50.2 / 2800, 121, _MT_NLG),
    ("mt-nlg-530b", 2048, "hardware", 1920 * 2048 / 44.4 / 3360, 113, _MT_NLG),
    ("mpt-70b", 2048, "palm", 1007, 0.4125 * 989.5, _LLM_FOUNDRY),
    ("mpt-7b", 2048, "palm", 9670, 0.4220 * 989.5, _LLM_FOUNDRY),
    ("mpt-1b", 2048, "palm", 39837, 0.3665 * 989.5, _LLM_FOUNDRY),
    ("llama-3-8b", 8192, "model", 37556, 1933, _BRIDGE),
    ("llama-3.1-405b", 8192, "model", 1048, 2646, _BRIDGE),
    ("qwen3-235b-a22b", 4096, "model", 8816, 1306, _BRIDGE),
]


@pytest.mark.parametrize(("model", "sequence", "convention", "tokens_per_s", "tflops", "source"), PUBLISHED)
def test_published_rate(
    model: str, sequence: int, convention: str, tokens_per_s: float, tflops: float, source: str
) -> None:
    got = training_flops_per_token(load_model(model), sequence, convention) * tokens_per_s / 1e12
    # Sources print three digits of either rate.
    assert got == pytest.approx(tflops, rel=0.006), source


def test_causal_mask_halves_attention() -> None:
    model = load_model("llama-3-8b")
    everything, left = forward_flops(model, 8192), forward_flops(model, 8192, causal=True)
    assert left.attention == everything.attention / 2
    assert left.layers == everything.layers
    assert left.head == everything.head


def test_window_bounds_attention() -> None:
    windowed, full = load_model("gpt-oss-20b"), load_model("gpt-oss-20b")
    short, long = forward_flops(windowed, 128).attention, forward_flops(full, 8192).attention
    # Half of the layers see 128 tokens at most, however long the sequence is.
    assert long == pytest.approx(short * (1 + 8192 / 128) / 2)


def test_conventions_are_ordered() -> None:
    for model in ("llama-3-70b", "mixtral-8x7b", "deepseek-v3", "nemotron-h-56b"):
        counts = {name: training_flops_per_token(load_model(model), 4096, name) for name in CONVENTIONS}
        assert counts["parameters"] < counts["model"] < counts["model-full"] < counts["hardware"]
