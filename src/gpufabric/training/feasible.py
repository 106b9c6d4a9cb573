"""Model, batch, cluster and plans → which plans can't be, and why in one line."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gpufabric.records.plan_table import PipelineSchedule, PlanTable
from gpufabric.records.transformer import Attention, ExpertMixture, Transformer
from gpufabric.training.memory import MemoryParts
from gpufabric.units import counted, format_gibibytes

Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class PlanLimits:
    """What a plan must fit; 0 where the model has no such part.

    Attributes
    ----------
    heads, kv_heads, ffn, experts, expert_ffn
        Greatest common divisors over the layers, for a degree must divide that of each.
    layers, sequence, global_batch, gpus
    """

    heads: int
    kv_heads: int
    ffn: int
    experts: int
    expert_ffn: int
    layers: int
    sequence: int
    global_batch: int
    gpus: int


@dataclass(frozen=True, slots=True)
class _Rule:
    broken: Callable[[PlanLimits, PlanTable], Mask]
    says: Callable[[PlanLimits, dict[str, int]], str]


def plan_limits(model: Transformer, sequence: int, global_batch: int, gpus: int) -> PlanLimits:
    """Return what the model, the batch and the cluster allow."""
    blocks = [run.block for run in model.runs]
    attention = [block.mixer for block in blocks if isinstance(block.mixer, Attention)]
    experts = [block.experts for block in blocks if isinstance(block.experts, ExpertMixture)]
    return PlanLimits(
        heads=_common([part.heads for part in attention]),
        kv_heads=_common([part.kv_heads for part in attention]),
        ffn=_common([block.dense.width for block in blocks if block.dense]),
        experts=_common([part.count for part in experts]),
        expert_ffn=_common([part.width for part in experts]),
        layers=model.layers,
        sequence=sequence,
        global_batch=global_batch,
        gpus=gpus,
    )


def possible_plans(limits: PlanLimits, plans: PlanTable) -> Mask:
    """Return which plans divide heads, layers, experts, tokens and batch as they must; bool, shape (P,)."""
    possible = np.ones(len(plans), dtype=np.bool_)
    for rule in _RULES:
        possible &= ~rule.broken(limits, plans)
    return possible


def why_impossible(limits: PlanLimits, plans: PlanTable, row: int) -> str:
    """Return why the plan in *row* can't be, as *what is wrong (found); what is allowed; what to do*; empty if it can."""
    plan = plans.take(np.array([row]))
    for rule in _RULES:
        if rule.broken(limits, plan)[0]:
            return rule.says(limits, degrees_of(plan, 0))
    return ""


def why_too_large(memory: MemoryParts, plans: PlanTable, row: int, memory_bytes: float) -> str:
    """Return why the plan in *row* does not fit a GPU of *memory_bytes*, naming the largest part; empty if it fits.

    Fragmentation does not count: an allocator that is short of memory returns what it holds in reserve.
    """
    needed = float((memory.allocated + memory.context)[row])
    if needed <= memory_bytes:
        return ""
    parts = ("weights", "gradients", "optimizer", "activations", "logits", "buffers")
    largest = max(parts, key=lambda part: float(getattr(memory, part)[row]))
    help_with = {
        "weights": "raise tp or pp, or shard with zero 3",
        "gradients": "raise tp or pp, or shard with zero 2 or 3",
        "optimizer": "shard with zero 1, or raise dp",
        "activations": "recompute, lower micro_batch, or raise tp or cp",
        "logits": "lower micro_batch, or raise tp or cp",
        "buffers": "lower micro_batch, or raise tp",
    }[largest]
    degrees = degrees_of(plans, row)
    return (
        f"plan: {plan_text(degrees)} needs {format_gibibytes(needed)} on stage {int(memory.stage[row])} (of that {largest} "
        f"{format_gibibytes(float(getattr(memory, largest)[row]))}); a GPU has {format_gibibytes(memory_bytes)}; {help_with}"
    )


def fits(memory: MemoryParts, memory_bytes: float) -> Mask:
    """Return which plans a GPU of *memory_bytes* holds, as :func:`why_too_large` has it; bool, shape (P,)."""
    return np.asarray(memory.allocated + memory.context <= memory_bytes)


def degrees_of(plans: PlanTable, row: int) -> dict[str, int]:
    """Return the whole-number columns of one plan by name."""
    return {
        name: int(getattr(plans, name)[row])
        for name in PlanTable.__slots__
        if name != "order" and getattr(plans, name).dtype.kind in "iub"
    }


def plan_text(degrees: dict[str, int]) -> str:
    """Return a plan in short, such as ``tp 8, pp 16, dp 128, micro_batch 1``."""
    always = ("tp", "pp", "dp", "micro_batch")
    named = ("tp", "pp", "cp", "ep", "expert_tp", "dp", "virtual_stages", "micro_batch")
    text = ", ".join(f"{name} {degrees[name]}" for name in named if name in always or degrees[name] > 1)
    recompute = ("", ", selective recompute", ", full recompute")[degrees["recompute"]]
    return f"{text}, zero {degrees['zero']}{recompute}"


def _common(widths: list[int]) -> int:
    return int(np.gcd.reduce(widths)) if widths else 0


def _near(asked: int, whole: int) -> int:
    """Return the divisor of *whole* nearest to *asked*, the smaller of two."""
    divisors: list[int] = [d for d in range(1, min(whole, 4 * asked) + 1) if whole % d == 0]
    return min(divisors, key=lambda d: (max(d, asked) / min(d, asked), d))


def _not_divided(asked: NDArray[np.int64], whole: int | NDArray[np.int64]) -> Mask:
    return np.asarray(np.remainder(whole, asked) != 0)


def _heads(limits: PlanLimits, plans: PlanTable) -> Mask:
    # Fewer key and value heads than ranks are repeated, each on as many ranks (Megatron-LM, Transformer Engine).
    if not limits.heads:
        return np.zeros(len(plans), dtype=np.bool_)
    shared = _not_divided(plans.tp, limits.kv_heads) & (plans.tp % limits.kv_heads != 0)
    return np.asarray(_not_divided(plans.tp, limits.heads) | shared)


def _expert_ranks(_: PlanLimits, plans: PlanTable) -> Mask:
    return _not_divided(plans.ep * plans.expert_tp, plans.dp * plans.cp * plans.tp)


def _tokens(limits: PlanLimits, plans: PlanTable) -> Mask:
    # Ring attention under a causal mask gives each rank an early and a late part.
    parts = np.where(plans.cp > 1, 2 * plans.cp, 1) * np.where(plans.sequence_parallel, plans.tp, 1)
    return _not_divided(parts, limits.sequence)


def _interleaving(_: PlanLimits, plans: PlanTable) -> Mask:
    interleaved = plans.schedule == PipelineSchedule.INTERLEAVED
    uneven = interleaved & (plans.pp > 1) & (plans.micro_batches % plans.pp != 0)
    return np.asarray((plans.virtual_stages > 1) & ~interleaved | uneven)


def _two_ways(_: PlanLimits, plans: PlanTable) -> Mask:
    dual = (plans.schedule == PipelineSchedule.DUALPIPE) & (plans.pp > 1)
    return np.asarray(dual & ((plans.pp % 2 != 0) | (plans.micro_batches < 2 * plans.pp)))


_RULES = (
    _Rule(
        lambda limits, plans: np.asarray(plans.gpus != limits.gpus),
        lambda limits, plan: (
            f"plan: dp {plan['dp']} × tp {plan['tp']} × pp {plan['pp']} × cp {plan['cp']} is "
            f"{counted(plan['dp'] * plan['tp'] * plan['pp'] * plan['cp'], 'GPU')}; the job has {limits.gpus:,}; the degrees must "
            "multiply to that"
        ),
    ),
    _Rule(
        _heads,
        lambda limits, plan: (
            f"plan: tp {plan['tp']} does not divide {limits.heads} heads with {limits.kv_heads} key and value heads; allowed are "
            f"divisors of both, or multiples of the second; take tp {_near(plan['tp'], limits.heads)}"
        ),
    ),
    _Rule(
        lambda limits, plans: _not_divided(plans.tp, limits.ffn),
        lambda limits, plan: (
            f"plan: tp {plan['tp']} does not divide the feed-forward width {limits.ffn:,}; allowed are its divisors; "
            f"take tp {_near(plan['tp'], limits.ffn)}"
        ),
    ),
    _Rule(
        lambda limits, plans: np.asarray(plans.pp * plans.virtual_stages > limits.layers + 2),
        lambda limits, plan: (
            f"plan: pp {plan['pp']} × virtual_stages {plan['virtual_stages']} is more than the {limits.layers} layers, "
            f"the embedding and the loss; each chunk needs one; take pp "
            f"{_near(plan['pp'], limits.layers)} or fewer virtual stages"
        ),
    ),
    _Rule(
        _interleaving,
        lambda _, plan: (
            f"plan: {plan['virtual_stages']} virtual stages with {plan['micro_batches']} micro-batches on {plan['pp']} stages; "
            "interleaving needs schedule interleaved and micro-batches in multiples of pp; take schedule interleaved and a "
            "multiple, or virtual_stages 1"
        ),
    ),
    _Rule(
        _two_ways,
        lambda _, plan: (
            f"plan: dualpipe on {plan['pp']} stages with {plan['micro_batches']} micro-batches; it needs an even pp and twice "
            f"as many micro-batches as stages; take pp {max(2, plan['pp'] // 2 * 2)} and at least "
            f"{4 * max(1, plan['pp'] // 2)} of them"
        ),
    ),
    _Rule(
        lambda limits, plans: (
            _not_divided(plans.ep, limits.experts) if limits.experts else np.asarray(plans.ep > 1)
        ),
        lambda limits, plan: (
            f"plan: ep {plan['ep']} does not divide {limits.experts} experts; allowed are divisors; "
            f"take ep {_near(plan['ep'], limits.experts) if limits.experts else 1}"
        ),
    ),
    _Rule(
        lambda limits, plans: (
            _not_divided(plans.expert_tp, limits.expert_ffn)
            if limits.experts
            else np.asarray(plans.expert_tp > 1)
        ),
        lambda limits, plan: (
            f"plan: expert_tp {plan['expert_tp']} does not divide the experts' width {limits.expert_ffn:,}; allowed are its "
            f"divisors; take expert_tp {_near(plan['expert_tp'], limits.expert_ffn) if limits.experts else 1}"
        ),
    ),
    _Rule(
        _expert_ranks,
        lambda _, plan: (
            f"plan: ep {plan['ep']} × expert_tp {plan['expert_tp']} does not divide dp × cp × tp = "
            f"{plan['dp'] * plan['cp'] * plan['tp']}; experts are laid over those ranks; "
            f"take ep {_near(plan['ep'], plan['dp'] * plan['cp'] * plan['tp'])} and expert_tp 1"
        ),
    ),
    _Rule(
        _tokens,
        lambda limits, plan: (
            f"plan: {limits.sequence:,} tokens of a sequence do not divide over cp {plan['cp']} (twice that many parts) and tp "
            f"{plan['tp']} with sequence parallelism; the parts must be equal; take cp {_near(plan['cp'], limits.sequence)} or "
            "pad the sequence"
        ),
    ),
    _Rule(
        lambda limits, plans: np.asarray(
            plans.dp * plans.micro_batch * plans.micro_batches != limits.global_batch
        ),
        lambda limits, plan: (
            f"plan: dp {plan['dp']} × micro_batch {plan['micro_batch']} × micro-batches {plan['micro_batches']} "
            f"is not the global batch of {limits.global_batch:,}; it must be; take dp × micro_batch that divides it, such as dp "
            f"{_near(plan['dp'], limits.global_batch)} with micro_batch 1"
        ),
    ),
    _Rule(
        lambda _, plans: _not_divided(np.maximum(plans.shard, 1), plans.dp * plans.cp),
        lambda _, plan: (
            f"plan: shard_group {plan['shard']} does not divide dp × cp = {plan['dp'] * plan['cp']}; every group must be whole; "
            f"take shard_group {_near(plan['shard'], plan['dp'] * plan['cp'])}"
        ),
    ),
)
