"""A job description and its model → the plan as a table of one row, number formats, habits of the library, and assumptions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gpufabric.errors import InputError
from gpufabric.records.job_spec import JobSpec, Precision, TrainingPlan
from gpufabric.records.number_formats import NumberFormats
from gpufabric.records.plan_table import PipelineSchedule, PlanTable, Recompute
from gpufabric.records.transformer import Transformer
from gpufabric.training.memory_practice import (
    DEEPSPEED_2021,
    FSDP,
    MEGATRON,
    MEGATRON_2022,
    USUAL,
    MemoryPractice,
)
from gpufabric.units import counted

PRACTICES = {
    "megatron": MEGATRON,
    "megatron-2022": MEGATRON_2022,
    "deepspeed-2021": DEEPSPEED_2021,
    "fsdp": FSDP,
}
"""What ``plan.framework`` of a job names."""
_ORDER = ("tp", "cp", "ep", "dp", "pp")
_SHARDED = 3


@dataclass(frozen=True, slots=True)
class JobPlan:
    """What a job runs: ``plans`` has one row."""

    plans: PlanTable
    formats: NumberFormats
    practice: MemoryPractice
    assumptions: tuple[str, ...]


def job_plan(job: JobSpec, model: Transformer, gpus: int) -> JobPlan:
    """Return the plan of a job; what it does not say is filled in and said.

    Parameters
    ----------
    job, model
    gpus : int
        GPUs of the cluster: the job's, where it does not say.

    Raises
    ------
    InputError
        If the degrees do not divide the GPUs, or the batch.
    """
    told = job.plan
    assumed: list[str] = []
    wanted = job.gpus or gpus
    if wanted > gpus:
        raise InputError(
            f"gpus: {wanted:,} are more than the cluster has; allowed is 1 to {gpus:,}; describe more servers or lower gpus"
        )
    tp, pp, cp = told.tp or 1, told.pp or 1, told.cp or 1
    dp = _replicas(told, wanted, tp * pp * cp)
    micro_batch = job.micro_batch or 1
    micro_batches, rest = divmod(job.global_batch, dp * micro_batch)
    if rest or not micro_batches:
        near = max(1, job.global_batch // (dp * micro_batch)) * dp * micro_batch
        raise InputError(
            f"global_batch: {job.global_batch:,} sequences are no multiple of dp {dp:,} × micro_batch {micro_batch}; allowed is "
            f"such as {near:,}; change global_batch, micro_batch or dp"
        )
    schedule = _schedule(told, pp, micro_batches, assumed)
    dual = schedule == PipelineSchedule.DUALPIPE
    zero = 1 if told.zero is None else told.zero
    columns: dict[str, Any] = {
        "dp": dp,
        "tp": tp,
        "pp": pp,
        "cp": cp,
        "ep": told.ep or 1,
        "expert_tp": told.expert_tp or 1,
        "micro_batch": micro_batch,
        "micro_batches": micro_batches,
        "virtual_stages": told.virtual_stages or 1,
        "zero": zero,
        "shard": told.shard_group or dp * cp,
        "schedule": schedule,
        "recompute": Recompute.NAMES.index(told.recompute or "none"),
        "recompute_layers": -1 if told.recompute_layers is None else told.recompute_layers,
        "sequence_parallel": tp > 1 if told.sequence_parallel is None else told.sequence_parallel,
        "overlap_dp": _said(told.overlap.dp, True),
        "overlap_tp": _said(told.overlap.tp, False),
        "overlap_pp": _said(told.overlap.pp, (told.virtual_stages or 1) > 1 or dual),
        "overlap_cp": _said(told.overlap.cp, True),
        "overlap_ep": _said(told.overlap.ep, dual),
        "offload_weights": told.offload.weights,
        "offload_optimizer": told.offload.optimizer,
        "offload_activations": told.offload.activations,
    }
    assumed += _left_open(job, model, columns)
    order = job.placement.order or _ORDER
    plans = PlanTable(
        **{name: np.array([value]) for name, value in columns.items()},
        order=(*order, *(axis for axis in _ORDER if axis not in order)),
    )
    sharded = zero == _SHARDED
    practice = PRACTICES[told.framework] if told.framework else FSDP if sharded else USUAL
    return JobPlan(plans, number_formats(told, sharded), practice, tuple(assumed))


def _said(value: bool | None, default: bool) -> bool:
    return default if value is None else value


def _replicas(told: TrainingPlan, gpus: int, over: int) -> int:
    dp, rest = (told.dp, gpus - (told.dp or 0) * over) if told.dp else divmod(gpus, over)
    if rest or not dp:
        raise InputError(
            f"plan: tp {told.tp or 1} × pp {told.pp or 1} × cp {told.cp or 1}{f' × dp {told.dp}' if told.dp else ''} does not "
            f"divide into {counted(gpus, 'GPU')}; allowed are degrees whose product is that; change gpus to "
            f"{max(1, gpus // over) * over:,} or the degrees"
        )
    return int(dp)


def _schedule(told: TrainingPlan, pp: int, micro_batches: int, assumed: list[str]) -> int:
    if told.schedule is not None:
        return PipelineSchedule.NAMES.index(told.schedule)
    if (told.virtual_stages or 1) > 1:
        return PipelineSchedule.INTERLEAVED
    if pp > 1:
        assumed.append(
            f"schedule 1f1b, with {counted(micro_batches, 'micro-batch', 'micro-batches')} a replica and step"
        )
    return PipelineSchedule.ONE_F_ONE_B


def _left_open(job: JobSpec, model: Transformer, columns: dict[str, Any]) -> list[str]:
    """Return a line about what the description leaves open, if it leaves anything."""
    told = job.plan
    names = [name for name in ("tp", "pp", "cp") if getattr(told, name) is None]
    if any(run.block.experts for run in model.runs) and told.ep is None:
        names.append("ep")
    open_ones = [f"{name} {columns[name]}" for name in names]
    if job.micro_batch is None:
        open_ones.append("micro_batch 1")
    if told.zero is None:
        open_ones.append("zero 1 (optimizer states sharded over the replicas)")
    if told.recompute is None:
        open_ones.append("recompute none")
    if told.framework is None:
        open_ones.append(
            "memory as Megatron-LM's with fused loss" if told.zero != _SHARDED else "memory as PyTorch FSDP's"
        )
    return [f"the job leaves open: {', '.join(open_ones)}"] if open_ones else []


def number_formats(told: TrainingPlan, sharded: bool) -> NumberFormats:
    """Return the formats of a plan; what is open follows from the format of the matrix products, as libraries have it.

    Parameters
    ----------
    told
    sharded
        Weights are sharded (ZeRO-3, FSDP): gradients are then kept in 16 bits.
    """
    precision: Precision = told.precision
    matmul = precision.matmul or "bf16"
    wide = "fp16" if matmul == "fp16" else "bf16"
    usual = NumberFormats()
    return NumberFormats(
        matmul=matmul,
        attention=precision.attention or (matmul if matmul in ("fp32", "tf32") else wide),
        weights=precision.weights or wide,
        master_weights=precision.master_weights or usual.master_weights,
        gradients=precision.gradients or (wide if sharded else usual.gradients),
        reduction=precision.reduction or usual.reduction,
        states=told.optimizer.states or usual.states,
        dispatch=precision.dispatch or wide,
        combine=precision.combine or wide,
        optimizer=told.optimizer.name,
    )
