"""Compute and communication of a plan → what every pipeline stage has to do, for the timeline of a step."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gpufabric.records.demand import DemandTable, Purpose
from gpufabric.records.plan_table import PipelineSchedule, PlanTable, Recompute
from gpufabric.records.step_table import StepTable
from gpufabric.records.training_constants import ComputeConstants
from gpufabric.records.training_timeline import PipelineWork
from gpufabric.records.transformer import Transformer
from gpufabric.training.overlap import communication_by_part
from gpufabric.training.roofline import ComputeTimes
from gpufabric.training.stages import end_layers, repeated_share, stage_layers

_LAYERS = ("tensor", "context", "expert")


def pipeline_work(
    model: Transformer,
    plans: PlanTable,
    compute: ComputeTimes,
    priced: tuple[DemandTable, NDArray[np.float64]],
    step: StepTable,
    constants: ComputeConstants,
) -> PipelineWork:
    """Return what the stages of one replica have to do in a step.

    Parameters
    ----------
    model
    plans : PlanTable
        One row.
    compute : ComputeTimes
    priced
        Demands, and the seconds of each once.
    step : StepTable
        As it was assembled from both: what is exposed is taken from it.
    constants : ComputeConstants
    """
    demands, times = priced
    spent = {part: float(found[0]) for part, found in communication_by_part(demands, times, 1).items()}
    exposed = {part: float(step.breakdown_s[part][0]) for part in spent}
    stages, batches = int(plans.pp[0]), int(plans.micro_batches[0])
    dual = bool(plans.schedule[0] == PipelineSchedule.DUALPIPE)
    chunks = 2 if dual else int(plans.virtual_stages[0])
    layers = _layers(model, plans, stages)
    runs = len(model.runs)
    counts = np.array([run.count for run in model.runs], float)
    forward, backward, core = (
        (table[:runs, 0] * counts).sum() / model.layers
        for table in (compute.forward, compute.backward, compute.core)
    )
    selective = bool(plans.recompute[0] == Recompute.SELECTIVE)
    repeated = float(repeated_share(model, plans)[0])
    again = core if selective else repeated * forward
    # Backward has as many exchanges as forward, and once more those of the forward that it repeats.
    first = 1.0 / (2.0 + repeated)
    in_layers = sum(spent[part] for part in _LAYERS)
    hidden = max(in_layers - sum(exposed[part] for part in _LAYERS), 0.0)
    fullest = float(stage_layers(model, plans)[0])
    # Compute beside communication is slower by a part of it.
    slower = constants.overlap_slowdown * hidden / max(batches * fullest, 1.0)
    exchange = in_layers / max(batches * fullest, 1.0)
    ahead = layers * (forward + first * slower)
    back = layers * (backward / 2.0 + again + (1.0 - first) * slower)
    weights = layers * backward / 2.0
    ahead[0] += compute.forward[-1, 0]
    back[0] += compute.backward[-1, 0]
    ends = compute.backward[runs:-1, 0].sum() / 2.0
    back[-1] += ends
    weights[-1] += ends
    ahead, back, weights, moved = (
        _by_chunk(column, chunks, dual) for column in (ahead, back, weights, layers * exchange)
    )
    sends = demands.purpose == Purpose.PIPELINE
    return PipelineWork(
        schedule=int(plans.schedule[0]),
        micro_batches=batches,
        forward_s=ahead,
        backward_s=back,
        weights_s=weights,
        loss_s=float(compute.forward[runs:-1, 0].sum()),
        forward_exchange_s=moved * first,
        backward_exchange_s=moved * (1.0 - first),
        hidden_share=0.0 if dual or in_layers <= 0 else hidden / in_layers,
        send_s=float(times[sends].max(initial=0.0)),
        parameters_s=_parts(spent["parameters"], exposed["parameters"]),
        gradients_s=_parts(spent["gradients"], exposed["gradients"]),
        optimizer_s=float(step.breakdown_s["optimizer"][0]),
    )


def _layers(model: Transformer, plans: PlanTable, stages: int) -> NDArray[np.float64]:
    first, last = (float(found[0]) for found in end_layers(model, plans))
    layers = np.full(stages, float(stage_layers(model, plans)[0]))
    layers[0], layers[-1] = first, last
    if stages == 1:
        layers[0] = float(model.layers)
    return layers


def _by_chunk(column: NDArray[np.float64], chunks: int, dual: bool) -> NDArray[np.float64]:
    """Return (stages, chunks): equal parts, or for DualPipe the stage itself and its mirror image."""
    if dual:
        return np.stack([column, column[::-1]], axis=1)
    return np.repeat(column[:, None] / chunks, chunks, axis=1)


def _parts(spent: float, exposed: float) -> tuple[float, float]:
    return max(spent - exposed, 0.0), min(exposed, spent)
