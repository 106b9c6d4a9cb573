"""One layer → the bytes that it keeps of each token between its forward and its backward pass."""

from __future__ import annotations

from dataclasses import dataclass

from gpufabric.records.transformer import Attention, Block, ExpertMixture, FeedForward, Mixer
from gpufabric.training.memory_practice import MemoryPractice

_SCAN_CHUNK = 256
_ELEMENT = 2.0


@dataclass(frozen=True, slots=True)
class LayerActivations:
    """Bytes of one token in one layer, by what divides them.

    The terms are those of Korthikanti et al. 2022 (https://arxiv.org/abs/2205.05198, equations 1 to 4), for any number of key and
    value heads, gated parts, latent attention and experts.

    Attributes
    ----------
    whole
        The same on every rank of a tensor-parallel group, or split over it with sequence parallelism.
    split
        Split over the tensor-parallel group in any case.
    scores
        Of one pair of tokens, all heads: split over the tensor-parallel group.
    routed, routed_input
        Of tokens at experts: the inner widths, and what arrives there, which every rank of an expert's tensor-parallel group has.
    kept_input
        What full recomputation keeps.
    attention_output
        Kept twice where context parallelism exchanges heads for tokens.
    cheap_whole, cheap_split, cheap_routed
        Of ``whole``, ``split`` and ``routed``, what takes little to compute again: outputs of norms and activation functions, and
        heads that latent attention opens from its compressions.
    transient
        Gradients that live while this layer is differentiated, split over the tensor-parallel group.
    layers
        1: what is summed to count layers.
    """

    whole: float
    split: float
    scores: float
    routed: float
    routed_input: float
    kept_input: float
    attention_output: float
    cheap_whole: float
    cheap_split: float
    cheap_routed: float
    transient: float
    layers: float = 1.0


def layer_activations(block: Block, hidden: int, practice: MemoryPractice) -> LayerActivations:
    """Count what one layer keeps of one token.

    Parameters
    ----------
    block
    hidden
        Width of the hidden state.
    practice
        Of the training library.

    Notes
    -----
    Inputs of products have two bytes unless the library keeps them in FP8, also where products are computed in FP8: Transformer
    Engine keeps some of them so, torchao none.
    """
    element = practice.product_input_bytes
    mask = hidden * practice.dropout
    norms = block.norms * hidden * _ELEMENT
    mixer_whole, mixer_split = _mixer(block.mixer, hidden, element, practice.flash_attention)
    dense = _feed_forward(block.dense, element)
    experts = block.experts
    shared = _inner(experts.shared_width, experts.gated, element) if experts else 0.0
    parts = (block.dense is not None) + (experts is not None)
    routed, arrived = _routed(experts, hidden, element)
    attention = block.mixer if isinstance(block.mixer, Attention) else None
    scores = (
        0.0 if attention is None or practice.flash_attention else attention.heads * (4.0 + practice.dropout)
    )
    activated = _activated(block.dense, element) + (element * experts.shared_width if experts else 0.0)
    return LayerActivations(
        whole=norms + mixer_whole + mask * (block.mixer is not None) + parts * (hidden * element + mask),
        split=mixer_split + dense + shared,
        scores=scores,
        routed=routed,
        routed_input=arrived,
        kept_input=hidden * _ELEMENT,
        attention_output=attention.heads * attention.value_head_dim * element if attention else 0.0,
        cheap_whole=hidden * element * ((block.mixer is not None) + parts),
        cheap_split=activated + (_opened_heads(attention, element) if attention else 0.0),
        cheap_routed=experts.active * experts.width * element if experts else 0.0,
        transient=max(dense + shared, mixer_split) + routed + arrived,
    )


def _mixer(mixer: Mixer | None, hidden: int, element: float, flash: bool) -> tuple[float, float]:
    """Return bytes of a token that a mixer keeps whole and split over tensor parallelism."""
    if mixer is None:
        return 0.0, 0.0
    if not isinstance(mixer, Attention):
        # Mamba-2 keeps the projected input, the convolved part and the gated output, and one state in each chunk of the scan.
        inner, mixed = mixer.heads * mixer.head_dim, 2 * mixer.groups * mixer.state
        states = mixer.heads * mixer.head_dim * mixer.state / _SCAN_CHUNK
        projected = 2 * inner + mixed + mixer.heads
        return hidden * element, element * (projected + inner + mixed + 2 * inner + states)
    heads = mixer.heads * (mixer.head_dim + mixer.value_head_dim)
    keys = mixer.kv_heads * (mixer.head_dim + mixer.value_head_dim)
    statistics = 4.0 * mixer.heads * flash
    normalised = mixer.qk_norm * (mixer.heads + mixer.kv_heads) * mixer.head_dim
    # Compressions are kept before and after they are normalised.
    whole = hidden + (2 * (mixer.q_rank + mixer.kv_rank) + mixer.rope_head_dim if mixer.kv_rank else 0)
    return whole * element, (heads + keys + normalised) * element + statistics


def _inner(width: int, gated: bool, element: float) -> float:
    """Return bytes of what enters the activation function and of what leaves it."""
    return element * width * (3 if gated else 2)


def _activated(part: FeedForward | None, element: float) -> float:
    return element * part.width if part else 0.0


def _opened_heads(mixer: Attention, element: float) -> float:
    """Return bytes of queries, keys and values that latent attention makes of its compressions; 0 without it."""
    heads = mixer.heads * (2 * mixer.head_dim + mixer.value_head_dim)
    return heads * element * (mixer.kv_rank > 0)


def _feed_forward(part: FeedForward | None, element: float) -> float:
    return _inner(part.width, part.gated, element) if part else 0.0


def _routed(experts: ExpertMixture | None, hidden: int, element: float) -> tuple[float, float]:
    if experts is None:
        return 0.0, 0.0
    width = experts.latent or hidden
    return (
        experts.active * _inner(experts.width, experts.gated, element),
        experts.active * width * element,
    )
