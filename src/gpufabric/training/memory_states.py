"""Parameters of a stage, number formats and plans → bytes of weights, gradients and optimizer states on one GPU."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpufabric.records.number_formats import BYTES_OF_FORMAT, NumberFormats
from gpufabric.records.plan_table import PipelineSchedule, PlanTable
from gpufabric.records.transformer import Attention, Block, Transformer
from gpufabric.training.memory_practice import MemoryPractice
from gpufabric.training.memory_stages import Floats, Ints
from gpufabric.training.parameters import block_parameters, count_parameters

STATES_OF_OPTIMIZER = {
    "adamw": 2.0,
    "adam": 2.0,
    "lion": 1.0,
    "momentum": 1.0,
    "muon": 1.0,
    "sgd": 0.0,
    "adafactor": 0.0,
}
"""States of one parameter. Adafactor keeps a row and a column of each matrix, which is next to nothing
(https://arxiv.org/abs/1804.04235); Muon keeps momentum alone (https://arxiv.org/abs/2502.16982)."""


@dataclass(frozen=True, slots=True)
class LayerParameters:
    """Parameters of one layer by what divides them: nothing, tensor parallelism, expert parallelism."""

    whole: float
    split: float
    experts: float


@dataclass(frozen=True, slots=True)
class StageParameters:
    """Parameters on one GPU before data parallelism shards them; float64, shape (P, S) or (P, 1).

    Attributes
    ----------
    dense, experts
        All of the stage.
    one_layer
        Of the largest layer.
    output
        Of the output layer, 0 on other stages.
    """

    dense: Floats
    experts: Floats
    one_layer: Floats
    output: Floats


@dataclass(frozen=True, slots=True)
class StateBytes:
    """Bytes on one GPU of each stage, float64, shape (P, S); ``buffers`` are gathered weights and gradients not yet sharded."""

    weights: Floats
    gradients: Floats
    optimizer: Floats
    buffers: Floats


def layer_parameters(block: Block, hidden: int) -> LayerParameters:
    """Split the parameters of one layer; norms, routers and the compressions of latent attention stand whole on every rank."""
    counted = block_parameters(block, hidden)
    mixer = block.mixer
    compressed = 0
    if isinstance(mixer, Attention) and mixer.kv_rank:
        compressed = hidden * (mixer.q_rank + mixer.kv_rank + mixer.rope_head_dim)
    whole = counted.norms + counted.router + compressed
    return LayerParameters(
        float(whole), float(counted.total - counted.experts - whole), float(counted.experts)
    )


def bytes_of_optimizer(formats: NumberFormats) -> float:
    """Return bytes of one parameter in the optimizer: the copy that is updated, and the states."""
    return _master_bytes(formats) + STATES_OF_OPTIMIZER[formats.optimizer] * BYTES_OF_FORMAT[formats.states]


def stage_parameters(model: Transformer, plans: PlanTable, stage: Ints, sums: Floats) -> StageParameters:
    """Count the parameters that one GPU of each stage holds.

    The embedding stands on the first stage and the output layer on the last; where they are one matrix and the stages differ,
    both hold it. Prediction modules stand on the last stage. A device of DualPipe has its stage and the mirrored one (DeepSeek-V3
    Technical Report, https://arxiv.org/abs/2412.19437, section 3.2.1).

    Parameters
    ----------
    model
    plans
        P plans.
    stage
        As :func:`~gpufabric.training.memory_stages.candidate_stages` has them.
    sums
        Of ``LayerParameters`` over the stages, float64, shape (3, P, S).
    """
    tp, last_stage = plans.tp[:, None], plans.pp[:, None] - 1
    expert_ranks = (plans.ep * plans.expert_tp)[:, None]
    matrix = padded_vocabulary(model, plans)[:, None] * float(model.hidden)
    last = stage == last_stage
    counted = count_parameters(model)
    output = last * matrix
    dense = sums[0] + sums[1] / tp + (stage == 0) * (matrix + float(counted.positions))
    dense += output * ~((last_stage == 0) & model.tied_embeddings) + last * float(counted.final_norm)
    experts = sums[2] / expert_ranks
    for block in model.prediction_blocks:
        module = layer_parameters(block, model.hidden)
        dense += last * (module.whole + (module.split + 2.0 * model.hidden**2) / tp)
        experts += last * (module.experts / expert_ranks)
    layers = [layer_parameters(run.block, model.hidden) for run in model.runs]
    largest = np.max([layer.split / tp + layer.experts / expert_ranks for layer in layers], axis=0)
    dual = (plans.schedule == PipelineSchedule.DUALPIPE)[:, None]
    if dual.any():
        dense = dense + dense[:, ::-1] * dual
        experts = experts + experts[:, ::-1] * dual
        output = np.where(dual, np.maximum(output, output[:, ::-1]), output)
    return StageParameters(dense, experts, largest, output)


def padded_vocabulary(model: Transformer, plans: PlanTable) -> Ints:
    """Return the rows of the embedding on one GPU, int64, shape (P,).

    They are padded so that tensor parallelism divides them (Megatron-LM, ``--make-vocab-size-divisible-by``, 128 by default).
    """
    return -(-model.vocabulary // (128 * plans.tp)) * 128


def bytes_of_states(
    plans: PlanTable, formats: NumberFormats, practice: MemoryPractice, held: StageParameters
) -> StateBytes:
    """Return what ZeRO leaves on one GPU (https://arxiv.org/abs/1910.02054, section 5), and what is gathered for a while."""
    zero = plans.zero[:, None]
    shard, expert_shard = share_of_states(plans)
    full, pipelined = zero == 3, plans.pp[:, None] > 1
    whole = held.dense + held.experts
    sharded = held.dense / shard + held.experts / expert_shard
    computed = BYTES_OF_FORMAT[formats.weights]
    # Fully sharded data parallelism keeps the copy that is updated alone and casts it while it is gathered.
    kept = np.where(full, 0.0 if _master_bytes(formats) else sharded, whole) * computed
    # With a pipeline the weights of the stage stay gathered, and its gradients whole, until the last micro-batch
    # (PyTorch FSDP does not reshard after forward there).
    spread = (zero >= 2) & (shard > 1)
    some = np.minimum(practice.gathered_layers * held.one_layer + held.output, whole)
    gathered = np.where(pipelined, whole, some) * (full & spread) * computed
    differentiated = np.minimum(min(practice.gathered_layers, 1.0) * held.one_layer, whole)
    unreduced = np.where(pipelined, whole, differentiated) * spread * BYTES_OF_FORMAT[formats.reduction]
    scratch = (held.one_layer + held.output) * ((zero < 2) * practice.layer_gradient_buffer * computed)
    return StateBytes(
        weights=kept * (1.0 - plans.offload_weights[:, None]),
        gradients=np.where(zero >= 2, sharded, whole) * BYTES_OF_FORMAT[formats.gradients],
        optimizer=np.where(zero >= 1, sharded, whole)
        * bytes_of_optimizer(formats)
        * (1.0 - plans.offload_optimizer[:, None]),
        buffers=gathered + unreduced + scratch,
    )


def share_of_states(plans: PlanTable) -> tuple[Ints, Ints]:
    """Return over how many ranks the states of dense weights and of experts are sharded, int64, shape (P, 1) each.

    Experts are replicated dp × cp × tp ÷ (ep × expert_tp) times; a shard group is the same part of that.
    """
    shard = np.maximum(plans.shard, 1)
    copies = plans.dp * plans.cp
    expert_copies = np.maximum(copies * plans.tp // np.maximum(plans.ep * plans.expert_tp, 1), 1)
    expert_shard = np.maximum(expert_copies * shard // np.maximum(copies, 1), 1)
    return shard[:, None], expert_shard[:, None]


def _master_bytes(formats: NumberFormats) -> float:
    return BYTES_OF_FORMAT[formats.master_weights] if formats.master_weights else 0.0
