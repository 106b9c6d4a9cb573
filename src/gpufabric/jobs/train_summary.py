"""A priced step, its memory and the job → the result that people and programs see."""

from __future__ import annotations

from dataclasses import dataclass

from gpufabric.catalog.calibrations.load_training import load_training_calibration
from gpufabric.jobs.train_network import PricedDemands
from gpufabric.jobs.train_plan import JobPlan
from gpufabric.records.job_spec import JobSpec
from gpufabric.records.plan_table import PipelineSchedule
from gpufabric.records.step_table import StepTable
from gpufabric.records.train_result import Gain, MeasuredBeside, TrainResult
from gpufabric.records.training_hardware import TrainingHardware
from gpufabric.records.transformer import Transformer
from gpufabric.training.feasible import degrees_of, plan_text
from gpufabric.training.flops import CONVENTIONS, training_flops_per_token
from gpufabric.training.memory import MemoryParts
from gpufabric.training.parameters import count_parameters
from gpufabric.training.roofline import peak_flops

CONVENTION = "model-full"
_HOUR_S, _DAY_S = 3600.0, 86400.0
_MEMORY_PARTS = (
    "weights",
    "gradients",
    "optimizer",
    "activations",
    "logits",
    "buffers",
    "context",
    "fragmentation",
)
_COMPUTE = ("forward", "backward", "recompute")
_BOUNDS = {
    "compute": "compute: matrix products, attention, and what moves through memory beside them",
    "bubble": "the pipeline's bubble: stages wait while it fills and drains",
    "tensor": "tensor-parallel communication that nothing hides",
    "context": "context-parallel communication that nothing hides",
    "expert": "the exchange of tokens between experts",
    "pipeline": "sends between pipeline stages",
    "gradients": "the reduction of gradients that backward does not hide",
    "parameters": "the gathering of parameters that forward does not hide",
    "optimizer": "the optimizer's update",
}
_ASSUMPTIONS = (
    "experts get equally many tokens; input arrives in time; no checkpoints, failures or evaluations in the days",
    "groups of different demands do not meet on a link at the same time",
)


@dataclass(frozen=True, slots=True)
class Trained:
    """Everything that is known of a job on a cluster."""

    job: JobSpec
    model: Transformer
    plan: JobPlan
    hardware: TrainingHardware
    memory: MemoryParts
    step: StepTable
    priced: PricedDemands
    gains: tuple[Gain, ...]
    timeline_step_s: float | None
    method: str
    assumptions: tuple[str, ...]


def summarise(trained: Trained, price_per_gpu_hour: float | None = None) -> TrainResult:
    """Return the result; *price_per_gpu_hour* stands before the one of the job."""
    job, model, plan, step = trained.job, trained.model, trained.plan, trained.step
    gpus = int(plan.plans.gpus[0])
    time_s = float(step.step_time_s[0])
    tokens = job.global_batch * job.sequence_length
    rate = tokens / time_s
    per_token = {name: training_flops_per_token(model, job.sequence_length, name) for name in CONVENTIONS}
    peak = peak_flops(trained.hardware, plan.formats.matmul)
    reached = {name: rate * flops / gpus for name, flops in per_token.items()}
    calibration = load_training_calibration()
    parts = {name: float(getattr(trained.memory, name)[0]) for name in _MEMORY_PARTS}
    breakdown = {name: float(value[0]) for name, value in step.breakdown_s.items()}
    counted = count_parameters(model)
    whole_s = job.tokens / rate if job.tokens else None
    hours = whole_s / _HOUR_S * gpus if whole_s is not None else None
    price = job.price_per_gpu_hour if price_per_gpu_hour is None else price_per_gpu_hour
    power = trained.hardware.power_w
    return TrainResult(
        name=job.name,
        model=model.name,
        plan=described_plan(plan),
        gpu=trained.hardware.gpu,
        gpus=gpus,
        step_time_s=time_s,
        step_time_low_s=time_s * calibration.range_low,
        step_time_high_s=time_s * calibration.range_high,
        tokens_per_step=tokens,
        tokens_per_s=rate,
        tokens_per_s_per_gpu=rate / gpus,
        flops_per_s_per_gpu=reached[CONVENTION],
        peak_flops_per_s=peak,
        mfu=reached[CONVENTION] / peak,
        mfu_causal=reached["model"] / peak,
        flops_convention=CONVENTIONS[CONVENTION],
        parameters=float(counted.total),
        active_parameters=float(counted.active),
        memory_bytes_per_gpu=sum(parts.values()),
        memory_available_bytes=trained.hardware.memory_bytes,
        memory_parts_bytes=parts,
        fullest_stage=int(trained.memory.stage[0]),
        breakdown_s=breakdown,
        hidden_s=float(step.hidden_s[0]),
        timeline_step_s=trained.timeline_step_s,
        tokens=job.tokens,
        days=whole_s / _DAY_S if whole_s is not None else None,
        gpu_hours=hours,
        energy_j=whole_s * power * gpus if whole_s is not None and power > 0 else None,
        cost_usd=hours * price if hours is not None and price is not None else None,
        bound=_bound(breakdown),
        gains=trained.gains,
        network=trained.priced.rows,
        measured=_measured(trained, time_s, rate, gpus, reached[CONVENTION] / peak),
        method=f"{trained.method}; {calibration.name}",
        assumptions=(*trained.assumptions, *_ASSUMPTIONS),
    )


def described_plan(plan: JobPlan) -> str:
    """Return the plan in one line, schedule, batch and formats included."""
    degrees = degrees_of(plan.plans, 0)
    schedule = PipelineSchedule.NAMES[degrees["schedule"]] if degrees["pp"] > 1 else "no pipeline"
    return f"{plan_text(degrees)}, {schedule}, {degrees['micro_batches']} micro-batches, {plan.formats.matmul} matrix products"


def _bound(breakdown: dict[str, float]) -> str:
    whole = sum(breakdown.values())
    shares = {name: value for name, value in breakdown.items() if name not in _COMPUTE}
    shares["compute"] = sum(breakdown[name] for name in _COMPUTE)
    name = max(shares, key=lambda one: shares[one])
    return f"{_BOUNDS[name]} ({shares[name] / whole:.0%} of the step)"


def _measured(
    trained: Trained, time_s: float, rate: float, gpus: int, mfu: float
) -> tuple[MeasuredBeside, ...]:
    said = trained.job.measured
    if said is None:
        return ()
    source = said.source or "the job description"
    memory = float((trained.memory.allocated + trained.memory.context)[0])
    pairs = (
        ("step_time_s", said.step_time, time_s),
        ("tokens_per_s", said.tokens_per_s, rate),
        ("tokens_per_s_per_gpu", said.tokens_per_s_per_gpu, rate / gpus),
        ("mfu", said.mfu, mfu),
        ("memory_bytes_per_gpu", said.memory, memory),
    )
    return tuple(
        MeasuredBeside(name, float(measured), predicted, source)
        for name, measured, predicted in pairs
        if measured is not None
    )
