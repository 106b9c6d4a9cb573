"""A Hugging Face ``config.json`` → :class:`~gpufabric.records.transformer.Transformer`.

The keys are those of the configuration classes of the transformers library (https://github.com/huggingface/transformers,
``src/transformers/models/*/configuration_*.py``); ``model_type`` decides what a missing key means.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from gpufabric.errors import InputError, printable
from gpufabric.formats.open_input import open_input
from gpufabric.records.transformer import (
    Attention,
    Block,
    BlockRun,
    ExpertMixture,
    FeedForward,
    StateSpace,
    Transformer,
)

MAX_BYTES = 1 << 20
_MOST_LAYERS = 10_000
_MOST = 10_000_000
_NESTED = ("text_config", "llm_config", "language_config")
_EXPERT_COUNTS = ("num_experts", "num_local_experts", "n_routed_experts", "num_routed_experts")
_KNOWN = (
    "deepseek_v2",
    "deepseek_v3",
    "falcon",
    "gemma",
    "gemma2",
    "glm4_moe",
    "gpt2",
    "gpt_neox",
    "gpt_oss",
    "granite",
    "kimi_k2",
    "llama",
    "mistral",
    "mixtral",
    "nemotron",
    "nemotron_h",
    "phi3",
    "qwen2",
    "qwen2_moe",
    "qwen3",
    "qwen3_moe",
    "smollm3",
    "starcoder2",
)
_QK_NORM = frozenset({"qwen3", "qwen3_moe"})
_QKV_BIAS = frozenset({"qwen2", "qwen2_moe", "gpt_oss", "gpt2", "gpt_neox", "starcoder2"})
_NO_OUTPUT_BIAS = frozenset({"qwen2", "qwen2_moe", "glm4_moe"})
_FFN_BIAS = frozenset({"gpt2", "gpt_neox", "starcoder2"})
_SHARED_GATE = frozenset({"qwen2_moe"})
_ROUTER_BIAS = frozenset({"deepseek_v3", "kimi_k2", "glm4_moe", "gpt_oss", "nemotron_h"})
_PLAIN_FFN = frozenset({"nemotron", "nemotron_h", "gpt2", "gpt_neox", "falcon", "starcoder2"})
_NORM_BIAS = frozenset({"nemotron", "gpt2", "gpt_neox", "falcon", "starcoder2"})
_TIED = frozenset({"falcon", "gemma", "gemma2", "gpt2", "starcoder2"})
_LETTERS = {"mamba": "M", "attention": "*", "mlp": "-", "moe": "E"}
_NOT_READ = ("linear_num_key_heads", "linear_key_head_dim", "lru_width", "kda_head_dim", "index_topk")


def read_hf_config(path: Path | str) -> Transformer:
    """Read the configuration in the file *path*, at most 1 MiB of JSON.

    Raises
    ------
    InputError
        If the file can't be read, is no JSON, lacks a key, or describes layers that are not modelled.
    """
    where = printable(str(path))
    try:
        with open_input(path) as stream:
            data = stream.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "its name is no path"
        raise InputError(f"{where}: can't be read ({reason}); name a config.json") from error
    if len(data) > MAX_BYTES:
        raise InputError(
            f"{where}: is longer than 1 MiB; allowed is the config.json of a model; name that file"
        )
    try:
        body = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise InputError(
            f"{where}: is no JSON ({printable(str(error))}); name the config.json of a model"
        ) from error
    return parse_hf_config(body, where)


def parse_hf_config(body: Any, where: str) -> Transformer:
    """Return the model that the parsed JSON *body* describes; messages name it *where*.

    Raises
    ------
    InputError
        As :func:`read_hf_config`.
    """
    keys = _Keys(_innermost(body, where), where)
    keys.refuse_what_is_not_modelled()
    hidden = keys.count("hidden_size", "n_embd", "d_model")
    named = keys.body.get("layers_block_type")
    if isinstance(named, list) and 0 < len(named) <= _MOST_LAYERS:
        layers = len(named)
    else:
        layers = keys.count("num_hidden_layers", "n_layer", "n_layers", most=_MOST_LAYERS)
    attention = _attention(keys, hidden)
    if keys.kind == "nemotron_h":
        blocks = _hybrid_blocks(keys, hidden, attention, layers)
        module = Block(attention, None, _experts(keys)) if _is_mixture(keys) else blocks[-1]
    else:
        blocks = _blocks(keys, hidden, attention, layers)
        module = blocks[-1]
    modules = keys.optional("num_nextn_predict_layers", default=0, most=64)
    return Transformer(
        name=keys.text("_name_or_path") or keys.kind or "model",
        hidden=hidden,
        vocabulary=keys.count("vocab_size"),
        runs=_runs(blocks),
        tied_embeddings=keys.flag("tie_word_embeddings", default=keys.kind in _TIED),
        positions=keys.count("n_positions", "n_ctx") if keys.kind == "gpt2" else 0,
        prediction_blocks=(module,) * modules,
        source=where,
    )


@dataclass(frozen=True, slots=True)
class _Keys:
    """The keys of one configuration, read with their bounds."""

    body: dict[str, Any]
    where: str

    @property
    def kind(self) -> str:
        return self.text("model_type")

    def text(self, key: str) -> str:
        value = self.body.get(key)
        return printable(value, 63) if isinstance(value, str) else ""

    def flag(self, key: str, default: bool = False) -> bool:
        value = self.body.get(key)
        return value if isinstance(value, bool) else default

    def optional(self, *names: str, default: int, most: int = _MOST) -> int:
        for name in names:
            value = self.body.get(name)
            if value is None:
                continue
            if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= most:
                raise InputError(
                    f"{self.where}: {name} is {printable(repr(value))}; allowed are whole numbers up to {most:,}; correct it"
                )
            return value
        return default

    def count(self, *names: str, most: int = _MOST) -> int:
        value = self.optional(*names, default=0, most=most)
        if value < 1:
            raise InputError(
                f"{self.where}: {' or '.join(names)} is missing or 0; a model needs it; add it, or write the shape in the job"
            )
        return value

    def layer_list(self, key: str) -> frozenset[int]:
        value = self.body.get(key) or []
        if not isinstance(value, list) or not all(isinstance(row, int) for row in value):
            raise InputError(
                f"{self.where}: {key} is no list of layer numbers; allowed is such as [0, 1]; correct it"
            )
        return frozenset(value)

    def refuse_what_is_not_modelled(self) -> None:
        if self.kind not in _KNOWN:
            raise InputError(
                f'{self.where}: model_type "{self.kind}" is not known; known: {", ".join(_KNOWN)}; name the one that it is built '
                "like, or write the shape in the job"
            )
        found = [key for key in _NOT_READ if self.body.get(key)]
        if found:
            raise InputError(
                f"{self.where}: {found[0]} describes mixers that are not read from configurations; allowed are layers of softmax "
                "attention; use a model of the catalogue, or write the shape in the job"
            )


def _innermost(body: Any, where: str) -> dict[str, Any]:
    """Return the part of a configuration that describes the language model."""
    for _ in range(4):
        if not isinstance(body, dict):
            break
        nested = next((body[key] for key in _NESTED if isinstance(body.get(key), dict)), None)
        if nested is None:
            return body
        body = nested
    raise InputError(f"{where}: is no object of keys; allowed is the config.json of a model; name that file")


def _attention(keys: _Keys, hidden: int) -> Attention:
    heads = keys.count("num_attention_heads", "n_head", "n_heads", most=65_536)
    shared = 1 if keys.flag("multi_query") and not keys.flag("new_decoder_architecture") else heads
    names = () if shared == 1 else ("num_key_value_heads", "num_kv_heads")
    kv_heads = keys.optional(*names, default=shared, most=65_536) or heads
    bias = keys.flag("attention_bias", default=keys.kind in _QKV_BIAS)
    if keys.body.get("kv_lora_rank"):
        rope = keys.count("qk_rope_head_dim")
        return Attention(
            heads=heads,
            kv_heads=heads,
            head_dim=keys.count("qk_nope_head_dim") + rope,
            value_head_dim=keys.count("v_head_dim"),
            kv_rank=keys.count("kv_lora_rank"),
            q_rank=keys.optional("q_lora_rank", default=0),
            rope_head_dim=rope,
        )
    width = keys.optional("head_dim", default=0) or hidden // heads
    if width < 1 or heads % kv_heads:
        raise InputError(
            f"{keys.where}: {heads} heads share {kv_heads} key and value heads at hidden size {hidden}; heads must be a "
            "multiple of num_key_value_heads and not exceed hidden_size; correct it"
        )
    return Attention(
        heads=heads,
        kv_heads=kv_heads,
        head_dim=width,
        value_head_dim=width,
        bias=bias,
        output_bias=bias and keys.kind not in _NO_OUTPUT_BIAS,
        qk_norm=keys.kind in _QK_NORM or keys.flag("use_qk_norm"),
        sinks=keys.kind == "gpt_oss",
    )


def _blocks(keys: _Keys, hidden: int, attention: Attention, layers: int) -> list[Block]:
    """Read layers of attention and a dense or an expert part; equal ones are made once."""
    windowed = _windowed_rows(keys, layers)
    routed = _routed_rows(keys, layers)
    window = keys.optional("sliding_window", default=0)
    one_norm = keys.kind == "falcon" and not keys.flag("new_decoder_architecture")
    mixers = {False: attention, True: replace(attention, window=window)}
    dense = None if all(routed) else _dense(keys, hidden)
    experts = _experts(keys) if any(routed) else None
    made = {
        (short, expert): Block(
            mixers[short],
            None if expert else dense,
            experts if expert else None,
            norms=4 if keys.kind == "gemma2" else 1 if one_norm else 2,
            norm_bias=keys.kind in _NORM_BIAS,
        )
        for short in mixers
        for expert in (False, True)
    }
    return [made[kind] for kind in zip(windowed, routed, strict=True)]


def _dense(keys: _Keys, hidden: int) -> FeedForward:
    width = keys.optional("intermediate_size", "n_inner", "ffn_hidden_size", default=0) or 4 * hidden
    bias = keys.flag("mlp_bias", default=keys.kind in _FFN_BIAS)
    return FeedForward(width, gated=keys.kind not in _PLAIN_FFN, bias=bias)


def _hybrid_blocks(keys: _Keys, hidden: int, attention: Attention, layers: int) -> list[Block]:
    """Read the layers of Nemotron-H: a pattern of letters, or a list of names."""
    named = keys.body.get("layers_block_type")
    pattern = keys.body.get("hybrid_override_pattern")
    if isinstance(named, list):
        pattern = "".join(_LETTERS.get(str(name), "?") for name in named)
    if not isinstance(pattern, str) or len(pattern) != layers or set(pattern) - set("M*-E"):
        raise InputError(
            f"{keys.where}: hybrid_override_pattern is {printable(repr(pattern))}; allowed is one of M, *, - and E for each of "
            f"the {layers} layers; correct it"
        )
    parts = {
        "M": lambda: Block(_state_space(keys), None, None, norms=1),
        "*": lambda: Block(attention, None, None, norms=1),
        "-": lambda: Block(None, _dense(keys, hidden), None, norms=1),
        "E": lambda: Block(None, None, _experts(keys), norms=1),
    }
    made = {letter: parts[letter]() for letter in set(pattern)}
    return [made[letter] for letter in pattern]


def _state_space(keys: _Keys) -> StateSpace:
    return StateSpace(
        heads=keys.count("mamba_num_heads", most=65_536),
        head_dim=keys.count("mamba_head_dim"),
        state=keys.count("ssm_state_size"),
        groups=keys.count("n_groups", most=65_536),
        convolution=keys.count("conv_kernel"),
    )


def _windowed_rows(keys: _Keys, layers: int) -> list[bool]:
    kinds = keys.body.get("layer_types")
    if not keys.optional("sliding_window", default=0):
        return [False] * layers
    if isinstance(kinds, list):
        return [row < len(kinds) and kinds[row] == "sliding_attention" for row in range(layers)]
    return [keys.flag("use_sliding_window", default=keys.kind in {"mistral", "mixtral"})] * layers


def _routed_rows(keys: _Keys, layers: int) -> list[bool]:
    if not _is_mixture(keys):
        return [False] * layers
    step = max(1, keys.optional("decoder_sparse_step", "moe_layer_freq", default=1))
    dense_first = keys.optional("first_k_dense_replace", default=0)
    dense = keys.layer_list("mlp_only_layers")
    # Qwen counts from one, DeepSeek from zero.
    first = 1 if "decoder_sparse_step" in keys.body else 0
    return [row >= dense_first and (row + first) % step == 0 and row not in dense for row in range(layers)]


def _is_mixture(keys: _Keys) -> bool:
    return keys.optional(*_EXPERT_COUNTS, default=0) >= 2


def _experts(keys: _Keys) -> ExpertMixture:
    count = keys.count(*_EXPERT_COUNTS, most=65_536)
    active = keys.count("num_experts_per_tok", "num_experts_per_token", "moe_topk", most=65_536)
    if active > count:
        raise InputError(
            f"{keys.where}: a token visits {active} of {count} experts; allowed are at most all; correct num_experts_per_tok"
        )
    width = keys.count("moe_intermediate_size", "intermediate_size")
    shared = keys.optional(
        "shared_expert_intermediate_size", "moe_shared_expert_intermediate_size", default=0
    )
    shared = shared or keys.optional("n_shared_experts", "num_shared_experts", default=0, most=1024) * width
    return ExpertMixture(
        count=count,
        active=active,
        width=width,
        gated=keys.kind not in _PLAIN_FFN,
        shared_width=shared,
        shared_gate=bool(shared) and keys.kind in _SHARED_GATE,
        router_bias=keys.kind in _ROUTER_BIAS,
        node_limit=_node_limit(keys),
        latent=keys.optional("moe_latent_size", default=0),
        bias=keys.kind == "gpt_oss",
    )


def _node_limit(keys: _Keys) -> int:
    """Return how many groups of experts one token is sent to; DeepSeek puts each group on one server."""
    groups = keys.optional("n_group", default=0, most=65_536)
    chosen = keys.optional("topk_group", default=0, most=65_536)
    return chosen if chosen < groups else 0


def _runs(blocks: list[Block]) -> tuple[BlockRun, ...]:
    runs: list[BlockRun] = []
    for block in blocks:
        if runs and runs[-1].block == block:
            runs[-1] = BlockRun(block, runs[-1].count + 1)
        else:
            runs.append(BlockRun(block, 1))
    return tuple(runs)
