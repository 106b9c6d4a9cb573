"""Model, sequence and plans → bytes on the fullest GPU, by part; arrays of plans throughout."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from gpufabric.records.number_formats import BYTES_OF_FORMAT, NumberFormats
from gpufabric.records.plan_table import PipelineSchedule, PlanTable
from gpufabric.records.transformer import Transformer
from gpufabric.training.memory_activations import kept_activations
from gpufabric.training.memory_practice import MemoryPractice
from gpufabric.training.memory_stages import Floats, Ints
from gpufabric.training.memory_states import (
    StageParameters,
    bytes_of_optimizer,
    share_of_states,
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
        return (
            self.weights + self.gradients + self.optimizer + self.activations + self.logits + self.buffers
        )

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

    The first, second, third and last stage are compared: those that can be fullest, for the first has the embedding and most micro-batches
    in flight, the next ones may have more experts, and the last has the logits.

    Parameters
    ----------
    model
    sequence
        Tokens of one sequence.
    plans
        P plans.
    formats, practice
    """
    stage = np.minimum(np.arange(3), plans.pp[:, None] - 1)
    stage = np.concatenate([stage, plans.pp[:, None] - 1], axis=1)
    held = stage_parameters(model, plans, stage)
    dual = (plans.schedule == PipelineSchedule.DUALPIPE)[:, None]
    if dual.any():
        held = _with_mirrored(held, stage_parameters(model, plans, plans.pp[:, None] - 1 - stage), dual)
    weights, gradients, optimizer, gathered = _states(plans, formats, practice, held)
    kept = kept_activations(model, sequence, plans, stage, practice)
    last = ((stage == plans.pp[:, None] - 1) | (dual & (stage == 0))) * 1.0
    rows = -(-model.vocabulary // (128 * plans.tp)) * 128
    tokens = plans.micro_batch * sequence / plans.cp
    each = np.where(plans.tp > 1, practice.split_loss_bytes, practice.loss_bytes)
    logits = last * (tokens * rows * each * (1 + len(model.prediction_blocks)))[:, None]
    activations = kept.activations * (1.0 - plans.offload_activations[:, None])
    parts = [weights, gradients, optimizer, activations, logits, gathered + np.maximum(kept.transient - logits, 0.0)]
    fullest = np.argmax(sum(parts), axis=1)
    here = np.arange(len(plans)), fullest
    chosen = [np.broadcast_to(part, stage.shape)[here] for part in parts]
    allocated = np.sum(chosen, axis=0)
    return MemoryParts(
        weights=chosen[0],
        gradients=chosen[1],
        optimizer=chosen[2],
        activations=chosen[3],
        logits=chosen[4],
        buffers=chosen[5],
        context=np.full(len(plans), practice.context_bytes),
        fragmentation=allocated * practice.fragmentation,
        stage=stage[here],
    )


def _with_mirrored(here: StageParameters, there: StageParameters, dual: NDArray[np.bool_]) -> StageParameters:
    # DualPipe feeds the pipeline from both ends, so each device has its stage and the mirrored one (DeepSeek-V3 Technical Report,
    # https://arxiv.org/abs/2412.19437, section 3.2.1).
    return StageParameters(
        dense=here.dense + there.dense * dual,
        experts=here.experts + there.experts * dual,
        one_layer=here.one_layer,
        output=np.where(dual, np.maximum(here.output, there.output), here.output),
    )


def _states(
    plans: PlanTable, formats: NumberFormats, practice: MemoryPractice, held: StageParameters
) -> tuple[Floats, Floats, Floats, Floats]:
    zero = plans.zero[:, None]
    shard, expert_shard = share_of_states(plans)

    def left(stage_of_zero: int) -> Floats:
        sharded = zero >= stage_of_zero
        return held.dense / np.where(sharded, shard, 1) + held.experts / np.where(sharded, expert_shard, 1)

    computed = BYTES_OF_FORMAT[formats.weights]
    master = BYTES_OF_FORMAT[formats.master_weights] if formats.master_weights else 0.0
    full = zero == 3
    # Fully sharded data parallelism keeps the copy that is updated alone and casts it while it is gathered.
    weights = left(3) * np.where(full & (master > 0), 0.0, computed)
    optimizer = left(1) * bytes_of_optimizer(formats)
    gradients = left(2) * BYTES_OF_FORMAT[formats.gradients]
    # With a pipeline the weights of the stage stay gathered, and its gradients whole, until the last micro-batch
    # (PyTorch FSDP, no reshard after forward).
    everything = held.dense + held.experts
    layers = np.minimum(practice.gathered_layers * held.one_layer + held.output, everything)
    gathered = np.where(plans.pp[:, None] > 1, everything, layers) * full * (shard > 1)
    reduced = np.where(plans.pp[:, None] > 1, everything, held.one_layer) * (zero >= 2) * (shard > 1)
    scratch = (held.one_layer + held.output) * practice.layer_gradient_buffer * (zero < 2)
    buffers = gathered * computed + reduced * BYTES_OF_FORMAT[formats.reduction] + scratch * computed
    kept_weights = 1.0 - plans.offload_weights[:, None]
    kept_optimizer = 1.0 - plans.offload_optimizer[:, None]
    return weights * kept_weights, gradients, optimizer * kept_optimizer, buffers
