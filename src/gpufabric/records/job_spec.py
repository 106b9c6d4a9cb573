"""What the user trains: the job description, validated.

This file owns the keys of ``job.schema.json``. A value that is None was not said; the training job fills
it in and says so in its ``assumptions``.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from gpufabric.records.quantities import Bytes, Time
from gpufabric.records.spec_fields import Flag, Float, Int, Library, Name, PartId, Strict, Text

Axis = Literal["tp", "cp", "ep", "dp", "pp"]
Format = Literal["fp32", "tf32", "bf16", "fp16", "fp8", "mxfp8", "fp6", "fp4", "nvfp4", "mxfp4"]
State = Literal["fp32", "bf16", "fp16", "fp8", "int8"]
_Degree = Annotated[Int, Field(ge=1, le=1_000_000)]
_Width = Annotated[Int, Field(ge=1, le=10_000_000)]
_Share = Annotated[Float, Field(ge=0, le=1)]


def _whole(value: Any) -> Any:
    # 15e12 is how people write a token count; YAML reads it as a float.
    return int(value) if isinstance(value, float) and value.is_integer() else value


Tokens = Annotated[Int, BeforeValidator(_whole), Field(ge=1, le=10**18)]


class Experts(Strict):
    """The mixture-of-experts part of a model."""

    count: Int = Field(ge=1, le=65_536, description="routed experts of one layer")
    active: Int = Field(ge=1, le=65_536, description="routed experts that one token visits")
    shared: Int = Field(0, ge=0, le=1024, description="experts that every token visits")
    ffn: _Width = Field(description="inner width of one expert")
    shared_ffn: _Width | None = Field(
        None, description="inner width of the shared experts together; default: shared × ffn"
    )
    first_dense_layers: Int = Field(
        0, ge=0, le=10_000, description="layers at the bottom that have no experts"
    )
    every_layers: Int = Field(1, ge=1, le=1024, description="one layer in so many has experts")
    node_limit: Int | None = Field(
        None, ge=1, le=65_536, description="servers that one token may be sent to; default: no limit"
    )
    capacity_factor: Float | None = Field(
        None, gt=0, le=100, description="tokens of the fullest expert over the mean"
    )


class LatentAttention(Strict):
    """Ranks and head widths of multi-head latent attention (MLA)."""

    q_rank: _Width | None = Field(None, description="rank of the query compression; default: none")
    kv_rank: _Width = Field(description="rank of the key and value compression")
    nope_head_dim: _Width = Field(description="width of a head without rotary position")
    rope_head_dim: _Width = Field(description="width of a head with rotary position")
    value_head_dim: _Width = Field(description="width of a value head")


class ModelShape(Strict):
    """A transformer that is in no catalogue."""

    name: Name = Field("model", description="name of the model")
    layers: Int = Field(ge=1, le=10_000, description="transformer layers")
    hidden: _Width = Field(description="width of the hidden state")
    heads: Int = Field(ge=1, le=65_536, description="attention heads")
    kv_heads: Int | None = Field(None, ge=1, le=65_536, description="key and value heads; default: heads")
    head_dim: _Width | None = Field(None, description="width of one head; default: hidden / heads")
    ffn: _Width = Field(description="inner width of the feed-forward part of a dense layer")
    gated_ffn: Flag = Field(True, description="three matrices (SwiGLU), otherwise two")
    vocabulary: _Width = Field(description="entries of the vocabulary")
    tied_embeddings: Flag = Field(False, description="input and output embeddings are one matrix")
    experts: Experts | None = Field(None, description="the mixture-of-experts part; default: dense")
    latent_attention: LatentAttention | None = Field(
        None, description="MLA; default: grouped-query attention by kv_heads"
    )


class Precision(Strict):
    """Number formats by part."""

    matmul: Format | None = Field(None, description="inputs of the matrix products")
    attention: Format | None = Field(None, description="inputs of attention")
    weights: State | None = Field(None, description="the copy of the weights that is computed with")
    master_weights: State | None = Field(None, description="the copy of the weights that is updated")
    gradients: State | None = Field(None, description="accumulated gradients")
    reduction: State | None = Field(None, description="gradients on the network")
    dispatch: Format | None = Field(None, description="tokens on the way to experts")
    combine: Format | None = Field(None, description="tokens on the way back from experts")


class Optimizer(Strict):
    """The optimizer and the format of its states."""

    name: Literal["adamw", "adam", "sgd", "momentum", "adafactor", "lion", "muon"] = Field(
        "adamw", description="which"
    )
    states: State | None = Field(None, description="format of its states")


class Offload(Strict):
    """Shares, 0 to 1, that live in the server's memory instead of the GPU's."""

    weights: _Share = Field(0.0, description="share of the weights")
    optimizer: _Share = Field(0.0, description="share of the optimizer states")
    activations: _Share = Field(0.0, description="share of the kept activations")


class Overlap(Strict):
    """Which communication runs beside compute; None: as the library does by default."""

    dp: Flag | None = Field(None, description="gradient reduction and parameter gathering")
    tp: Flag | None = Field(None, description="tensor-parallel collectives")
    pp: Flag | None = Field(None, description="sends between stages")
    cp: Flag | None = Field(None, description="exchange of keys and values")
    ep: Flag | None = Field(None, description="dispatch and combine")


class TrainingPlan(Strict):
    """How the job is laid out over the GPUs."""

    dp: _Degree | None = Field(None, description="data-parallel degree; default: what is left of the GPUs")
    tp: _Degree | None = Field(None, description="tensor-parallel degree")
    pp: _Degree | None = Field(None, description="pipeline stages")
    cp: _Degree | None = Field(None, description="context-parallel degree")
    ep: _Degree | None = Field(None, description="expert-parallel degree; it divides dp × cp × tp")
    expert_tp: _Degree | None = Field(None, description="tensor-parallel degree inside an expert")
    zero: Literal[0, 1, 2, 3] | None = Field(None, description="ZeRO stage; 3 is what FSDP does")
    shard_group: _Degree | None = Field(
        None, description="GPUs over which states are sharded (HSDP); default: all of dp"
    )
    schedule: Literal["gpipe", "1f1b", "interleaved", "zero-bubble", "dualpipe"] | None = Field(
        None, description="pipeline schedule"
    )
    virtual_stages: Int | None = Field(
        None, ge=1, le=1024, description="model chunks of one stage (interleaved)"
    )
    recompute: Literal["none", "selective", "full"] | None = Field(
        None, description="activations computed again"
    )
    recompute_layers: Int | None = Field(
        None, ge=0, le=10_000, description="layers of a stage that recompute; default: all"
    )
    sequence_parallel: Flag | None = Field(
        None, description="activations between tensor-parallel parts are split"
    )
    framework: Literal["megatron", "megatron-2022", "deepspeed-2021", "fsdp"] | None = Field(
        None,
        description="habits of the training library: what it keeps in memory, and whether attention is fused",
    )
    precision: Precision = Field(Precision(), description="number formats by part")
    optimizer: Optimizer = Field(Optimizer(), description="the optimizer")
    offload: Offload = Field(Offload(), description="what lives in the server's memory")
    overlap: Overlap = Field(Overlap(), description="which communication runs beside compute")


class Placement(Strict):
    """Where the groups of the plan stand."""

    order: tuple[Axis, ...] | None = Field(
        None,
        min_length=1,
        max_length=5,
        description="axes, fastest-changing rank first, such as [tp, cp, ep, dp, pp]",
    )
    within: dict[Axis, Literal["server", "scale-up", "rack", "unit", "rail", "cluster"]] = Field(
        {}, description="the largest place that one group of an axis may span"
    )


class MeasuredTraining(Strict):
    """What was measured on a real run, to compare with."""

    step_time: Time | None = Field(None, description="time of one step, such as 12.4 s")
    tokens_per_s: Float | None = Field(None, gt=0, le=10**15, description="tokens per second of the job")
    tokens_per_s_per_gpu: Float | None = Field(None, gt=0, le=10**12, description="tokens per second and GPU")
    mfu: Float | None = Field(None, gt=0, le=1, description="model FLOPs utilisation, 0 to 1")
    memory: Bytes | None = Field(None, description="peak memory of the fullest GPU, such as 71 GiB")
    source: Text | None = Field(None, description="where it was published or measured")


class JobSpec(Strict):
    """A training job as the user describes it."""

    name: Name = Field("job", description="name of the job")
    model: PartId | ModelShape = Field(
        description="id of a catalogue model, path of a Hugging Face config (*.json), or a shape"
    )
    gpus: _Degree | None = Field(None, description="GPUs used; default: every GPU of the cluster")
    global_batch: Int = Field(
        ge=1, le=100_000_000, description="sequences of one step, all replicas together"
    )
    micro_batch: Int | None = Field(
        None, ge=1, le=1_000_000, description="sequences of one replica computed at once"
    )
    sequence_length: Int = Field(ge=1, le=100_000_000, description="tokens of one sequence")
    tokens: Tokens | None = Field(None, description="tokens of the whole training, such as 15e12")
    plan: TrainingPlan = Field(TrainingPlan(), description="how the job is laid out over the GPUs")
    placement: Placement = Field(Placement(), description="where the groups of the plan stand")
    library: Library | None = Field(None, description="communication library; default: the cluster's")
    price_per_gpu_hour: Float | None = Field(
        None, ge=0, le=1_000_000, description="US dollars for one GPU and hour"
    )
    measured: MeasuredTraining | None = Field(None, description="what a real run showed")
    notes: tuple[Text, ...] = Field((), max_length=100, description="free text that is carried along")
