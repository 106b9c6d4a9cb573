"""Training plans as columns: one row a plan, so that tens of thousands are costed by the same array arithmetic as one."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray


class PipelineSchedule:
    """Values of ``PlanTable.schedule``."""

    GPIPE, ONE_F_ONE_B, INTERLEAVED, ZERO_BUBBLE, DUALPIPE = range(5)
    NAMES = ("gpipe", "1f1b", "interleaved", "zero-bubble", "dualpipe")


class Recompute:
    """Values of ``PlanTable.recompute``."""

    NONE, SELECTIVE, FULL = range(3)
    NAMES = ("none", "selective", "full")


AXES = ("tp", "cp", "ep", "dp", "pp")
"""Axes of a plan; ``PlanTable.order`` names them, fastest-changing rank first. Experts share the ranks of dp × cp × tp."""


@dataclass(frozen=True, slots=True)
class PlanTable:
    """P plans for one model on one kind of cluster; every array has P rows.

    Attributes
    ----------
    dp, tp, pp, cp, ep, expert_tp : int64
        Degrees; gpus = dp × tp × pp × cp. Experts are laid over dp × cp × tp: ep × expert_tp divides it.
    micro_batch, micro_batches : int64
        Sequences of one micro-batch of one replica, and micro-batches of one replica in a step:
        global batch = dp × micro_batch × micro_batches.
    virtual_stages : int64
        Model chunks of one pipeline stage, 1 where not interleaved.
    zero : int64
        ZeRO stage 0 to 3 (3: FSDP).
    shard : int64
        Ranks over which states are sharded; divides dp × cp.
    schedule, recompute : int64
        Codes of :class:`PipelineSchedule` and :class:`Recompute`.
    recompute_layers : int64
        Layers of a stage that recompute; -1: all.
    sequence_parallel, overlap_dp, overlap_tp, overlap_pp, overlap_cp, overlap_ep : bool
    offload_weights, offload_optimizer, offload_activations : float64
        Shares kept in the server's memory.
    order
        Axes, fastest-changing rank first; the same for all rows.
    """

    dp: NDArray[np.int64]
    tp: NDArray[np.int64]
    pp: NDArray[np.int64]
    cp: NDArray[np.int64]
    ep: NDArray[np.int64]
    expert_tp: NDArray[np.int64]
    micro_batch: NDArray[np.int64]
    micro_batches: NDArray[np.int64]
    virtual_stages: NDArray[np.int64]
    zero: NDArray[np.int64]
    shard: NDArray[np.int64]
    schedule: NDArray[np.int64]
    recompute: NDArray[np.int64]
    recompute_layers: NDArray[np.int64]
    sequence_parallel: NDArray[np.bool_]
    overlap_dp: NDArray[np.bool_]
    overlap_tp: NDArray[np.bool_]
    overlap_pp: NDArray[np.bool_]
    overlap_cp: NDArray[np.bool_]
    overlap_ep: NDArray[np.bool_]
    offload_weights: NDArray[np.float64]
    offload_optimizer: NDArray[np.float64]
    offload_activations: NDArray[np.float64]
    order: tuple[str, ...] = ("tp", "cp", "ep", "dp", "pp")

    def __len__(self) -> int:
        return len(self.dp)

    @property
    def gpus(self) -> NDArray[np.int64]:
        """GPUs of each plan."""
        return self.dp * self.tp * self.pp * self.cp

    def take(self, rows: NDArray[Any] | slice) -> PlanTable:
        """Return the plans of *rows*: indices, a mask or a slice."""
        columns = {f.name: getattr(self, f.name)[rows] for f in fields(self) if f.name != "order"}
        return replace(self, **columns)
