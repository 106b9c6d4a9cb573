"""The shape of a model → floating-point operations of one token, by the conventions in which utilisation is published."""

from __future__ import annotations

from dataclasses import dataclass

from gpufabric.records.transformer import Attention, Block, Mixer, Transformer
from gpufabric.training.parameters import block_parameters, count_parameters, mixer_parameters

CONVENTIONS = {
    "model": "matrix products of forward and backward (3 × forward), attention over the pairs that a causal mask leaves, about "
    "half of them",
    "model-full": "as model, with attention over all pairs; Narayanan et al. 2021, https://arxiv.org/abs/2104.04473, section 5.1 "
    "without recomputation",
    "hardware": "as model-full, with every forward that full recomputation repeats (4 × forward of the layers); "
    "Narayanan et al. 2021, equation 3",
    "palm": "6 × active parameters, the embedding counted, with attention over all pairs: 6N + 12LHQT of PaLM, "
    "https://arxiv.org/abs/2204.02311, appendix B; so counts LLM Foundry, https://github.com/mosaicml/llm-foundry",
    "parameters": "6 × active parameters, no attention; Kaplan et al. 2020, https://arxiv.org/abs/2001.08361",
}


@dataclass(frozen=True, slots=True)
class ForwardFlops:
    """Operations of one token's forward pass: a multiply and an add are two.

    Attributes
    ----------
    layers
        Matrix products of the layers with weights.
    attention
        Products of queries with keys and of weights with values, and the scans of state-space mixers, over all pairs.
    head
        Logits, those of prediction modules included.
    prediction
        Layers of multi-token-prediction modules.
    """

    layers: float
    attention: float
    head: float
    prediction: float


def forward_flops(model: Transformer, sequence: int, causal: bool = False) -> ForwardFlops:
    """Count the forward pass of one token in a sequence of *sequence* tokens.

    Parameters
    ----------
    model
    sequence
        Tokens.
    causal
        Count only the pairs that a causal mask leaves; without it all pairs.
    """
    blocks = [(run.block, run.count) for run in model.runs]
    modules = [(block, 1) for block in model.prediction_blocks]
    joined = len(modules) * 2 * (2 * model.hidden) * model.hidden
    return ForwardFlops(
        layers=sum(block_flops(block, model.hidden) * count for block, count in blocks),
        attention=sum(
            pair_flops(block.mixer, sequence, causal) * count for block, count in [*blocks, *modules]
        ),
        head=2.0 * model.vocabulary * model.hidden * (1 + len(modules)),
        prediction=joined + sum(block_flops(block, model.hidden) * count for block, count in modules),
    )


def training_flops_per_token(model: Transformer, sequence: int, convention: str = "model") -> float:
    """Count forward and backward of one token by one of :data:`CONVENTIONS`."""
    forward = forward_flops(model, sequence, causal=convention == "model")
    layers = forward.layers + forward.prediction
    if convention == "parameters":
        return 3.0 * (layers + forward.head)
    if convention == "palm":
        counted = count_parameters(model)
        return 6.0 * (counted.active + counted.active_prediction) + 3.0 * forward.attention
    repeated = layers + forward.attention if convention == "hardware" else 0.0
    return 3.0 * (layers + forward.attention + forward.head) + repeated


def block_flops(block: Block, hidden: int) -> float:
    """Count the products with weights of one layer, one token forward."""
    counted = block_parameters(block, hidden)
    norms_and_biases = counted.norms + _not_multiplied(block, hidden)
    return 2.0 * (counted.active - norms_and_biases)


def pair_flops(mixer: Mixer | None, sequence: int, causal: bool = False) -> float:
    """Count what one token does with the others in attention or a scan, forward."""
    if mixer is None:
        return 0.0
    if not isinstance(mixer, Attention):
        # State update and read-out: each of heads × head_dim channels with its state, twice (https://arxiv.org/abs/2405.21060).
        return 4.0 * mixer.heads * mixer.head_dim * mixer.state
    return 2.0 * mixer.heads * (mixer.head_dim + mixer.value_head_dim) * _mean_pairs(mixer, sequence, causal)


def _mean_pairs(mixer: Attention, sequence: int, causal: bool) -> float:
    window = min(mixer.window or sequence, sequence)
    if not causal:
        return float(window)
    # The first tokens of a sequence have fewer before them than the window holds.
    return window * (1.0 - window / (2.0 * sequence))


def _not_multiplied(block: Block, hidden: int) -> int:
    mixer = block.mixer
    small = 0
    if isinstance(mixer, Attention):
        wide = mixer.heads * mixer.head_dim + mixer.kv_heads * (mixer.head_dim + mixer.value_head_dim)
        small += mixer.bias * wide * (not mixer.kv_rank) + mixer.output_bias * hidden
        small += mixer.sinks * mixer.heads + mixer.qk_norm * 2 * mixer.head_dim
        small += (mixer.q_rank + mixer.kv_rank) if mixer.kv_rank else 0
    elif mixer is not None:
        inner = mixer.heads * mixer.head_dim
        small += mixer_parameters(mixer, hidden) - hidden * (
            3 * inner + 2 * mixer.groups * mixer.state + mixer.heads
        )
    if block.dense and block.dense.bias:
        small += block.dense.width * (2 if block.dense.gated else 1) + hidden
    experts = block.experts
    if experts:
        inside = experts.latent or hidden
        small += experts.router_bias * experts.count
        if experts.bias:
            small += experts.active * (experts.width * (2 if experts.gated else 1) + inside)
    return small
