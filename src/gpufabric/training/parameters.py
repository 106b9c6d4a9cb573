"""The shape of a model → how many parameters it has, by part, and how many of them one token visits."""

from __future__ import annotations

from dataclasses import dataclass

from gpufabric.records.transformer import Attention, Block, ExpertMixture, FeedForward, Mixer, Transformer


@dataclass(frozen=True, slots=True)
class BlockParameters:
    """Parameters of one layer; ``active_experts`` are those of the routed experts that one token visits."""

    mixer: int
    dense: int
    experts: int
    active_experts: int
    shared_experts: int
    router: int
    norms: int

    @property
    def total(self) -> int:
        """All of the layer."""
        return self.mixer + self.dense + self.experts + self.shared_experts + self.router + self.norms

    @property
    def active(self) -> int:
        """Those that one token visits."""
        return self.total - self.experts + self.active_experts


@dataclass(frozen=True, slots=True)
class ModelParameters:
    """Parameters of a model by part.

    Attributes
    ----------
    embedding, positions, head, final_norm, layers
        ``head`` is 0 where it is the embedding matrix again.
    active_layers
        Of the layers, those that one token visits.
    prediction, active_prediction
        Of the multi-token-prediction modules, without the embedding and head that they share with the main model.
    """

    embedding: int
    positions: int
    head: int
    final_norm: int
    layers: int
    active_layers: int
    prediction: int
    active_prediction: int

    @property
    def total(self) -> int:
        """The main model, as model cards count it."""
        return self.embedding + self.positions + self.head + self.final_norm + self.layers

    @property
    def active(self) -> int:
        """Those of the main model that one token visits; the embedding counts whole, as model cards count it."""
        return self.total - self.layers + self.active_layers


def count_parameters(model: Transformer) -> ModelParameters:
    """Count the parameters of *model*: elements of its matrices, biases and norms."""
    counted = [(block_parameters(run.block, model.hidden), run.count) for run in model.runs]
    modules = [block_parameters(block, model.hidden) for block in model.prediction_blocks]
    norm = _norm(model.hidden, model.runs[-1].block.norm_bias)
    joining = 2 * model.hidden * model.hidden + 3 * norm
    embedding = model.vocabulary * model.hidden
    return ModelParameters(
        embedding=embedding,
        positions=model.positions * model.hidden,
        head=0 if model.tied_embeddings else embedding,
        final_norm=norm,
        layers=sum(block.total * count for block, count in counted),
        active_layers=sum(block.active * count for block, count in counted),
        prediction=sum(block.total + joining for block in modules),
        active_prediction=sum(block.active + joining for block in modules),
    )


def block_parameters(block: Block, hidden: int) -> BlockParameters:
    """Count the parameters of one layer of a model with hidden states of width *hidden*."""
    experts = block.experts
    one = _expert(experts, hidden) if experts else 0
    return BlockParameters(
        mixer=mixer_parameters(block.mixer, hidden),
        dense=_feed_forward(block.dense, hidden),
        experts=experts.count * one if experts else 0,
        active_experts=experts.active * one if experts else 0,
        shared_experts=_shared(experts, hidden) if experts else 0,
        router=experts.count * (hidden + experts.router_bias) if experts else 0,
        norms=block.norms * _norm(hidden, block.norm_bias),
    )


def mixer_parameters(mixer: Mixer | None, hidden: int) -> int:
    """Count the parameters of attention or of a state-space mixer; None has none."""
    if mixer is None:
        return 0
    if not isinstance(mixer, Attention):
        inner, mixed = mixer.heads * mixer.head_dim, 2 * mixer.groups * mixer.state
        taken = hidden * (2 * inner + mixed + mixer.heads)
        convolved = (inner + mixed) * (mixer.convolution + 1)
        return taken + convolved + 3 * mixer.heads + inner + inner * hidden
    output = mixer.heads * mixer.value_head_dim * hidden + mixer.output_bias * hidden
    small = mixer.sinks * mixer.heads + mixer.qk_norm * 2 * mixer.head_dim
    projections = _latent(mixer, hidden) if mixer.kv_rank else _grouped(mixer, hidden)
    return projections + output + small


def _grouped(mixer: Attention, hidden: int) -> int:
    wide = mixer.heads * mixer.head_dim + mixer.kv_heads * (mixer.head_dim + mixer.value_head_dim)
    return wide * (hidden + mixer.bias)


def _latent(mixer: Attention, hidden: int) -> int:
    # DeepSeek-V2, section 2.1 (https://arxiv.org/abs/2405.04434): both compressions are normalised, the rotary key is shared.
    query = mixer.heads * mixer.head_dim
    queries = mixer.q_rank * (hidden + 1 + query) if mixer.q_rank else hidden * query
    opened = mixer.heads * (mixer.head_dim - mixer.rope_head_dim + mixer.value_head_dim)
    return queries + hidden * (mixer.kv_rank + mixer.rope_head_dim) + mixer.kv_rank * (1 + opened)


def _feed_forward(part: FeedForward | None, hidden: int) -> int:
    if part is None:
        return 0
    into = 2 if part.gated else 1
    return (into + 1) * hidden * part.width + part.bias * (into * part.width + hidden)


def _expert(part: ExpertMixture, hidden: int) -> int:
    return _feed_forward(FeedForward(part.width, part.gated, part.bias), part.latent or hidden)


def _shared(part: ExpertMixture, hidden: int) -> int:
    shared = FeedForward(part.shared_width, part.gated, part.bias) if part.shared_width else None
    return _feed_forward(shared, hidden) + 2 * hidden * part.latent + part.shared_gate * hidden


def _norm(hidden: int, bias: bool) -> int:
    return hidden * (1 + bias)
