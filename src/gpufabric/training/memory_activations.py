"""Sums over the layers of stages, and plans → bytes of activations on one GPU, and of gradients that live beside them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpufabric.records.plan_table import PipelineSchedule, PlanTable, Recompute
from gpufabric.records.transformer import Transformer
from gpufabric.training.activations import LayerActivations, layer_activations
from gpufabric.training.memory_practice import SELECTIVE_CHEAP, SELECTIVE_HALF, MemoryPractice
from gpufabric.training.memory_stages import Floats, Ints, candidate_stages

_GRADIENT_BYTES = 2.0


@dataclass(frozen=True, slots=True)
class KeptActivations:
    """Bytes on one GPU of each stage, float64.

    Attributes
    ----------
    kept
        Between forward and backward, of all micro-batches in flight, shape (P, S).
    transient
        While the largest layer is differentiated, shape (P, 1).
    """

    kept: Floats
    transient: Floats


def kept_activations(
    model: Transformer, sequence: int, plans: PlanTable, sums: Floats, practice: MemoryPractice
) -> KeptActivations:
    """Return what one GPU of each stage keeps of all micro-batches in flight, and the largest transient of a layer.

    Parameters
    ----------
    model
    sequence
        Tokens of one sequence.
    plans
        P plans.
    sums
        Of ``LayerActivations`` over the candidate stages, float64, shape (K, P, S), its fields in order.
    practice
    """
    tokens = (plans.micro_batch * sequence / plans.cp)[:, None]
    stage = candidate_stages(plans.pp)
    of_stage = LayerActivations(*sums)
    kept = _kept_of_token(plans, sequence, of_stage, practice)
    for block in model.prediction_blocks:
        module = layer_activations(block, model.hidden, practice)
        kept = kept + (stage == plans.pp[:, None] - 1) * _kept_of_token(plans, sequence, module, practice)
    flying = kept * micro_batches_in_flight(plans, stage)
    dual = (plans.schedule == PipelineSchedule.DUALPIPE)[:, None] & (plans.pp[:, None] > 1)
    if dual.any():
        # The other direction passes the mirrored stage's layers on the same device.
        flying = flying + (dual * flying)[:, ::-1]
    kept = tokens * flying * (1.0 - plans.offload_activations[:, None])
    return KeptActivations(kept, tokens * _largest_transient(model, sequence, plans, practice))


def micro_batches_in_flight(plans: PlanTable, stage: Ints) -> Floats:
    """Return how many micro-batches of one stage's layers are kept at the peak, float64, shape (P, S).

    GPipe keeps all. 1F1B keeps as many as there are stages from here on, interleaved 1F1B (p − 1) ÷ v more on the first stage
    (Narayanan et al. 2021, https://arxiv.org/abs/2104.04473; Korthikanti et al. 2022, https://arxiv.org/abs/2205.05198, section
    4.2.3), zero-bubble ZB-H1 at most as many as 1F1B does on the first stage (https://arxiv.org/abs/2401.10241). DualPipe keeps
    as many as 1F1B in each direction: with the mirrored stage of the same device one more than there are stages
    (https://arxiv.org/abs/2412.19437, table 2).
    """
    pp, made, schedule = plans.pp[:, None], plans.micro_batches[:, None], plans.schedule[:, None]
    virtual = plans.virtual_stages[:, None]
    kept: Floats = np.asarray(pp - stage, dtype=np.float64)
    for code, count in (
        (PipelineSchedule.GPIPE, made),
        (PipelineSchedule.INTERLEAVED, (2 * (pp - stage - 1) + (virtual - 1) * pp + 1) / virtual),
        (PipelineSchedule.ZERO_BUBBLE, pp),
    ):
        kept = np.where(schedule == code, count, kept)
    return np.minimum(np.where(pp > 1, kept, 1.0), made)


def _kept_of_token(plans: PlanTable, sequence: int, of: LayerActivations, practice: MemoryPractice) -> Floats:
    """Return bytes kept of one token after recomputation."""
    one = _all_of_token(plans, sequence, of)
    inputs = of.kept_input / _split(plans)
    selective = _selective(plans, sequence, of, practice, one)
    recompute, layers = plans.recompute[:, None], plans.recompute_layers[:, None]
    least = np.where(
        recompute == Recompute.FULL, inputs, np.where(recompute == Recompute.SELECTIVE, selective, one)
    )
    share = np.where(layers < 0, 1.0, np.minimum(layers / np.maximum(of.layers, 1.0), 1.0))
    return np.asarray(one + share * (least - one))


def _selective(
    plans: PlanTable, sequence: int, of: LayerActivations, practice: MemoryPractice, one: Floats
) -> Floats:
    """Return bytes kept of one token under selective recomputation, of *one* without."""
    if practice.selective == SELECTIVE_HALF:
        return np.asarray((of.kept_input / _split(plans) + one) / 2.0)
    again = of.scores * sequence / plans.tp[:, None]
    if practice.selective == SELECTIVE_CHEAP:
        again = (
            again + of.cheap_whole / _split(plans) + (of.cheap_split + of.cheap_routed) / plans.tp[:, None]
        )
    return np.asarray(one - again)


def _all_of_token(plans: PlanTable, sequence: int, of: LayerActivations) -> Floats:
    """Return bytes kept of one token without recomputation.

    A rank of the experts has the tokens of its tensor-parallel share and 1 ÷ expert_tp of the widths, and takes part in expert_tp
    groups' tokens: inner widths divide by tp, what arrives by tp ÷ expert_tp.
    """
    tp = plans.tp[:, None]
    exchanged = of.attention_output * (plans.cp > 1)[:, None]
    split = (
        of.split + exchanged + of.scores * sequence + of.routed + of.routed_input * plans.expert_tp[:, None]
    )
    return np.asarray(of.whole / _split(plans) + split / tp)


def _largest_transient(
    model: Transformer, sequence: int, plans: PlanTable, practice: MemoryPractice
) -> Floats:
    """Return bytes of one token while a layer is differentiated: its gradients, gathered inputs, and what is computed again."""
    most = np.zeros((len(plans), 1))
    again = (plans.recompute == Recompute.FULL)[:, None]
    for block in {run.block: None for run in model.runs}:
        of = layer_activations(block, model.hidden, practice)
        made = of.transient / plans.tp[:, None]
        most = np.maximum(most, made + again * _all_of_token(plans, sequence, of))
    # The input of a product and its gradient are whole while the tensor-parallel group works on them.
    return most + (plans.tp > 1)[:, None] * (2.0 * _GRADIENT_BYTES * model.hidden)


def _split(plans: PlanTable) -> Ints:
    return np.where(plans.sequence_parallel, plans.tp, 1)[:, None]
