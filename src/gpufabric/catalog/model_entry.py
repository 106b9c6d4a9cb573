"""One model as a catalogue file or a job describes it → :class:`~gpufabric.records.transformer.Transformer`."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, model_validator

from gpufabric.records.part_facts import Source, StrictRecord
from gpufabric.records.transformer import (
    Attention,
    Block,
    BlockRun,
    ExpertMixture,
    FeedForward,
    StateSpace,
    Transformer,
)

Width = Annotated[int, Field(ge=1, le=10_000_000)]
Heads = Annotated[int, Field(ge=1, le=65_536)]
_PATTERN = {"M": "Mamba-2", "*": "attention", "-": "feed-forward", "E": "experts"}


class EntryExperts(StrictRecord):
    """Routed experts of an entry; ``shared_ffn`` is the width of all shared experts together."""

    count: Heads
    active: Heads
    ffn: Width
    gated: bool = True
    shared_ffn: Annotated[int, Field(ge=0, le=10_000_000)] = 0
    shared_gate: bool = False
    first_dense_layers: Annotated[int, Field(ge=0, le=10_000)] = 0
    every_layers: Annotated[int, Field(ge=1, le=1024)] = 1
    node_limit: Annotated[int, Field(ge=0, le=65_536)] = 0
    router_bias: bool = False
    bias: bool = False
    latent: Annotated[int, Field(ge=0, le=10_000_000)] = 0

    @model_validator(mode="after")
    def _active_exist(self) -> EntryExperts:
        if self.active > self.count:
            raise ValueError(
                f"a token visits {self.active} of {self.count} experts; at most all can be visited"
            )
        return self


class EntryLatent(StrictRecord):
    """Ranks and widths of multi-head latent attention; ``q_rank`` 0: the query is not compressed."""

    q_rank: Annotated[int, Field(ge=0, le=10_000_000)] = 0
    kv_rank: Width
    nope_head_dim: Width
    rope_head_dim: Width
    value_head_dim: Width


class EntryStateSpace(StrictRecord):
    """Mamba-2 mixers of a hybrid."""

    heads: Heads
    head_dim: Width
    state: Width
    groups: Heads
    convolution: Width = 4


class ModelEntry(StrictRecord):
    """A model of the catalogue.

    Attributes
    ----------
    pattern
        Of a hybrid, one letter a layer: M Mamba-2, * attention, - feed-forward, E experts. Empty: every layer has attention and a
        feed-forward or an expert part.
    window, window_every
        Tokens of sliding-window attention, and that one layer in so many has it, the first included; 0: none.
    prediction_layers
        Multi-token-prediction modules, each a layer like the last.
    source
        Key of the file's ``[sources]``.
    """

    id: str = Field(pattern=r"^[a-z0-9][a-z0-9.\-]*$", max_length=64)
    name: str = Field(min_length=1, max_length=120)
    aliases: tuple[str, ...] = ()
    source: str = ""
    note: str = ""
    layers: Annotated[int, Field(ge=1, le=10_000)]
    hidden: Width
    vocabulary: Width
    heads: Heads
    kv_heads: Heads | None = None
    head_dim: Width | None = None
    latent: EntryLatent | None = None
    window: Annotated[int, Field(ge=0, le=10_000_000)] = 0
    window_every: Annotated[int, Field(ge=1, le=1024)] = 1
    attention_bias: bool = False
    output_bias: bool = False
    qk_norm: bool = False
    sinks: bool = False
    ffn: Width | None = None
    gated: bool = True
    ffn_bias: bool = False
    norms: Annotated[int, Field(ge=1, le=8)] = 2
    norm_bias: bool = False
    tied_embeddings: bool = False
    positions: Annotated[int, Field(ge=0, le=10_000_000)] = 0
    experts: EntryExperts | None = None
    state_space: EntryStateSpace | None = None
    pattern: str = Field("", max_length=10_000)
    prediction_layers: Annotated[int, Field(ge=0, le=64)] = 0

    @model_validator(mode="after")
    def _shape_is_whole(self) -> ModelEntry:
        kv_heads = self.kv_heads or self.heads
        if self.heads % kv_heads:
            raise ValueError(
                f"{self.heads} heads can't share {kv_heads} key and value heads; heads must be a multiple"
            )
        if self.head_dim is None and self.latent is None and self.hidden % self.heads:
            raise ValueError(f"hidden {self.hidden} is no multiple of {self.heads} heads; give head_dim")
        if self.pattern:
            self._pattern_is_whole()
        if self.ffn is None and (self.experts is None or self.experts.first_dense_layers):
            raise ValueError("ffn is missing; it is the inner width of a dense layer")
        return self

    def _pattern_is_whole(self) -> None:
        strange = sorted(set(self.pattern) - set(_PATTERN))
        if strange:
            raise ValueError(
                f"pattern has {', '.join(strange)}; allowed are the letters {' '.join(_PATTERN)}"
            )
        if len(self.pattern) != self.layers:
            raise ValueError(
                f"pattern has {len(self.pattern)} letters for {self.layers} layers; they must be equal"
            )
        for letter, part in (("M", self.state_space), ("E", self.experts), ("-", self.ffn)):
            if letter in self.pattern and part is None:
                raise ValueError(
                    f"pattern has {letter} ({_PATTERN[letter]}), which the entry does not describe"
                )


class ModelFile(StrictRecord):
    """A file of the catalogue: a family of models and the sources of its figures."""

    family: str
    sources: dict[str, Source]
    models: tuple[ModelEntry, ...] = Field(min_length=1)

    @model_validator(mode="after")
    def _sources_resolve(self) -> ModelFile:
        for model in self.models:
            if model.source not in self.sources:
                raise ValueError(f'{model.id} names source "{model.source}", which is not in [sources]')
        return self


def build_transformer(entry: ModelEntry, source: str) -> Transformer:
    """Return the layers that *entry* describes; *source* says where it was read."""
    if entry.pattern:
        blocks = [_hybrid_block(entry, letter) for letter in entry.pattern]
        # A prediction module of a hybrid is an attention layer and an expert layer (Nemotron 3: "*E").
        module = _whole_block(entry, entry.layers - 1)
    else:
        blocks = [_whole_block(entry, row) for row in range(entry.layers)]
        module = blocks[-1]
    runs: list[BlockRun] = []
    for block in blocks:
        same = bool(runs) and runs[-1].block == block
        count = runs.pop().count + 1 if same else 1
        runs.append(BlockRun(block, count))
    return Transformer(
        name=entry.name,
        hidden=entry.hidden,
        vocabulary=entry.vocabulary,
        runs=tuple(runs),
        tied_embeddings=entry.tied_embeddings,
        positions=entry.positions,
        prediction_blocks=(module,) * entry.prediction_layers,
        source=source,
    )


def _whole_block(entry: ModelEntry, row: int) -> Block:
    experts = entry.experts
    routed = (
        experts is not None
        and row >= experts.first_dense_layers
        and (row - experts.first_dense_layers + 1) % experts.every_layers == 0
    )
    return Block(
        mixer=_attention(entry, windowed=entry.window > 0 and row % entry.window_every == 0),
        dense=None if routed else _dense(entry),
        experts=_mixture(entry) if routed else None,
        norms=entry.norms,
        norm_bias=entry.norm_bias,
    )


def _hybrid_block(entry: ModelEntry, letter: str) -> Block:
    return Block(
        mixer=_state_space(entry) if letter == "M" else _attention(entry, False) if letter == "*" else None,
        dense=_dense(entry) if letter == "-" else None,
        experts=_mixture(entry) if letter == "E" else None,
        norms=1,
        norm_bias=entry.norm_bias,
    )


def _attention(entry: ModelEntry, windowed: bool) -> Attention:
    latent = entry.latent
    width = entry.head_dim or entry.hidden // entry.heads
    return Attention(
        heads=entry.heads,
        kv_heads=entry.heads if latent else entry.kv_heads or entry.heads,
        head_dim=latent.nope_head_dim + latent.rope_head_dim if latent else width,
        value_head_dim=latent.value_head_dim if latent else width,
        kv_rank=latent.kv_rank if latent else 0,
        q_rank=latent.q_rank if latent else 0,
        rope_head_dim=latent.rope_head_dim if latent else 0,
        window=entry.window if windowed else 0,
        bias=entry.attention_bias,
        output_bias=entry.output_bias,
        qk_norm=entry.qk_norm,
        sinks=entry.sinks,
    )


def _dense(entry: ModelEntry) -> FeedForward | None:
    return FeedForward(entry.ffn, entry.gated, entry.ffn_bias) if entry.ffn else None


def _mixture(entry: ModelEntry) -> ExpertMixture | None:
    experts = entry.experts
    if experts is None:
        return None
    return ExpertMixture(
        count=experts.count,
        active=experts.active,
        width=experts.ffn,
        gated=experts.gated,
        shared_width=experts.shared_ffn,
        shared_gate=experts.shared_gate,
        router_bias=experts.router_bias,
        bias=experts.bias,
        node_limit=experts.node_limit,
        latent=experts.latent,
    )


def _state_space(entry: ModelEntry) -> StateSpace | None:
    part = entry.state_space
    return StateSpace(part.heads, part.head_dim, part.state, part.groups, part.convolution) if part else None
