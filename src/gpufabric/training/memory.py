"""Model, sequence and plans → bytes on the fullest GPU, by part; arrays of plans throughout."""

from __future__ import annotations

from dataclasses import astuple, dataclass, fields

import numpy as np
from numpy.typing import NDArray

from gpufabric.records.number_formats import NumberFormats
from gpufabric.records.plan_table import PipelineSchedule, PlanTable
from gpufabric.records.transformer import Transformer
from gpufabric.training.activations import layer_activations
from gpufabric.training.memory_activations import kept_activations
from gpufabric.training.memory_practice import MemoryPractice
from gpufabric.training.memory_stages import Floats, Ints, candidate_stages, sums_of_stages
from gpufabric.training.memory_states import (
    bytes_of_states,
    layer_parameters,
    padded_vocabulary,
    stage_parameters,
)


@dataclass(frozen=True, slots=True)
class MemoryParts:
    """Bytes on the fullest GPU of each plan; float64, shape (P,).

    Attributes
    ----------
    weights, gradients, optimizer
        What the optimizer and its sharding leave of them on one GPU.
    activations
        Kept between forward and backward, of all micro-batches in flight.
    logits
        While the loss is computed; 0 where the fullest stage is not the last.
    buffers
        Gradients of the layer that is differentiated, gathered inputs and gathered weights.
    context
        Outside the allocator.
    fragmentation
        What the allocator reserves beyond ``allocated``.
    stage
        Pipeline stage that is fullest; int64.
    """

    weights: Floats
    gradients: Floats
    optimizer: Floats
    activations: Floats
    logits: Floats
    buffers: Floats
    context: Floats
    fragmentation: Floats
    stage: Ints

    @property
    def allocated(self) -> Floats:
        """Peak of the allocator, as torch.cuda.max_memory_allocated counts it."""
        return self.weights + self.gradients + self.optimizer + self.activations + self.logits + self.buffers

    @property
    def total(self) -> Floats:
        """All that the GPU must have."""
        return self.allocated + self.context + self.fragmentation

    def take(self, rows: NDArray[np.int64]) -> MemoryParts:
        """Return the plans of *rows*."""
        return MemoryParts(**{part.name: getattr(self, part.name)[rows] for part in fields(self)})


def memory_per_gpu(
    model: Transformer,
    sequence: int,
    plans: PlanTable,
    formats: NumberFormats,
    practice: MemoryPractice,
) -> MemoryParts:
    """Return the memory of the fullest GPU of each plan.

    The largest of two moments counts: the loss is computed, or the largest layer is differentiated; both with all that is kept.

    Parameters
    ----------
    model
    sequence
        Tokens of one sequence.
    plans
        P plans.
    formats, practice
    """
    stage = candidate_stages(plans.pp)
    blocks = [run.block for run in model.runs]
    weights = [layer_parameters(block, model.hidden) for block in blocks]
    kept = [layer_activations(block, model.hidden, practice) for block in blocks]
    columns = np.array([[*astuple(a), *astuple(b)] for a, b in zip(weights, kept, strict=True)])
    sums = sums_of_stages(
        np.repeat(columns.T, [run.count for run in model.runs], axis=1), plans.pp, plans.virtual_stages
    )
    states = bytes_of_states(plans, formats, practice, stage_parameters(model, plans, stage, sums[:3]))
    activations = kept_activations(model, sequence, plans, sums[3:], practice)
    logits = _logits(model, sequence, plans, stage, practice)
    buffers = states.buffers + np.maximum(activations.transient - logits, 0.0)
    parts = (states.weights, states.gradients, states.optimizer, activations.kept, logits, buffers)
    here = np.arange(len(plans)), np.argmax(sum(parts), axis=1)
    chosen = [np.broadcast_to(part, stage.shape)[here] for part in parts]
    return MemoryParts(
        weights=chosen[0],
        gradients=chosen[1],
        optimizer=chosen[2],
        activations=chosen[3],
        logits=chosen[4],
        buffers=chosen[5],
        context=np.full(len(plans), practice.context_bytes),
        fragmentation=np.sum(chosen, axis=0) * practice.fragmentation,
        stage=stage[here],
    )


def _logits(
    model: Transformer, sequence: int, plans: PlanTable, stage: Ints, practice: MemoryPractice
) -> Floats:
    """Return bytes while the loss is computed, of the main model and of each prediction module."""
    each = np.where(plans.tp > 1, practice.split_loss_bytes, practice.loss_bytes)
    tokens = plans.micro_batch * sequence / plans.cp
    heads = 1 + len(model.prediction_blocks)
    dual = plans.schedule == PipelineSchedule.DUALPIPE
    computed = (stage == plans.pp[:, None] - 1) | ((stage == 0) & dual[:, None])
    return np.asarray(computed * (tokens * padded_vocabulary(model, plans) * each * heads)[:, None])
