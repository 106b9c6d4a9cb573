"""Communication and the compute beside it → what of it is exposed, and how much longer the compute gets."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gpufabric.records.demand import DemandTable, Purpose
from gpufabric.records.plan_table import PlanTable
from gpufabric.records.training_constants import ComputeConstants

Array = NDArray[np.float64]
PARTS = {
    "tensor": (Purpose.TENSOR,),
    "context": (Purpose.CONTEXT,),
    "expert": (Purpose.DISPATCH, Purpose.COMBINE),
    "pipeline": (Purpose.PIPELINE,),
    "gradients": (Purpose.GRADIENTS, Purpose.EXPERT_GRADIENTS, Purpose.EMBEDDING),
    "parameters": (Purpose.PARAMETERS, Purpose.EXPERT_PARAMETERS),
}
"""Purposes of demands by part of a step."""


def communication_by_part(demands: DemandTable, times: Array, plans: int) -> dict[str, Array]:
    """Sum the communication of the busiest GPU in one step, seconds by part, each of shape (P,).

    Parameters
    ----------
    demands : D rows
    times : float64, shape (D,)
        Of each once, by the closed form or priced on a fabric.
    plans
        P.
    """
    spent = demands.count * times
    return {
        part: _summed(demands, np.where(np.isin(demands.purpose, purposes), spent, 0.0), plans)
        for part, purposes in PARTS.items()
    }


def _summed(demands: DemandTable, spent: Array, plans: int) -> Array:
    return np.bincount(demands.plan, weights=spent, minlength=plans).astype(np.float64)


@dataclass(frozen=True, slots=True)
class Overlapped:
    """Seconds of one step, (P,): what is exposed by part, and what is hidden behind forward and behind backward."""

    exposed: dict[str, Array]
    behind_forward: Array
    behind_backward: Array


def hide_communication(
    plans: PlanTable,
    communication: dict[str, Array],
    compute: tuple[Array, Array],
    constants: ComputeConstants,
    repeated: Array,
) -> Overlapped:
    """Hide communication behind compute where the plan says so.

    Parameters
    ----------
    plans : P rows
    communication
        See :func:`communication_by_part`.
    compute
        Forward and backward of one micro-batch on one GPU, seconds, (P,).
    constants
    repeated : float64, shape (P,)
        Share of the layers whose forward runs twice.
    """
    forward, backward = compute
    rounds = plans.micro_batches.astype(np.float64)
    # Gradients wait for the last micro-batch unless every one's are reduced; parameters are needed by the first.
    sharded = np.where(plans.zero >= 2, rounds, 1.0)
    every = plans.zero == 3
    windows = {
        "tensor": (plans.overlap_tp, rounds * (forward + backward)),
        "context": (plans.overlap_cp, rounds * (forward + backward)),
        "expert": (plans.overlap_ep, rounds * (forward + backward)),
        "pipeline": (plans.overlap_pp, rounds * (forward + backward)),
        "gradients": (plans.overlap_dp, sharded * backward),
        "parameters": (plans.overlap_dp, np.where(every, rounds * (forward + backward), forward)),
    }
    exposed: dict[str, Array] = {}
    behind_forward, behind_backward = np.zeros(len(plans)), np.zeros(len(plans))
    for part, (chosen, window) in windows.items():
        spent = communication[part]
        beside = np.where(chosen, constants.hidden_share, 0.0)
        if part == "tensor" and constants.backward_tensor_hidden:
            beside = np.maximum(beside, _beside_weight_gradients(plans, repeated))
        hidden = np.minimum(beside * spent, window)
        exposed[part] = spent - hidden
        ahead = {"gradients": 0.0, "parameters": 1.0}.get(part, 1.0 / 3.0)
        behind_forward += ahead * hidden
        behind_backward += (1.0 - ahead) * hidden
    return Overlapped(exposed, behind_forward, behind_backward)


def _beside_weight_gradients(plans: PlanTable, repeated: Array) -> Array:
    """Share of tensor-parallel communication that nothing waits for: two steps of backward, or one without splitting."""
    passes = 1.0 + repeated
    return np.where(plans.sequence_parallel, 2.0 / (3.0 + 2.0 * passes), 1.0 / (1.0 + passes))
