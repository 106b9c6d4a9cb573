"""Parameters of a stage, number formats and plans → bytes of weights, gradients and optimizer states on one GPU."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpufabric.records.number_formats import BYTES_OF_FORMAT, NumberFormats
from gpufabric.records.plan_table import PlanTable
from gpufabric.records.transformer import Attention, Block, Transformer
from gpufabric.training.memory_stages import Floats, Ints, sum_of_stage
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
(https://arxiv.org/abs/1804.04235); Muon keeps momentum alone (https://kellerjordan.github.io/posts/muon)."""


@dataclass(frozen=True, slots=True)
class StageParameters:
    """Parameters on one GPU; float64, shape (P, S). ``one_layer`` is the largest layer's, ``output`` the output layer's."""

    dense: Floats
    experts: Floats
    one_layer: Floats
    output: Floats


def bytes_of_optimizer(formats: NumberFormats) -> float:
    """Return bytes of one parameter in the optimizer: the copy that is updated, and the states."""
    master = BYTES_OF_FORMAT[formats.master_weights] if formats.master_weights else 0.0
    return master + STATES_OF_OPTIMIZER[formats.optimizer] * BYTES_OF_FORMAT[formats.states]


def stage_parameters(model: Transformer, plans: PlanTable, stage: Ints) -> StageParameters:
    """Count the parameters that one GPU of each stage holds before anything is sharded over data parallelism.

    The embedding stands on the first stage and the output layer on the last; where they are one matrix and the stages differ, both
    hold it. Prediction modules stand on the last stage.
    """
    tp, pp = plans.tp[:, None], plans.pp[:, None]
    chunks = plans.virtual_stages[:, None]
    whole, split, experts = (_running(model, part) for part in (_whole, _split, _experts))
    counted = count_parameters(model)
    # Rows of the embedding are padded so that they divide (Megatron-LM, --make-vocab-size-divisible-by 128).
    rows = -(-model.vocabulary // (128 * tp)) * 128
    matrix = rows * float(model.hidden)
    first, last = stage == 0, stage == pp - 1
    output = np.where(last & ~((pp == 1) & model.tied_embeddings), matrix, 0.0)
    dense = sum_of_stage(whole, pp, chunks, stage) + sum_of_stage(split, pp, chunks, stage) / tp
    routed = sum_of_stage(experts, pp, chunks, stage)
    for block in model.prediction_blocks:
        joined = 2.0 * model.hidden**2 + _split(block, model.hidden)
        dense = dense + np.where(last, joined / tp + _whole(block, model.hidden), 0.0)
        routed = routed + np.where(last, _experts(block, model.hidden), 0.0)
    blocks = [run.block for run in model.runs]
    expert_ranks = (plans.ep * plans.expert_tp)[:, None]
    layer = np.max(
        [
            _split(block, model.hidden) / tp + _experts(block, model.hidden) / expert_ranks
            for block in blocks
        ],
        axis=0,
    )
    return StageParameters(
        dense=dense + np.where(first, matrix + counted.positions, 0.0) + output,
        experts=routed / expert_ranks,
        one_layer=layer + np.zeros(stage.shape),
        output=np.where(last, matrix, 0.0),
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


def _running(model: Transformer, part: object) -> Floats:
    assert callable(part)
    each = [np.full(run.count, float(part(run.block, model.hidden))) for run in model.runs]
    return np.concatenate(([0.0], np.cumsum(np.concatenate(each))))


def _whole(block: Block, hidden: int) -> float:
    """Count what every rank of a tensor-parallel group has: norms, routers, and the compressions of latent attention."""
    counted = block_parameters(block, hidden)
    mixer = block.mixer
    compressed = 0
    if isinstance(mixer, Attention) and mixer.kv_rank:
        compressed = hidden * (mixer.q_rank + mixer.kv_rank + mixer.rope_head_dim)
    return float(counted.norms + counted.router + compressed)


def _split(block: Block, hidden: int) -> float:
    counted = block_parameters(block, hidden)
    return float(counted.total - counted.experts) - _whole(block, hidden)


def _experts(block: Block, hidden: int) -> float:
    return float(block_parameters(block, hidden).experts)
