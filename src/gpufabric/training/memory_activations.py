"""Model and plans → bytes of activations on one GPU of a stage, and of the gradients that live beside them."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from gpufabric.records.plan_table import PipelineSchedule, PlanTable, Recompute
from gpufabric.records.transformer import Transformer
from gpufabric.training.activations import LayerActivations, layer_activations
from gpufabric.training.memory_practice import SELECTIVE_HALF, MemoryPractice
from gpufabric.training.memory_stages import Floats, Ints, sum_of_stage

_ELEMENT = 2.0


@dataclass(frozen=True, slots=True)
class KeptActivations:
    """Bytes on one GPU of each stage; float64, shape (P, S)."""

    activations: Floats
    transient: Floats


def kept_activations(
    model: Transformer, sequence: int, plans: PlanTable, stage: Ints, practice: MemoryPractice
) -> KeptActivations:
    """Return what one GPU of each *stage* keeps of all micro-batches in flight, and the largest transient of a layer.

    Parameters
    ----------
    model
    sequence
        Tokens of one sequence.
    plans
        P plans.
    stage
        Stages asked for, int64, shape (P, S).
    practice

    Notes
    -----
    Activations are counted at two bytes: libraries keep the inputs of products in BF16 where FP8 is made of them anew.
    """
    blocks = [layer_activations(run.block, model.hidden, _ELEMENT, practice) for run in model.runs]
    counts = [run.count for run in model.runs]
    tokens = (plans.micro_batch * sequence / plans.cp)[:, None]
    pp, virtual = plans.pp[:, None], plans.virtual_stages[:, None]
    split = np.where(plans.sequence_parallel, plans.tp, 1)[:, None]

    def of_stage(values: list[float]) -> Floats:
        return sum_of_stage(np.concatenate(([0.0], np.cumsum(np.repeat(values, counts)))), pp, virtual, stage)

    everything = {
        part.name: of_stage([getattr(block, part.name) for block in blocks])
        for part in fields(LayerActivations)
        if not part.name.startswith("transient")
    }
    one = _one_token(plans, sequence, everything, split)
    inputs = everything["kept_input"] / split
    least = _recomputed(plans, practice, one, inputs, everything["scores"] * sequence)
    layers = of_stage([1.0] * len(blocks))
    share = np.where(plans.recompute_layers[:, None] < 0, 1.0, plans.recompute_layers[:, None] / layers)
    kept = one + np.minimum(share, 1.0) * (least - one)
    for block in model.prediction_blocks:
        module = _constants(layer_activations(block, model.hidden, _ELEMENT, practice))
        kept = kept + np.where(stage == pp - 1, _one_token(plans, sequence, module, split), 0.0)
    activations = tokens * micro_batches_in_flight(plans, stage) * kept
    most = _largest_layer(model, sequence, plans, blocks, split)
    gathered = 2.0 * model.hidden * _ELEMENT * (plans.tp > 1)[:, None]
    full = (plans.recompute == Recompute.FULL)[:, None]
    again = full * most["kept"]
    return KeptActivations(activations, tokens * (most["transient"] + gathered + again))


def micro_batches_in_flight(plans: PlanTable, stage: Ints) -> Floats:
    """Return how many micro-batches of one stage's layers are kept at the peak, float64, shape (P, S).

    GPipe keeps all. 1F1B keeps as many as there are stages from here on, interleaved 1F1B (p − 1) ÷ v more on the first stage
    (Narayanan et al. 2021, https://arxiv.org/abs/2104.04473; Korthikanti et al. 2022, https://arxiv.org/abs/2205.05198, section 4.2.3),
    zero-bubble ZB-H1 at most as many as 1F1B does on the first stage (https://arxiv.org/abs/2401.10241), DualPipe one more than
    stages, both directions together (https://arxiv.org/abs/2412.19437, table 2).
    """
    pp, made = plans.pp[:, None], plans.micro_batches[:, None]
    virtual = plans.virtual_stages[:, None]
    schedule = plans.schedule[:, None]
    warm = (2 * (pp - stage - 1) + (virtual - 1) * pp + 1) / virtual
    of = {
        PipelineSchedule.GPIPE: made,
        PipelineSchedule.ONE_F_ONE_B: pp - stage,
        PipelineSchedule.INTERLEAVED: np.where(pp > 1, warm, 1),
        PipelineSchedule.ZERO_BUBBLE: pp,
        PipelineSchedule.DUALPIPE: pp + 1,
    }
    chosen = np.select([schedule == code for code in of], list(of.values()), 1)
    return np.minimum(np.where(pp > 1, chosen, 1), made).astype(np.float64)


def _one_token(plans: PlanTable, sequence: int, parts: dict[str, Floats], split: Ints) -> Floats:
    """Return bytes of one token without recomputation, from the parts of :class:`LayerActivations`."""
    tp, width = plans.tp[:, None], plans.expert_tp[:, None]
    exchanged = parts["attention_output"] * (plans.cp > 1)[:, None]
    # A rank of the experts has the tokens of its tensor-parallel share, those of its expert-parallel peers and 1 ÷ expert_tp of
    # the widths: routed bytes of one token over tp in any case, what arrives expert_tp times that.
    return (
        parts["whole"] / split
        + (parts["split"] + exchanged + parts["scores"] * sequence) / tp
        + (parts["routed"] + parts["routed_input"] * width) / tp
    )


def _recomputed(plans: PlanTable, practice: MemoryPractice, one: Floats, inputs: Floats, scores: Floats) -> Floats:
    recompute = plans.recompute[:, None]
    if practice.selective == SELECTIVE_HALF:
        selective = inputs + (one - inputs) / 2.0
    else:
        selective = one - scores / plans.tp[:, None]
    return np.where(recompute == Recompute.FULL, inputs, np.where(recompute == Recompute.SELECTIVE, selective, one))


def _constants(block: LayerActivations) -> dict[str, Floats]:
    return {part.name: np.asarray(getattr(block, part.name)) for part in fields(block)}


def _largest_layer(
    model: Transformer, sequence: int, plans: PlanTable, blocks: list[LayerActivations], split: Ints
) -> dict[str, Floats]:
    """Return the most that one layer of the model keeps of a token, and of gradients while it is differentiated."""
    tp = plans.tp[:, None]
    kept, transient = [], []
    for block in blocks:
        kept.append(_one_token(plans, sequence, _constants(block), split))
        transient.append((block.transient + block.transient_routed + block.routed_input) / tp)
    return {"kept": np.max(kept, axis=0), "transient": np.max(transient, axis=0)}
