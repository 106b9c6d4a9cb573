"""Measurements of training → what the closed form predicts for them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gpufabric.catalog.calibrations.load_training import load_network_constants
from gpufabric.catalog.measurements.training_facts import SourceFacts, source_facts
from gpufabric.errors import GpufabricError, InputError
from gpufabric.jobs.measured_hardware import MeasuredHardware, measured_hardware
from gpufabric.jobs.measured_plan import MeasuredPlan, measured_plan
from gpufabric.records.demand import DemandTable
from gpufabric.records.measured_collective import LeftOut
from gpufabric.records.measured_step import MeasuredStep
from gpufabric.records.training_constants import ComputeConstants
from gpufabric.training.demands import plan_demands
from gpufabric.training.flops import training_flops_per_token
from gpufabric.training.network_times import time_demands
from gpufabric.training.operations import OperationTable, list_operations
from gpufabric.training.roofline import time_operations
from gpufabric.training.step_time import assemble_step
from gpufabric.units import teraflops


@dataclass(frozen=True, slots=True)
class PreparedStep:
    """A measurement with all of its prediction that does not depend on what GPUs reach.

    ``step_s`` is the measured time of a step, where a rate was measured turned into one; ``quantity`` what was measured, and
    ``per_step`` that quantity × the time of a step (1 for the time itself).
    """

    row: MeasuredStep
    hardware: MeasuredHardware
    plan: MeasuredPlan
    step_s: float
    quantity: str
    per_step: float
    operations: OperationTable
    demands: DemandTable
    times: NDArray[np.float64]

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What the row does not say and was taken."""
        return self.hardware.assumptions + self.plan.assumptions


def prepare_steps(rows: Iterable[MeasuredStep]) -> tuple[list[PreparedStep], list[LeftOut]]:
    """Prepare the rows that can be predicted; the others with the reason."""
    prepared: list[PreparedStep] = []
    left_out: list[LeftOut] = []
    for row in rows:
        try:
            prepared.append(_prepare(row))
        except GpufabricError as error:
            left_out.append(LeftOut(row.id, row.source, row.line, str(error)))
    return prepared, left_out


def _prepare(row: MeasuredStep) -> PreparedStep:
    facts = source_facts(row.source) or SourceFacts()
    hardware = measured_hardware(row, facts)
    cluster = hardware.hardware
    plan = measured_plan(row, facts, cluster.memory_bytes)
    quantity, per_step, measured = _measured(row, plan)
    demands = plan_demands(plan.model, plan.plan, plan.formats, plan.sequence, cluster)
    network = load_network_constants(cluster.gpu, hardware.network, hardware.nic)
    operations = list_operations(plan.model, plan.plan, plan.sequence, plan.practice.flash_attention)
    return PreparedStep(
        row,
        hardware,
        plan,
        measured if quantity == "step_time_s" else per_step / measured,
        quantity,
        per_step,
        operations,
        demands,
        time_demands(demands, cluster, network),
    )


def _measured(row: MeasuredStep, plan: MeasuredPlan) -> tuple[str, float, float]:
    table = plan.plan
    tokens = float((table.dp * table.micro_batch * table.micro_batches)[0]) * row.sequence / row.gpus
    if row.step_time_s:
        return "step_time_s", 1.0, row.step_time_s
    if row.tokens_per_s_per_gpu:
        return "tokens_per_s_per_gpu", tokens, row.tokens_per_s_per_gpu
    if not row.flops_per_s_per_gpu:
        raise InputError("neither a time nor a rate was published")
    convention = "hardware" if "includes" in row.convention else "model"
    flops = training_flops_per_token(plan.model, row.sequence, convention)
    return "model_TFLOPs_per_gpu", teraflops(flops * tokens), teraflops(row.flops_per_s_per_gpu)


def predict_step(step: PreparedStep, constants: ComputeConstants) -> float:
    """Return the time of the step, seconds, with what GPUs of the class reach under the library."""
    plan, hardware = step.plan, step.hardware.hardware
    compute = time_operations(step.operations, plan.formats, hardware, constants)
    found = assemble_step(
        plan.model,
        plan.plan,
        plan.formats,
        hardware,
        constants,
        (compute, step.demands, step.times),
        plan.practice,
    )
    return float(found.step_time_s[0])
