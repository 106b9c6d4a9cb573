"""Model and plans → what one training step asks of the network: collectives of groups of ranks, how large and how often.

Counts are those of the busiest GPU. A group is all ranks that differ in the axes that it spans.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpufabric.records.demand import OPS, DemandTable, Purpose
from gpufabric.records.number_formats import BYTES_OF_FORMAT, NumberFormats
from gpufabric.records.plan_table import PipelineSchedule, PlanTable
from gpufabric.records.training_hardware import TrainingHardware
from gpufabric.records.transformer import Attention, Block, ExpertMixture, Transformer
from gpufabric.training.operations import ACTIVATION_BYTES
from gpufabric.training.parameters import block_parameters
from gpufabric.training.rank_groups import AxisGroups, axis_groups
from gpufabric.training.stages import repeated_share, stage_layers

Array = NDArray[np.float64]
_OP = {name: index for index, name in enumerate(OPS)}


@dataclass(slots=True)
class _Lister:
    plans: int
    columns: list[tuple[NDArray[Any], ...]] = field(default_factory=list)

    def add(
        self,
        purpose: int,
        op: str,
        amount: tuple[Array, Array],
        group: tuple[NDArray[np.int64], NDArray[np.int64]],
        copies: tuple[Array | float, float] = (0.0, 0.0),
    ) -> None:
        size_bytes, count = amount
        size, stride = group
        asked = (count > 0) & (size_bytes > 0) & (size.prod(axis=1) > 1)
        rows = np.flatnonzero(asked)
        if not len(rows):
            return
        spread = np.broadcast_to(copies[0], self.plans)
        self.columns.append(
            (
                rows,
                np.full(len(rows), purpose),
                np.full(len(rows), _OP[op]),
                size_bytes[rows],
                count[rows],
                size[rows],
                stride[rows],
                spread[rows],
                np.full(len(rows), copies[1]),
            )
        )

    def table(self) -> DemandTable:
        if not self.columns:
            none, pair = np.zeros(0), np.zeros((0, 2), np.int64)
            whole = none.astype(np.int64)
            return DemandTable(whole, whole, whole, none, none, pair, pair, none, none)
        joined = [np.concatenate(column) for column in zip(*self.columns, strict=True)]
        return DemandTable(*joined)


def plan_demands(
    model: Transformer,
    plans: PlanTable,
    formats: NumberFormats,
    sequence: int,
    hardware: TrainingHardware,
) -> DemandTable:
    """List what each plan asks of the network in one step.

    Parameters
    ----------
    model
    plans : P rows
    formats
    sequence
        Tokens of one sequence.
    hardware
        Of it: GPUs of a server and of a scale-up domain, for the copies of tokens that cross between them.
    """
    lister = _Lister(len(plans))
    groups = axis_groups(plans)
    layers = stage_layers(model, plans)
    tokens = plans.micro_batch * sequence / plans.cp
    state = tokens * model.hidden * ACTIVATION_BYTES
    again = 1.0 + repeated_share(model, plans)
    for run in model.runs:
        share = layers * run.count / model.layers * plans.micro_batches
        _list_layers(
            lister, run.block, model.hidden, plans, formats, (tokens, share, again, groups, hardware)
        )
    _list_pipeline(lister, plans, state, groups)
    _list_states(lister, model, plans, formats, layers, groups)
    return lister.table()


# Tokens of a micro-batch on one GPU, layers × micro-batches, forwards of each, groups, hardware.
_Around = tuple[Array, Array, Array, AxisGroups, TrainingHardware]


def _list_layers(
    lister: _Lister,
    block: Block,
    hidden: int,
    plans: PlanTable,
    formats: NumberFormats,
    around: _Around,
) -> None:
    tokens, share, again, groups, _ = around
    state = tokens * hidden * ACTIVATION_BYTES
    split = plans.sequence_parallel
    # Dense parts gather the tokens and scatter their sums, backward the other way round; without sequence parallelism they
    # are summed everywhere (Korthikanti et al. 2022, https://arxiv.org/abs/2205.05198, section 4.2).
    shared = block.experts is not None and block.experts.shared_width > 0
    parts = (block.mixer is not None) + (block.dense is not None) + shared
    whole = parts * share * (1 + again)
    lister.add(Purpose.TENSOR, "all_reduce", (state, np.where(split, 0.0, whole)), groups.tensor)
    # With it, the input is gathered once more for the weight gradients.
    lister.add(
        Purpose.TENSOR,
        "all_gather",
        (state, np.where(split, parts * share * (2 + again), 0.0)),
        groups.tensor,
    )
    lister.add(Purpose.TENSOR, "reduce_scatter", (state, np.where(split, whole, 0.0)), groups.tensor)
    if isinstance(block.mixer, Attention):
        _list_context(lister, block.mixer, plans, around)
    if block.experts is not None:
        _list_experts(lister, block.experts, hidden, plans, formats, around)


def _list_context(lister: _Lister, mixer: Attention, plans: PlanTable, around: _Around) -> None:
    # Keys and values go round the ring; backward they go round again with their gradients (Ring Attention,
    # https://arxiv.org/abs/2310.01889). What all of the group end up with is the message of an all_gather.
    tokens, share, again, groups, _ = around
    if mixer.kv_rank:
        wide = mixer.heads / plans.tp * (mixer.head_dim + mixer.value_head_dim)
    else:
        wide = np.maximum(mixer.kv_heads / plans.tp, 1.0) * (mixer.head_dim + mixer.value_head_dim)
    moved = tokens * plans.cp * wide * ACTIVATION_BYTES
    lister.add(Purpose.CONTEXT, "all_gather", (moved, share * (1 + again)), groups.context)
    lister.add(Purpose.CONTEXT, "reduce_scatter", (moved, share), groups.context)


def _list_experts(
    lister: _Lister,
    part: ExpertMixture,
    hidden: int,
    plans: PlanTable,
    formats: NumberFormats,
    around: _Around,
) -> None:
    tokens, share, again, groups, hardware = around
    own = tokens / plans.tp
    copies = own * part.active * (part.latent or hidden)
    servers = np.maximum(plans.ep * plans.expert_tp / hardware.gpus_per_domain, 1.0)
    spread = distinct_others(servers, part.active, part.node_limit)
    sent, returned = BYTES_OF_FORMAT[formats.dispatch], BYTES_OF_FORMAT[formats.combine]
    both = share * (1 + again)
    told = (spread, float(part.active))
    lister.add(Purpose.DISPATCH, "all_to_all", (copies * sent, both), groups.expert, told)
    lister.add(Purpose.COMBINE, "all_to_all", (copies * returned, both), groups.expert, told)
    gathered = copies * plans.expert_tp * ACTIVATION_BYTES
    lister.add(Purpose.TENSOR, "all_gather", (gathered, both), groups.expert_tensor)
    lister.add(Purpose.TENSOR, "reduce_scatter", (gathered, both), groups.expert_tensor)


def distinct_others(servers: Array, active: int, node_limit: int) -> Array:
    """Return the mean number of other servers that a token's copies go to, of *servers* that hold equal parts of the experts.

    Experts are taken to be chosen evenly, at most *node_limit* servers for a token (0: no limit; DeepSeek-V3,
    https://arxiv.org/abs/2412.19437, section 2.1.2).
    """
    hit = servers * (1.0 - (1.0 - 1.0 / servers) ** active)
    if node_limit:
        hit = np.minimum(hit, node_limit)
    return np.asarray(hit * (1.0 - 1.0 / servers))


def _list_pipeline(lister: _Lister, plans: PlanTable, state: Array, groups: AxisGroups) -> None:
    # Each tensor-parallel rank sends its own part: it has no other with sequence parallelism, and without it the parts are
    # gathered over NVLink behind (Narayanan et al. 2021, https://arxiv.org/abs/2104.04473, section 4.1).
    sent = state / plans.tp
    neighbours = np.minimum(groups.pipeline[0], 2)
    chunks = np.where(plans.schedule == PipelineSchedule.DUALPIPE, 2, plans.virtual_stages)
    crossings = np.where(plans.pp > 1, 2.0 * plans.micro_batches * chunks, 0.0)
    lister.add(Purpose.PIPELINE, "send_recv", (sent, crossings), (neighbours, groups.pipeline[1]))


def _list_states(
    lister: _Lister,
    model: Transformer,
    plans: PlanTable,
    formats: NumberFormats,
    layers: Array,
    groups: AxisGroups,
) -> None:
    """List gradients and parameters: what replicas sum, and what sharded ones gather."""
    dense, experts = stage_parameters(model, plans, layers)
    reduced, weights = BYTES_OF_FORMAT[formats.reduction], BYTES_OF_FORMAT[formats.weights]
    # ZeRO-2 and -3 keep no gradients whole, so they reduce every micro-batch's (https://arxiv.org/abs/1910.02054, section 7).
    rounds = np.where(plans.zero >= 2, plans.micro_batches, 1).astype(np.float64)
    pieces = np.where(plans.zero == 3, np.maximum(layers, 1.0), 1.0)
    kinds = (
        (dense, (Purpose.GRADIENTS, Purpose.PARAMETERS), groups.shard, groups.replica),
        (
            experts,
            (Purpose.EXPERT_GRADIENTS, Purpose.EXPERT_PARAMETERS),
            groups.expert_data,
            groups.none,
        ),
    )
    whole, gathered = plans.zero == 0, plans.zero >= 1
    for parameters, (gradient, parameter), shard, replica in kinds:
        size = parameters / pieces
        sharded = np.where(gathered, rounds * pieces, 0.0)
        lister.add(gradient, "all_reduce", (size * reduced, np.where(whole, 1.0, 0.0)), shard)
        lister.add(gradient, "reduce_scatter", (size * reduced, sharded), shard)
        across = size * reduced / np.maximum(shard[0].prod(axis=1), 1)
        lister.add(gradient, "all_reduce", (across, sharded), replica)
        times = np.where(plans.zero == 3, 2.0 * rounds * pieces, gathered * 1.0)
        lister.add(parameter, "all_gather", (size * weights, times), shard)
    tied = model.tied_embeddings & (plans.pp > 1)
    ends = (np.minimum(groups.pipeline[0], 2), groups.pipeline[1] * np.maximum(plans.pp - 1, 1)[:, None])
    table = model.vocabulary * model.hidden / plans.tp * reduced
    lister.add(Purpose.EMBEDDING, "all_reduce", (np.asarray(table), np.where(tied, 1.0, 0.0)), ends)


def stage_parameters(model: Transformer, plans: PlanTable, layers: Array) -> tuple[Array, Array]:
    """Return parameters on one GPU of a stage of *layers* mean layers: those of everything but experts, and those of experts."""
    dense = np.zeros(len(plans))
    experts = np.zeros(len(plans))
    for run in model.runs:
        counted = block_parameters(run.block, model.hidden)
        here = layers * run.count / model.layers
        dense += here * (counted.total - counted.experts - counted.router - counted.norms) / plans.tp
        dense += here * (counted.router + counted.norms)
        experts += here * counted.experts / (plans.ep * plans.expert_tp)
    ends = model.vocabulary * model.hidden * (1 if model.tied_embeddings else 2) / plans.tp
    # With several stages, the first has the embedding and the last the head.
    dense += np.where(plans.pp > 1, ends / np.where(model.tied_embeddings, 1, 2), ends)
    return dense, experts
