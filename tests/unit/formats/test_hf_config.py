"""Hugging Face configurations: what they mean, and what is refused in one line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpufabric.catalog.load_model import load_model
from gpufabric.errors import InputError
from gpufabric.formats.hf_config import MAX_BYTES, parse_hf_config, read_hf_config
from gpufabric.records.transformer import Attention, StateSpace
from gpufabric.training.parameters import count_parameters

LLAMA: dict[str, Any] = {
    "model_type": "llama",
    "hidden_size": 512,
    "num_hidden_layers": 4,
    "num_attention_heads": 8,
    "num_key_value_heads": 2,
    "intermediate_size": 1024,
    "vocab_size": 1000,
}
LATENT = {
    "kv_lora_rank": 512,
    "q_lora_rank": 1536,
    "qk_nope_head_dim": 128,
    "qk_rope_head_dim": 64,
    "v_head_dim": 128,
}
DEEPSEEK: dict[str, Any] = {
    **LATENT,
    "model_type": "deepseek_v3",
    "hidden_size": 7168,
    "num_hidden_layers": 61,
    "num_attention_heads": 128,
    "intermediate_size": 18432,
    "vocab_size": 129280,
    "n_routed_experts": 256,
    "n_shared_experts": 1,
    "num_experts_per_tok": 8,
    "moe_intermediate_size": 2048,
    "first_k_dense_replace": 3,
    "moe_layer_freq": 1,
    "n_group": 8,
    "topk_group": 4,
    "num_nextn_predict_layers": 1,
}
QWEN: dict[str, Any] = {
    "model_type": "qwen3_moe",
    "hidden_size": 4096,
    "num_hidden_layers": 94,
    "num_attention_heads": 64,
    "num_key_value_heads": 4,
    "head_dim": 128,
    "intermediate_size": 12288,
    "moe_intermediate_size": 1536,
    "num_experts": 128,
    "num_experts_per_tok": 8,
    "decoder_sparse_step": 1,
    "mlp_only_layers": [],
    "vocab_size": 151936,
}
GPT_OSS: dict[str, Any] = {
    "model_type": "gpt_oss",
    "hidden_size": 2880,
    "num_hidden_layers": 24,
    "num_attention_heads": 64,
    "num_key_value_heads": 8,
    "head_dim": 64,
    "intermediate_size": 2880,
    "num_local_experts": 32,
    "num_experts_per_tok": 4,
    "attention_bias": True,
    "sliding_window": 128,
    "layer_types": ["sliding_attention", "full_attention"] * 12,
    "vocab_size": 201088,
}
NEMOTRON_H: dict[str, Any] = {
    "model_type": "nemotron_h",
    "hidden_size": 2688,
    "num_hidden_layers": 52,
    "num_attention_heads": 32,
    "num_key_value_heads": 2,
    "head_dim": 128,
    "intermediate_size": 1856,
    "moe_intermediate_size": 1856,
    "moe_shared_expert_intermediate_size": 3712,
    "n_routed_experts": 128,
    "num_experts_per_tok": 6,
    "n_group": 1,
    "topk_group": 1,
    "mamba_num_heads": 64,
    "mamba_head_dim": 64,
    "ssm_state_size": 128,
    "n_groups": 8,
    "conv_kernel": 4,
    "hybrid_override_pattern": "MEMEM*EMEMEM*EMEMEM*EMEMEM*EMEMEM*EMEMEMEM*EMEMEMEME",
    "vocab_size": 131072,
}
SAME = [
    (DEEPSEEK, "deepseek-v3"),
    (QWEN, "qwen3-235b-a22b"),
    (GPT_OSS, "gpt-oss-20b"),
    (NEMOTRON_H, "nemotron-3-nano"),
]


@pytest.mark.parametrize(("body", "model"), SAME, ids=[model for _, model in SAME])
def test_reads_what_the_catalogue_has(body: dict[str, Any], model: str) -> None:
    read, known = parse_hf_config(body, "config.json"), load_model(model)
    assert read.runs == known.runs
    assert read.prediction_blocks == known.prediction_blocks
    assert count_parameters(read) == count_parameters(known)


def test_nested_language_model() -> None:
    inside = parse_hf_config({"model_type": "a_vision_model", "text_config": LLAMA}, "c")
    assert inside.runs == parse_hf_config(LLAMA, "c").runs


def test_layers_named_in_a_list() -> None:
    names = {"M": "mamba", "E": "moe", "*": "attention"}
    listed = [names[letter] for letter in NEMOTRON_H["hybrid_override_pattern"]]
    body = {
        **NEMOTRON_H,
        "layers_block_type": listed,
        "num_hidden_layers": None,
        "hybrid_override_pattern": None,
    }
    model = parse_hf_config(body, "c")
    assert model.runs == parse_hf_config(NEMOTRON_H, "c").runs
    assert isinstance(model.runs[0].block.mixer, StateSpace)


def test_sparse_step_and_dense_layers() -> None:
    body = {**QWEN, "num_hidden_layers": 6, "decoder_sparse_step": 2, "mlp_only_layers": [3]}
    blocks = [run.block for run in parse_hf_config(body, "c").runs for _ in range(run.count)]
    assert [block.experts is not None for block in blocks] == [False, True, False, False, False, True]


def test_groups_of_one_are_no_limit() -> None:
    def limit(**groups: int) -> int:
        experts = parse_hf_config({**DEEPSEEK, **groups}, "c").runs[-1].block.experts
        assert experts is not None
        return experts.node_limit

    assert limit() == 4
    assert limit(n_group=1, topk_group=1) == 0


def test_multi_query_falcon() -> None:
    body = {
        **LLAMA,
        "model_type": "falcon",
        "multi_query": True,
        "num_kv_heads": 8,
        "num_key_value_heads": None,
    }
    mixer = parse_hf_config(body, "c").runs[0].block.mixer
    assert isinstance(mixer, Attention)
    assert mixer.kv_heads == 1
    grouped = parse_hf_config({**body, "new_decoder_architecture": True}, "c").runs[0].block
    assert isinstance(grouped.mixer, Attention)
    assert (grouped.mixer.kv_heads, grouped.norms) == (8, 2)


def test_gpt2() -> None:
    body = {
        "model_type": "gpt2",
        "n_embd": 768,
        "n_layer": 12,
        "n_head": 12,
        "n_positions": 1024,
        "vocab_size": 50257,
    }
    # Every implementation of GPT-2 small counts 124,439,808.
    assert count_parameters(parse_hf_config(body, "c")).total == 124_439_808


REFUSED = [
    ({"model_type": "rwkv"}, 'c: model_type "rwkv" is not known; known: deepseek_v2'),
    ({"model_type": None}, 'c: model_type "" is not known'),
    ({"hidden_size": 0}, "c: hidden_size or n_embd or d_model is missing or 0"),
    ({"hidden_size": "512"}, "c: hidden_size is '512'; allowed are whole numbers up to 10,000,000"),
    ({"hidden_size": True}, "c: hidden_size is True"),
    ({"num_hidden_layers": 10**6}, "c: num_hidden_layers is 1000000; allowed are whole numbers up to 10,000"),
    ({"num_key_value_heads": 3}, "c: 8 heads share 3 key and value heads"),
    ({"num_attention_heads": 1024, "num_key_value_heads": 1024}, "c: 1024 heads share 1024"),
    ({"num_experts": 4, "num_experts_per_tok": 5}, "c: a token visits 5 of 4 experts"),
    (
        {"num_experts": 4, "num_experts_per_tok": 1, "mlp_only_layers": {"a": 1}},
        "c: mlp_only_layers is no list",
    ),
    ({"linear_num_key_heads": 4}, "c: linear_num_key_heads describes mixers"),
]


@pytest.mark.parametrize(("change", "said"), REFUSED)
def test_refusals_are_one_line(change: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError) as refused:
        parse_hf_config({**LLAMA, **change}, "c")
    assert str(refused.value).startswith(said)
    assert "\n" not in str(refused.value)


def test_wrong_pattern_is_refused() -> None:
    for pattern in ("M*", "X" * 52, 7):
        with pytest.raises(InputError, match="hybrid_override_pattern is"):
            parse_hf_config({**NEMOTRON_H, "hybrid_override_pattern": pattern}, "c")


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"[" * 100_000, "is no JSON"),
        (b"{", "is no JSON"),
        (b"\xff\xfe", "is no JSON"),
        (b'{"a": ' + b"9" * 5000 + b"}", "is no JSON"),
        (b" " * (MAX_BYTES + 1), "is longer than 1 MiB"),
        (b"[1]", "is no object of keys"),
        (
            b'{"text_config": {"text_config": {"text_config": {"text_config": {"text_config": {}}}}}}',
            "is no object",
        ),
    ],
)
def test_hostile_files(tmp_path: Path, data: bytes, said: str) -> None:
    path = tmp_path / "config.json"
    path.write_bytes(data)
    with pytest.raises(InputError) as refused:
        read_hf_config(path)
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)


def test_name_with_escapes_is_printed_safely(tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    path.write_text(json.dumps({**LLAMA, "_name_or_path": "\x1b[31mred", "model_type": "\x1b]0;x"}))
    with pytest.raises(InputError) as refused:
        read_hf_config(path)
    assert "\x1b" not in str(refused.value)


_VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-5, 10**12),
    st.floats(),
    st.text(max_size=4),
    st.lists(st.integers(0, 9), max_size=3),
    st.dictionaries(st.text(max_size=2), st.integers(), max_size=2),
)


@settings(max_examples=25, deadline=None)
@given(
    st.sampled_from(
        [LLAMA, {**QWEN, "num_hidden_layers": 3}, {**GPT_OSS, "num_hidden_layers": 2}, NEMOTRON_H]
    ),
    st.data(),
)
def test_any_values_are_read_or_refused(body: dict[str, Any], data: st.DataObject) -> None:
    keys = data.draw(st.lists(st.sampled_from(sorted(body)), min_size=1, max_size=3))
    changed = {**body, **{key: data.draw(_VALUES) for key in keys}}
    refused = ""
    try:
        model = parse_hf_config(changed, "c")
    except InputError as error:
        refused = str(error)
    else:
        assert count_parameters(model).total > 0
    assert "\n" not in refused
