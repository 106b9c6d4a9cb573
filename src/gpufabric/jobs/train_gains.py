"""A priced step → what 10 % more of each resource would give."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from gpufabric.jobs.train_network import PricedDemands
from gpufabric.jobs.train_plan import JobPlan
from gpufabric.records.demand import DemandTable
from gpufabric.records.plan_table import PlanTable, Recompute
from gpufabric.records.step_table import StepTable
from gpufabric.records.train_result import Gain
from gpufabric.records.training_constants import TrainingConstants
from gpufabric.records.training_hardware import TrainingHardware
from gpufabric.records.transformer import Transformer
from gpufabric.training.feasible import fits
from gpufabric.training.memory import memory_per_gpu
from gpufabric.training.operations import OperationTable
from gpufabric.training.roofline import ComputeTimes, time_operations
from gpufabric.training.step_time import assemble_step, step_time

MORE = 1.1


@dataclass(frozen=True, slots=True)
class StepInputs:
    """What a step is made of: model, plan, hardware, and what follows from them before the network is asked."""

    model: Transformer
    plan: JobPlan
    hardware: TrainingHardware
    constants: TrainingConstants
    sequence: int
    operations: OperationTable
    compute: ComputeTimes
    demands: DemandTable


def step_of(inputs: StepInputs, priced: PricedDemands) -> StepTable:
    """Return the step with the times of its demands as priced on the fabric."""
    return _assembled(inputs, inputs.hardware, inputs.compute, priced.time_s)


def _assembled(
    inputs: StepInputs, hardware: TrainingHardware, compute: ComputeTimes, time_s: NDArray[np.float64]
) -> StepTable:
    plan = inputs.plan
    return assemble_step(
        inputs.model,
        plan.plans,
        plan.formats,
        hardware,
        inputs.constants.compute,
        (compute, inputs.demands, time_s),
        plan.practice,
    )


def what_more_gives(inputs: StepInputs, priced: PricedDemands) -> tuple[Gain, ...]:
    """Return how much shorter the step were with 10 % more of each resource, most first.

    Faster NICs and links inside servers shorten what of a demand depends on its bytes; more memory gives nothing to a plan that
    fits, so for it the faster neighbours of the plan are looked at: less recomputation, a larger micro-batch.
    """
    now = float(step_of(inputs, priced).step_time_s[0])
    hardware = inputs.hardware
    faster = replace(hardware, flops={name: rate * MORE for name, rate in hardware.flops.items()})
    wider = replace(hardware, memory_bytes_per_s=hardware.memory_bytes_per_s * MORE)
    sooner = priced.wire_s * (1.0 - 1.0 / MORE)
    cases = {
        "compute": (faster, priced.time_s),
        "HBM bandwidth": (wider, priced.time_s),
        "NICs and fabric": (hardware, priced.time_s - np.where(priced.between, sooner, 0.0)),
        "scale-up links": (hardware, priced.time_s - np.where(priced.between, 0.0, sooner)),
    }
    gains = []
    for name, (other, times) in cases.items():
        compute = time_operations(inputs.operations, inputs.plan.formats, other, inputs.constants.compute)
        then = float(_assembled(inputs, other, compute, times).step_time_s[0])
        gains.append(Gain(name, max(1.0 - then / now, 0.0)))
    gains.append(_with_memory(inputs))
    return tuple(sorted(gains, key=lambda gain: -gain.shorter))


def _with_memory(inputs: StepInputs) -> Gain:
    """Return the best neighbour of the plan that fits with more memory and not without."""
    plan, hardware = inputs.plan, inputs.hardware
    others = _neighbours(plan.plans)
    if not others:
        return Gain("memory", 0.0, "no neighbour of the plan needs it")
    names = list(others)
    both = [plan.plans, *others.values()]
    times = np.array(
        [
            step_time(
                inputs.model, one, plan.formats, hardware, inputs.constants, inputs.sequence, plan.practice
            ).step_time_s[0]
            for one in both
        ]
    )
    found = Gain("memory", 0.0, "no faster neighbour of the plan needs it")
    for name, one, time in zip(names, both[1:], times[1:], strict=True):
        memory = memory_per_gpu(inputs.model, inputs.sequence, one, plan.formats, plan.practice)
        now, then = (bool(fits(memory, hardware.memory_bytes * more)[0]) for more in (1.0, MORE))
        shorter = 1.0 - float(time / times[0])
        if then and not now and shorter > found.shorter:
            found = Gain("memory", shorter, f"{name} then fits")
    return found


def _neighbours(plans: PlanTable) -> dict[str, PlanTable]:
    others = {}
    for level in range(int(plans.recompute[0])):
        others[f"recompute {Recompute.NAMES[level]}"] = replace(plans, recompute=np.array([level]))
    if plans.micro_batches[0] % 2 == 0 and plans.micro_batches[0] > 1:
        others[f"micro_batch {2 * int(plans.micro_batch[0])}"] = replace(
            plans, micro_batch=plans.micro_batch * 2, micro_batches=plans.micro_batches // 2
        )
    return others
