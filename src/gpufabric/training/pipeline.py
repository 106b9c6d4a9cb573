"""Times of layers → times of pipeline stages: which is the slowest, and how long it waits while the pipeline fills and drains."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gpufabric.records.plan_table import PipelineSchedule, PlanTable, Recompute
from gpufabric.records.transformer import Transformer
from gpufabric.training.roofline import ComputeTimes
from gpufabric.training.stages import end_layers, repeated_share, stage_layers

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class StageTimes:
    """Compute of one micro-batch, seconds, each of shape (P,).

    Attributes
    ----------
    forward, backward, recompute
        Of the slowest stage.
    layers
        Those of it, and ``fullest`` those of the fullest stage, for which demands count.
    all_stages
        Sum over the stages of all three.
    stage_layers
        Layers of all stages together over those of the slowest: what scales its communication to that of all.
    """

    forward: Array
    backward: Array
    recompute: Array
    layers: Array
    fullest: Array
    all_stages: Array


def time_stages(
    model: Transformer,
    plans: PlanTable,
    compute: ComputeTimes,
    layer_communication: Array,
    half: bool = False,
) -> StageTimes:
    """Return the compute of the slowest pipeline stage.

    Parameters
    ----------
    model
    plans : P rows
    compute
        By place, one layer of each run.
    layer_communication : float64, shape (P,)
        Exposed communication of one layer and micro-batch, which decides with the compute which stage is the slowest.
    half
        Selective recomputation repeats every second product instead of the core of attention.
    """
    runs = len(model.runs)
    counts = np.array([run.count for run in model.runs], float)[:, None]
    again = repeated_share(model, plans)
    selective = plans.recompute == Recompute.SELECTIVE
    per_place = np.stack(
        [
            compute.forward,
            compute.backward,
            np.where(selective, 0.5 * compute.forward if half else compute.core, again * compute.forward),
        ]
    )
    mean = (per_place[:, :runs] * counts).sum(axis=1) / model.layers
    ends = per_place[:, runs:]
    ends[2, 1:] = 0.0
    fullest = stage_layers(model, plans)
    first, last = end_layers(model, plans)
    alone = plans.pp == 1
    middle = fullest * _densest(per_place[:, :runs], counts, mean, fullest)
    tail, embedding = ends[:, 0] + ends[:, 1], ends[:, 2]
    front = first * mean + embedding
    back = last * mean + tail + np.where(alone, embedding, 0.0)
    layers = np.stack([first, fullest, last])
    stages = np.stack([front, middle, back], axis=1)
    total = stages.sum(axis=0) + layers * layer_communication
    total[1] = np.where(plans.pp > 2, total[1], 0.0)
    slowest = np.where(alone, 2, total.argmax(axis=0))
    column = np.arange(len(plans))
    forward, backward, recompute = stages[:, slowest, column]
    everything = (model.layers * mean + tail + embedding).sum(axis=0)
    return StageTimes(forward, backward, recompute, layers[slowest, column], fullest, everything)


def _densest(layers: Array, counts: Array, mean: Array, fullest: Array) -> Array:
    """Mean layer of the stage with the most expensive layers, as far as so many of a kind stand together."""
    together = np.minimum(counts, fullest)
    totals = layers.sum(axis=0)
    kind = totals.argmax(axis=0)
    column = np.arange(layers.shape[2])
    share = together[kind, column] / np.maximum(fullest, 1.0)
    return np.asarray(layers[:, kind, column] * share + mean * (1.0 - share))


def bubble_share(plans: PlanTable, forward: Array, backward: Array) -> Array:
    """Return how much of the other stages' time for one micro-batch the slowest stage waits in a step.

    All-forward-all-backward and 1F1B wait for all of it (Narayanan et al. 2021, https://arxiv.org/abs/2104.04473, section 2.2),
    interleaved stages for a part. Zero-bubble schedules fill with weight gradients, taken to be half of the backward (ZB-H1,
    https://arxiv.org/abs/2401.10241, section 2.3: F + B - 2W a stage); DualPipe meets in the middle: (PP/2 - 1)(F&B + B - 3W)
    (https://arxiv.org/abs/2412.19437, table 2, F&B being both after another).

    Parameters
    ----------
    plans : P rows
    forward, backward : float64, shape (P,)
        Of one micro-batch on the slowest stage; backward with recomputation.
    """
    both = np.maximum(forward + backward, 1e-30)
    weights = backward / 2.0
    zero = (forward + backward - 2.0 * weights) / both
    waits = np.maximum(plans.pp / 2.0 - 1.0, 0.0) * (forward + 2.0 * backward - 3.0 * weights)
    dual = waits / np.maximum(plans.pp - 1.0, 1.0) / both
    share = 1.0 / plans.virtual_stages
    share = np.where(plans.schedule == PipelineSchedule.ZERO_BUBBLE, zero, share)
    return np.where(plans.schedule == PipelineSchedule.DUALPIPE, dual, share)
