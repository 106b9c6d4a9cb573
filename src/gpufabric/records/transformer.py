"""A transformer as layers of known shape: what is counted, computed and kept in memory follows from this.

Widths are elements, counts are whole numbers. A catalogue entry, a Hugging Face configuration and a shape in a job description
all become one of these.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Attention:
    """Softmax attention.

    Attributes
    ----------
    heads, kv_heads
        Query heads, and those of keys and values (equal: multi-head; fewer: grouped; 1: multi-query).
    head_dim, value_head_dim
        Width of a query and key head, its rotary part included, and of a value head.
    kv_rank, q_rank, rope_head_dim
        Multi-head latent attention (DeepSeek-V2, https://arxiv.org/abs/2405.04434): ranks of the compressions (``q_rank`` 0: the
        query is not compressed) and the rotary part of ``head_dim`` that all heads share. ``kv_rank`` 0: no latent attention.
    window
        Tokens back that one attends to; 0: all.
    bias, output_bias, qk_norm, sinks
        Whether the projections of query, key and value have biases, and that of the output; whether query and key heads are
        normalised; whether each head has a learned sink.
    """

    heads: int
    kv_heads: int
    head_dim: int
    value_head_dim: int
    kv_rank: int = 0
    q_rank: int = 0
    rope_head_dim: int = 0
    window: int = 0
    bias: bool = False
    output_bias: bool = False
    qk_norm: bool = False
    sinks: bool = False


@dataclass(frozen=True, slots=True)
class StateSpace:
    """A Mamba-2 mixer (https://arxiv.org/abs/2405.21060): inner width = heads × head_dim, state per group, causal convolution."""

    heads: int
    head_dim: int
    state: int
    groups: int
    convolution: int


Mixer = Attention | StateSpace


@dataclass(frozen=True, slots=True)
class FeedForward:
    """A dense feed-forward part; gated ones have three matrices."""

    width: int
    gated: bool = True
    bias: bool = False


@dataclass(frozen=True, slots=True)
class ExpertMixture:
    """Routed experts.

    Attributes
    ----------
    count, active
        Experts of the layer, and how many one token visits.
    width
        Inner width of one expert.
    shared_width
        Inner width of the experts that every token visits, together; 0: none.
    node_limit
        Servers that one token may be sent to; 0: no limit.
    latent
        Width that tokens have inside the experts; 0: that of the hidden state.
    bias, router_bias, shared_gate
        Whether experts and the router have biases, and whether a gate weighs the shared experts.
    """

    count: int
    active: int
    width: int
    gated: bool = True
    shared_width: int = 0
    shared_gate: bool = False
    router_bias: bool = False
    bias: bool = False
    node_limit: int = 0
    latent: int = 0


@dataclass(frozen=True, slots=True)
class Block:
    """One layer: a mixer, then a dense or an expert part; hybrids lack one. ``norms`` normalise the hidden state."""

    mixer: Mixer | None
    dense: FeedForward | None = None
    experts: ExpertMixture | None = None
    norms: int = 2
    norm_bias: bool = False


@dataclass(frozen=True, slots=True)
class BlockRun:
    """Equal layers that stand one after the other."""

    block: Block
    count: int


@dataclass(frozen=True, slots=True)
class Transformer:
    """A model.

    Attributes
    ----------
    runs
        The layers from the input to the output.
    vocabulary
        Entries, without padding.
    positions
        Learned position embeddings; 0: none.
    tied_embeddings
        Whether input and output embeddings are one matrix.
    prediction_blocks
        Multi-token-prediction modules of DeepSeek-V3, each a block with its own projection of two hidden states.
    source
        Where the shape was read.
    """

    name: str
    hidden: int
    vocabulary: int
    runs: tuple[BlockRun, ...]
    tied_embeddings: bool = False
    positions: int = 0
    embedding_bias: bool = False
    prediction_blocks: tuple[Block, ...] = ()
    source: str = ""

    @property
    def layers(self) -> int:
        """Layers of the main model."""
        return sum(run.count for run in self.runs)
