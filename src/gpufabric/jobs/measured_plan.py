"""A row of measurements of training → model, plan and number formats; what the row does not say is taken and said."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from gpufabric.catalog.load_model import load_model
from gpufabric.catalog.measurements.training_facts import SourceFacts, model_id_of
from gpufabric.errors import InputError, printable
from gpufabric.records.measured_step import MeasuredStep
from gpufabric.records.number_formats import NumberFormats
from gpufabric.records.plan_table import PipelineSchedule, PlanTable, Recompute
from gpufabric.records.transformer import Attention, Block, BlockRun, FeedForward, Transformer
from gpufabric.training.memory import memory_per_gpu
from gpufabric.training.memory_practice import FSDP, MEGATRON, MEGATRON_2022, MemoryPractice
from gpufabric.training.stages import stage_layers

PRACTICES = {"megatron": MEGATRON, "megatron-2022": MEGATRON_2022, "fsdp": FSDP}
_SHAPE = ("layers", "hidden", "heads", "ffn", "vocab")
_RECOMPUTE = {"none": Recompute.NONE, "selective": Recompute.SELECTIVE, "full": Recompute.FULL}
_MOST_DEGREE = 10**7


@dataclass(frozen=True, slots=True)
class MeasuredPlan:
    """What a row ran: ``plan`` is a table of one row."""

    model: Transformer
    plan: PlanTable
    formats: NumberFormats
    practice: MemoryPractice
    library: str
    sequence: int
    assumptions: tuple[str, ...]


def measured_plan(row: MeasuredStep, facts: SourceFacts, memory_bytes: float) -> MeasuredPlan:
    """Return model, plan and formats of a row.

    Parameters
    ----------
    row, facts
    memory_bytes
        Of one GPU: where the row says nothing of recomputation, the least that fits is taken.

    Raises
    ------
    InputError
        If the row says too little, or contradicts itself.
    """
    assumed: list[str] = []
    model = measured_model(row, assumed)
    if model.prediction_blocks and not facts.prediction:
        model = replace(model, prediction_blocks=())
    practice = PRACTICES[facts.practice]
    if not row.gpus or not row.sequence:
        raise InputError("GPUs or tokens of a sequence were not published")
    columns = _columns(row, facts, model, assumed)
    formats = number_formats(row, facts)
    plan = PlanTable(**{name: np.array([value]) for name, value in columns.items()})  # type: ignore[arg-type]
    if row.recompute in {"", "blank"}:
        plan = _least_recompute(model, plan, formats, practice, (row.sequence, memory_bytes), assumed)
    eager = bool(facts.eager) and re.fullmatch(facts.eager, row.notes) is not None
    library = "pytorch-eager" if eager else facts.library
    return MeasuredPlan(model, plan, formats, practice, library, row.sequence, tuple(assumed))


def measured_model(row: MeasuredStep, assumed: list[str]) -> Transformer:
    """Return the model of a row: of the catalogue by its name, else dense by the shape that the row has."""
    known = model_id_of(row.model)
    if known:
        model = load_model(known)
        layers = int(row.shape.get("layers", model.layers))
        return _cut(model, layers, assumed) if "cut" in row.model and layers < model.layers else model
    missing = [name for name in _SHAPE if name not in row.shape]
    if missing or row.experts:
        raise InputError(
            f'the shape of "{printable(row.model, 40)}" was not published, nor is it in the catalogue'
        )
    layers, hidden, heads, width, vocabulary = (int(row.shape[name]) for name in _SHAPE)
    gated = Fraction(width, hidden) != Fraction(4)
    kv_heads = int(row.shape.get("kv_heads", heads))
    head = hidden // heads
    block = Block(Attention(heads, kv_heads, head, head), FeedForward(width, gated=gated))
    assumed.append(f"feed-forward {'gated' if gated else 'not gated'}, embeddings not tied")
    return Transformer(row.model, hidden, vocabulary, (BlockRun(block, layers),))


def _cut(model: Transformer, layers: int, assumed: list[str]) -> Transformer:
    """Keep so many layers; of dense layers before experts one, as the published memory of such runs shows."""
    runs = list(model.runs)
    if len(runs) > 1 and runs[-1].block.experts is not None:
        assumed.append("cut to one dense layer and the rest with experts")
        runs = [replace(runs[0], count=1), replace(runs[-1], count=layers - 1)]
    else:
        runs = [replace(runs[0], count=layers)]
    return replace(model, runs=tuple(runs), prediction_blocks=())


def number_formats(row: MeasuredStep, facts: SourceFacts) -> NumberFormats:
    """Return the formats of a row's precision.

    Raises
    ------
    InputError
        If it was not published or is not known.
    """
    text = row.precision.lower()
    gradients = "bf16" if facts.practice == "fsdp" else "fp32"
    formats = NumberFormats(gradients=gradients, reduction=facts.reduction)
    for pattern, matmul in (
        ("nvfp4|fp4", "nvfp4"),
        ("mxfp8|fp8-mx", "mxfp8"),
        ("fp8|float8", "fp8"),
        ("fp16", "fp16"),
        ("bf16", "bf16"),
    ):
        if re.search(pattern, text):
            wide = "fp16" if matmul == "fp16" else "bf16"
            return replace(formats, matmul=matmul, attention=wide, weights=wide)
    raise InputError(
        "the precision was not published" if not text else f'precision "{row.precision}" is not known'
    )


def _columns(
    row: MeasuredStep, facts: SourceFacts, model: Transformer, assumed: list[str]
) -> dict[str, int | float | bool]:
    degrees = dict(row.degrees)
    if row.sharding and not {"tp", "pp"} <= set(degrees):
        assumed.append("degrees that are blank beside full sharding are 1")
        degrees = {"tp": 1, "pp": 1, **degrees}
    if "tp" not in degrees or "pp" not in degrees:
        raise InputError("the plan was not published (tensor or pipeline degree)")
    tp, pp, cp, ep = (degrees.get(axis, 1) for axis in ("tp", "pp", "cp", "ep"))
    # A bound that keeps products of a stranger's degrees whole numbers of 64 bits.
    if max(tp, pp, cp, ep, row.gpus) > _MOST_DEGREE or row.gpus % (tp * pp * cp):
        raise InputError(f"{row.gpus} GPUs are no multiple of TP {tp} × PP {pp} × CP {cp}")
    dp = row.gpus // (tp * pp * cp)
    if (dp * cp * tp) % ep:
        raise InputError(f"EP {ep} does not divide DP {dp} × CP {cp} × TP {tp}")
    micro_batch, micro_batches = _batches(row, dp, pp, assumed)
    zero = _zero(row, facts, assumed)
    virtual = _virtual(row, facts, model, pp, assumed)
    told = row.sequence_parallel.lower()
    split = tp > 1 and (told == "on" or (told != "off" and facts.sequence_parallel))
    if tp > 1 and not told:
        assumed.append(f"sequence parallelism {'on' if split else 'off'}")
    selective = row.recompute.startswith("selective")
    recompute = Recompute.SELECTIVE if selective else _RECOMPUTE.get(row.recompute, Recompute.NONE)
    tensor = bool(re.search(r"async ?tp", row.notes.lower())) or facts.overlap_tensor
    return {
        "dp": dp,
        "tp": tp,
        "pp": pp,
        "cp": cp,
        "ep": ep,
        "expert_tp": 1,
        "micro_batch": micro_batch,
        "micro_batches": micro_batches,
        "virtual_stages": virtual,
        "zero": zero,
        "shard": dp * cp,
        "schedule": PipelineSchedule.INTERLEAVED if virtual > 1 else PipelineSchedule.ONE_F_ONE_B,
        "recompute": recompute,
        "recompute_layers": -1,
        "sequence_parallel": split,
        "overlap_dp": facts.overlap,
        "overlap_tp": tensor and facts.overlap,
        "overlap_pp": virtual > 1 and facts.overlap,
        "overlap_cp": True,
        "overlap_ep": False,
        "offload_weights": 0.0,
        "offload_optimizer": 0.0,
        "offload_activations": 0.0,
    }


def _batches(row: MeasuredStep, dp: int, pp: int, assumed: list[str]) -> tuple[int, int]:
    micro, whole = row.micro_batch, row.global_batch
    if row.micro_batches and micro:
        return micro, row.micro_batches
    if not micro and not whole:
        raise InputError("neither the batch nor the micro-batch was published")
    if not micro:
        micro = 1
        assumed.append("micro-batch of 1")
    if not whole:
        whole = micro * dp
        assumed.append("one micro-batch a replica")
    if whole % (dp * micro):
        raise InputError(f"a batch of {whole} is no multiple of DP {dp} × micro-batch {micro}")
    count = whole // (dp * micro)
    if count == 1 and pp > 1 and micro % pp == 0:
        # torchtitan splits the batch of a replica into as many micro-batches as there are stages.
        assumed.append(f"the batch of a replica is split into {pp} micro-batches")
        return micro // pp, pp
    return micro, count


def _zero(row: MeasuredStep, facts: SourceFacts, assumed: list[str]) -> int:
    text = row.sharding.lower()
    if "grad_op" in text:
        return 2
    if "fsdp" in text or "zero-3" in text:
        return 3
    stage = 0 if facts.practice == "megatron-2022" else 1
    assumed.append(f"ZeRO {stage}, as the library does by itself")
    return stage


def _virtual(row: MeasuredStep, facts: SourceFacts, model: Transformer, pp: int, assumed: list[str]) -> int:
    if pp == 1:
        return 1
    told = row.degrees.get("virtual", 0)
    if told:
        return told
    each = model.layers // pp
    if facts.interleaved or "interleaved 1f1b" in row.notes.lower():
        number = next((part for part in range(2, each + 1) if each % part == 0), 1)
        assumed.append(f"{number} model chunks a stage")
        return number
    return 1


def _least_recompute(
    model: Transformer,
    plan: PlanTable,
    formats: NumberFormats,
    practice: MemoryPractice,
    room: tuple[int, float],
    assumed: list[str],
) -> PlanTable:
    sequence, memory_bytes = room
    most = int(stage_layers(model, plan)[0])
    tried = plan.take(np.zeros(most + 1, np.int64))
    repeated = np.arange(most + 1)
    tried = replace(
        tried,
        recompute=np.where(repeated > 0, Recompute.FULL, Recompute.NONE),
        recompute_layers=np.maximum(repeated, 1),
    )
    fits = memory_per_gpu(model, sequence, tried, formats, practice).total <= memory_bytes
    chosen = int(fits.argmax()) if fits.any() else most
    assumed.append(
        f"recomputation was not published: {chosen} of {most} layers, the fewest that fit in memory"
    )
    return tried.take(np.array([chosen]))
