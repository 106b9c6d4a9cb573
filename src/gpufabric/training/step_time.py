"""Model, plans and hardware → the time of one training step, part by part; the closed form."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gpufabric.records.demand import DemandTable
from gpufabric.records.number_formats import BYTES_OF_FORMAT, NumberFormats
from gpufabric.records.plan_table import PlanTable
from gpufabric.records.step_table import StepTable
from gpufabric.records.training_constants import ComputeConstants, TrainingConstants
from gpufabric.records.training_hardware import TrainingHardware
from gpufabric.records.transformer import Transformer
from gpufabric.training.demands import plan_demands, stage_parameters
from gpufabric.training.memory_practice import MEGATRON, SELECTIVE_HALF, MemoryPractice
from gpufabric.training.network_times import time_demands
from gpufabric.training.operations import list_operations, weight_bytes_moved
from gpufabric.training.overlap import communication_by_part, hide_communication
from gpufabric.training.pipeline import bubble_share, time_stages
from gpufabric.training.roofline import ComputeTimes, time_operations
from gpufabric.training.stages import repeated_share, stage_layers

Array = NDArray[np.float64]
_LAYER_PARTS = ("tensor", "context", "expert")


def step_time(
    model: Transformer,
    plans: PlanTable,
    formats: NumberFormats,
    hardware: TrainingHardware,
    constants: TrainingConstants,
    sequence: int,
    practice: MemoryPractice = MEGATRON,
) -> StepTable:
    """Estimate the step of every plan by the closed form.

    Parameters
    ----------
    model
    plans : P rows
        Valid ones; see the feasibility checks.
    formats
    hardware
    constants
        Of its class of GPUs and of networks.
    sequence
        Tokens of one sequence.
    practice
        Of the training library: whether attention is flash, and what selective recomputation repeats.

    Raises
    ------
    InputError
        If the GPU's rate in a format is not known.
    """
    demands = plan_demands(model, plans, formats, sequence, hardware)
    times = time_demands(demands, hardware, constants.network)
    operations = list_operations(model, plans, sequence, practice.flash_attention)
    compute = time_operations(operations, formats, hardware, constants.compute)
    return assemble_step(
        model, plans, formats, hardware, constants.compute, (compute, demands, times), practice
    )


def assemble_step(
    model: Transformer,
    plans: PlanTable,
    formats: NumberFormats,
    hardware: TrainingHardware,
    constants: ComputeConstants,
    priced: tuple[ComputeTimes, DemandTable, Array],
    practice: MemoryPractice = MEGATRON,
) -> StepTable:
    """Join compute and communication to a step.

    Parameters
    ----------
    priced
        Compute by place; demands; and the seconds that each demand takes once, by the closed form or on a fabric.
    """
    compute, demands, times = priced
    rounds = plans.micro_batches.astype(np.float64)
    fullest = stage_layers(model, plans)
    spent = communication_by_part(demands, times, len(plans))
    half = practice.selective == SELECTIVE_HALF
    alone = time_stages(model, plans, compute, np.zeros(len(plans)), half)
    hidden = hide_communication(
        plans,
        spent,
        (alone.forward, alone.backward + alone.recompute),
        constants,
        repeated_share(model, plans),
    )
    in_layers = sum((hidden.exposed[part] for part in _LAYER_PARTS), np.zeros(len(plans)))
    layer = in_layers / (rounds * fullest)
    stage = time_stages(model, plans, compute, layer, half)
    scale = stage.layers / fullest
    slow = constants.overlap_slowdown
    parts: dict[str, Array] = {
        "forward": rounds * stage.forward + slow * hidden.behind_forward,
        "backward": rounds * stage.backward + slow * hidden.behind_backward,
        "recompute": rounds * stage.recompute,
    }
    parts |= {part: hidden.exposed[part] * scale for part in _LAYER_PARTS}
    parts["pipeline"] = hidden.exposed["pipeline"]
    forward, backward = _one_micro_batch(parts, rounds)
    others = np.maximum(stage.all_stages + layer * model.layers - forward - backward, 0.0)
    handed = parts["pipeline"] / rounds * (plans.pp - 1)
    parts["bubble"] = np.where(plans.pp > 1, (others + handed) * bubble_share(plans, forward, backward), 0.0)
    parts |= {part: hidden.exposed[part] for part in ("gradients", "parameters")}
    parts["optimizer"] = _optimizer(model, plans, formats, hardware, constants)
    return StepTable(
        step_time_s=np.sum(list(parts.values()), axis=0),
        breakdown_s=parts,
        hidden_s=hidden.behind_forward + hidden.behind_backward,
        stage_forward_s=forward,
        stage_backward_s=backward,
    )


def _one_micro_batch(parts: dict[str, Array], rounds: Array) -> tuple[Array, Array]:
    """Forward, and backward with recomputation, with their share of the communication of layers: a third is forward's."""
    passed = sum((parts[part] for part in _LAYER_PARTS), np.zeros(len(rounds)))
    forward = (parts["forward"] + passed / 3.0) / rounds
    return forward, (parts["backward"] + parts["recompute"] + passed * 2.0 / 3.0) / rounds


def _optimizer(
    model: Transformer,
    plans: PlanTable,
    formats: NumberFormats,
    hardware: TrainingHardware,
    constants: ComputeConstants,
) -> Array:
    dense, experts = stage_parameters(model, plans, stage_layers(model, plans))
    copies = plans.dp * plans.cp
    sharded = plans.zero >= 1
    shard = np.where(sharded, np.clip(plans.shard, 1, copies), 1)
    expert_copies = np.maximum(copies * plans.tp // (plans.ep * plans.expert_tp), 1)
    own = dense / shard + experts / np.where(sharded, expert_copies, 1)
    moved = own * weight_bytes_moved(formats, plans.zero)
    updated = moved / (hardware.memory_bytes_per_s * constants.memory_share)
    carried = own * (BYTES_OF_FORMAT[formats.gradients] + BYTES_OF_FORMAT[formats.weights])
    away = plans.offload_optimizer * carried
    # Unknown host links are not guessed: the job says so.
    host = away / hardware.host_bytes_per_s if hardware.host_bytes_per_s > 0 else 0.0
    return updated + host + constants.step_s
