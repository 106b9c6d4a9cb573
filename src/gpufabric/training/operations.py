"""Model and plans → what one GPU computes for one micro-batch, operation by operation.

Arrays have O rows, one an operation, and P columns, one a plan. Products are m × n × k (2·m·n·k operations), as many at once as
``groups`` says; attention is a product over the pairs of tokens that a causal mask leaves.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from gpufabric.records.number_formats import BYTES_OF_FORMAT, NumberFormats
from gpufabric.records.plan_table import PlanTable
from gpufabric.records.transformer import (
    Attention,
    Block,
    ExpertMixture,
    FeedForward,
    StateSpace,
    Transformer,
)

Array = NDArray[np.float64]
ACTIVATION_BYTES = BYTES_OF_FORMAT["bf16"]
SCAN_CHUNK = 256.0
"""Tokens of a chunk of a state-space scan."""
_FP32 = BYTES_OF_FORMAT["fp32"]


class OperationKind:
    """Values of ``OperationTable.kind``.

    ``WIDE_GEMM`` stays in 16 bits whatever the format of products is; ``PAIRS`` too, and has no weights.
    """

    GEMM, WIDE_GEMM, GROUPED_GEMM, PAIRS, ATTENTION, MEMORY = range(6)


@dataclass(frozen=True, slots=True)
class OperationTable:
    """What one GPU does.

    Attributes
    ----------
    kind : int64, shape (O,)
    place : int64, shape (O,)
        Run of layers it belongs to; R: the prediction modules, R + 1: head and loss, R + 2: embedding.
    m, n, k, groups : float64, shape (O, P)
        Of products; 0 for operations that only move bytes.
    forward_bytes, backward_bytes : float64, shape (O, P)
        Moved through memory by what is no product.
    core : bool, shape (O,)
        The core of attention, which selective recomputation repeats.
    kernels : float64, shape (O,)
        Launched forward.
    places : int
    """

    kind: NDArray[np.int64]
    place: NDArray[np.int64]
    m: Array
    n: Array
    k: Array
    groups: Array
    forward_bytes: Array
    backward_bytes: Array
    core: NDArray[np.bool_]
    kernels: Array
    places: int


@dataclass(slots=True)
class _Lister:
    """Collects rows; a scalar stands for all plans."""

    plans: int
    kinds: list[int] = field(default_factory=list)
    place: list[int] = field(default_factory=list)
    rows: list[Array | float] = field(default_factory=list)
    core: list[bool] = field(default_factory=list)
    kernels: list[float] = field(default_factory=list)
    at: int = 0

    def product(
        self,
        m: Array | float,
        n: Array | float,
        k: Array | float,
        kind: int = 0,
        groups: Array | float = 1.0,
        core: bool = False,
    ) -> None:
        self._add(kind, (m, n, k, groups, 0.0, 0.0), core, 1.0)

    def attend(self, m: Array | float, n: Array | float, k: Array | float) -> None:
        self._add(OperationKind.ATTENTION, (m, n, k, 1.0, 0.0, 0.0), True, 1.0)

    def move(
        self,
        forward: Array | float,
        backward: Array | float,
        core: bool = False,
        kernels: float = 1.0,
    ) -> None:
        self._add(OperationKind.MEMORY, (0.0, 0.0, 0.0, 0.0, forward, backward), core, kernels)

    def _add(self, kind: int, row: tuple[Array | float, ...], core: bool, kernels: float) -> None:
        self.kinds.append(kind)
        self.place.append(self.at)
        self.rows.extend(row)
        self.core.append(core)
        self.kernels.append(kernels)

    def table(self, places: int) -> OperationTable:
        cells = np.empty((len(self.kinds), 6, self.plans))
        for index, row in enumerate(self.rows):
            cells[index // 6, index % 6] = row
        return OperationTable(
            np.array(self.kinds, np.int64),
            np.array(self.place, np.int64),
            m=cells[:, 0],
            n=cells[:, 1],
            k=cells[:, 2],
            groups=cells[:, 3],
            forward_bytes=cells[:, 4],
            backward_bytes=cells[:, 5],
            core=np.array(self.core),
            kernels=np.array(self.kernels),
            places=places,
        )


def list_operations(
    model: Transformer, plans: PlanTable, sequence: int, flash_attention: bool = True
) -> OperationTable:
    """List what one GPU computes for one micro-batch, had it every layer of the model.

    Parameters
    ----------
    model
    plans : P rows
    sequence
        Tokens of one sequence.
    flash_attention
        Attention is one kernel that keeps scores on the chip; otherwise scores are written, masked, normalised, dropped and read.
    """
    lister = _Lister(len(plans))
    tokens = plans.micro_batch * sequence / plans.cp
    # Between the parts that tensor parallelism splits, sequence parallelism splits the tokens.
    thin = tokens / np.where(plans.sequence_parallel, plans.tp, 1)
    for place, run in enumerate(model.runs):
        lister.at = place
        _list_block(lister, run.block, model.hidden, plans, (tokens, thin), sequence, flash_attention)
    lister.at = len(model.runs)
    for block in model.prediction_blocks:
        _list_block(lister, block, model.hidden, plans, (tokens, thin), sequence, flash_attention)
        lister.product(tokens, model.hidden / plans.tp, 2.0 * model.hidden)
    lister.at += 1
    for _ in range(1 + len(model.prediction_blocks)):
        _list_head(lister, model, plans, tokens)
    lister.at += 1
    lister.move(
        2 * thin * model.hidden * ACTIVATION_BYTES, 2 * thin * model.hidden * ACTIVATION_BYTES, kernels=2
    )
    return lister.table(len(model.runs) + 3)


def _list_head(lister: _Lister, model: Transformer, plans: PlanTable, tokens: Array) -> None:
    logits = tokens * model.vocabulary / plans.tp
    lister.product(tokens, model.vocabulary / plans.tp, float(model.hidden), OperationKind.WIDE_GEMM)
    # Logits become 32 bits wide and are read for the maximum and the sum; their gradient is written and narrowed.
    lister.move(
        logits * (ACTIVATION_BYTES + 3 * _FP32), logits * (2 * _FP32 + 2 * ACTIVATION_BYTES), kernels=4
    )


def _list_block(
    lister: _Lister,
    block: Block,
    hidden: int,
    plans: PlanTable,
    tokens: tuple[Array, Array],
    sequence: int,
    flash: bool,
) -> None:
    _, thin = tokens
    # A norm reads and writes the state; the residual reads two and writes one.
    passes = block.norms * (2 + 3) * thin * hidden * ACTIVATION_BYTES
    if block.norms:
        lister.move(passes, 1.4 * passes, kernels=2.0 * block.norms)
    if isinstance(block.mixer, Attention):
        _list_attention(lister, block.mixer, hidden, plans, tokens[0], sequence, flash)
    elif block.mixer is not None:
        _list_state_space(lister, block.mixer, hidden, plans, tokens[0])
    if block.dense is not None:
        _list_feed_forward(lister, block.dense, hidden, plans.tp, tokens[0])
    if block.experts is not None:
        _list_experts(lister, block.experts, hidden, plans, tokens)


def _list_attention(
    lister: _Lister,
    mixer: Attention,
    hidden: int,
    plans: PlanTable,
    tokens: Array,
    sequence: int,
    flash: bool,
) -> None:
    heads = mixer.heads / plans.tp
    if mixer.kv_rank:
        query = heads * mixer.head_dim
        if mixer.q_rank:
            lister.product(tokens, float(mixer.q_rank), float(hidden))
        lister.product(tokens, query, float(mixer.q_rank or hidden))
        lister.product(tokens, float(mixer.kv_rank + mixer.rope_head_dim), float(hidden))
        opened = heads * (mixer.head_dim - mixer.rope_head_dim + mixer.value_head_dim)
        lister.product(tokens, opened, float(mixer.kv_rank))
        wide = 2 * query + heads * mixer.value_head_dim
    else:
        keys = np.maximum(mixer.kv_heads / plans.tp, 1.0)
        wide = heads * mixer.head_dim + keys * (mixer.head_dim + mixer.value_head_dim)
        lister.product(tokens, wide, float(hidden))
    turned = 2 * tokens * wide * ACTIVATION_BYTES
    lister.move(turned, turned, kernels=2.0)
    window = min(mixer.window or sequence, sequence)
    depth = float(mixer.head_dim + mixer.value_head_dim)
    if flash:
        lister.attend(tokens * heads, np.float64(window * (1.0 - window / (2.0 * sequence))), depth)
    else:
        # All pairs are multiplied; scores are written, scaled and masked with the softmax, dropped (with a byte of mask), read.
        each, many = sequence / plans.cp, heads * plans.micro_batch
        pairs = OperationKind.PAIRS
        lister.product(each, float(sequence), float(mixer.head_dim), pairs, many, core=True)
        lister.product(each, float(mixer.value_head_dim), float(sequence), pairs, many, core=True)
        scores = tokens * heads * sequence
        lister.move(
            scores * (6 * ACTIVATION_BYTES + 1), scores * (8 * ACTIVATION_BYTES + 1), core=True, kernels=3.0
        )
    lister.product(tokens, float(hidden), heads * mixer.value_head_dim)


def _list_state_space(
    lister: _Lister, mixer: StateSpace, hidden: int, plans: PlanTable, tokens: Array
) -> None:
    inner = mixer.heads * mixer.head_dim / plans.tp
    mixed = 2.0 * mixer.groups * mixer.state
    lister.product(tokens, 2 * inner + mixed + mixer.heads / plans.tp, float(hidden))
    convolved = tokens * (inner + mixed) * ACTIVATION_BYTES
    lister.move(4 * convolved, 6 * convolved, kernels=3.0)
    # The scan by chunks (Mamba-2, https://arxiv.org/abs/2405.21060, section 6): half of the pairs inside a chunk as in attention,
    # and states that are made and read; five kernels read their inputs, the last gates and normalises.
    chunks = tokens / SCAN_CHUNK * mixer.heads / plans.tp
    channels, state = float(mixer.head_dim), float(mixer.state)
    for n, k in ((channels, SCAN_CHUNK / 2), (state, SCAN_CHUNK / 2), (channels, state), (channels, state)):
        lister.product(SCAN_CHUNK, n, k, OperationKind.PAIRS, chunks, core=False)
    scanned = tokens * inner * ACTIVATION_BYTES
    lister.move(12 * scanned, 24 * scanned, kernels=6.0)
    lister.product(tokens, float(hidden), inner)


def _list_feed_forward(
    lister: _Lister, part: FeedForward, hidden: int, split: NDArray[np.int64], tokens: Array
) -> None:
    width = part.width / split
    into = 2 if part.gated else 1
    lister.product(tokens, into * width, float(hidden))
    acted = tokens * width * ACTIVATION_BYTES
    lister.move((into + 1) * acted, (2 * into + 1) * acted)
    lister.product(tokens, float(hidden), width)


def _list_experts(
    lister: _Lister,
    part: ExpertMixture,
    hidden: int,
    plans: PlanTable,
    tokens: tuple[Array, Array],
) -> None:
    own = tokens[0] / plans.tp
    inside = float(part.latent or hidden)
    lister.product(own, float(part.count), float(hidden), OperationKind.WIDE_GEMM)
    lister.move(own * part.count * 4 * _FP32, own * part.count * 4 * _FP32, kernels=12.0)
    if part.latent:
        lister.product(own, inside, float(hidden))
        lister.product(own, float(hidden), inside)
    copies = own * part.active * plans.expert_tp
    # Copies are gathered by expert before the products and summed by token after: read and written both times.
    permuted = 4 * copies * inside * ACTIVATION_BYTES
    lister.move(permuted, permuted, kernels=8.0)
    local = np.maximum(part.count / plans.ep, 1.0)
    width = part.width / plans.expert_tp
    into = 2 if part.gated else 1
    grouped = OperationKind.GROUPED_GEMM
    lister.product(copies / local, into * width, inside, grouped, local)
    acted = copies * width * ACTIVATION_BYTES
    lister.move((into + 1) * acted, (2 * into + 1) * acted)
    lister.product(copies / local, inside + 0 * width, width, grouped, local)
    if part.shared_width:
        _list_feed_forward(lister, FeedForward(part.shared_width, part.gated), hidden, plans.tp, tokens[0])


def weight_bytes_moved(formats: NumberFormats, zero: NDArray[np.int64]) -> Array:
    """Return the bytes that the optimizer moves for one parameter: gradient and states read, states and weight written."""
    states = {"adamw": 2, "adam": 2, "lion": 1, "momentum": 1, "muon": 1, "adafactor": 0, "sgd": 0}[
        formats.optimizer
    ]
    master = BYTES_OF_FORMAT[formats.master_weights or formats.weights]
    moved = (
        2 * BYTES_OF_FORMAT[formats.gradients]
        + 2 * states * BYTES_OF_FORMAT[formats.states]
        + 2 * master
        + BYTES_OF_FORMAT[formats.weights]
    )
    return np.full(len(zero), moved)
