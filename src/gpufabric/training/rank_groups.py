"""Degrees and the order of axes → which ranks are one group: two extents with their strides."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gpufabric.records.plan_table import PlanTable

Whole = NDArray[np.int64]
Group = tuple[Whole, Whole]


@dataclass(frozen=True, slots=True)
class AxisGroups:
    """Groups by what they do: (size, stride), each int64 of shape (P, 2), outer extent before inner.

    ``shard`` are the ranks over which states are sharded and ``replica`` those that hold the same shard; ``expert`` share out
    experts, ``expert_tensor`` one expert, and ``expert_data`` hold the same part of the same experts. ``none`` is no group.
    """

    tensor: Group
    context: Group
    pipeline: Group
    shard: Group
    replica: Group
    expert: Group
    expert_tensor: Group
    expert_data: Group
    none: Group


def axis_groups(plans: PlanTable) -> AxisGroups:
    """Return the groups of each plan.

    Ranks are numbered along the axes of ``plans.order``, the first the fastest. Experts number the ranks of dp × cp × tp anew,
    expert tensor parallelism first, then expert parallelism.
    """
    one = np.ones(len(plans), np.int64)
    degree = {"tp": plans.tp, "cp": plans.cp, "dp": plans.dp, "pp": plans.pp}
    stride: dict[str, Whole] = {}
    passed = one
    for axis in (axis for axis in plans.order if axis != "ep"):
        stride[axis] = passed
        passed = passed * degree[axis]
    # Ranks of one stage that are numbered without a gap, and how many stages' worth a gap is.
    block, gap = stride["pp"], plans.pp
    copies = plans.dp * plans.cp
    shard = np.where(plans.zero > 0, np.clip(plans.shard, 1, copies), copies)
    inner, outer = ("cp", "dp") if stride_of(plans, "cp") < stride_of(plans, "dp") else ("dp", "cp")
    near = np.minimum(shard, degree[inner])
    far = np.maximum(shard // near, 1)
    rest_near, rest_far = degree[inner] // near, degree[outer] // far
    experts = plans.ep * plans.expert_tp
    members = np.maximum(plans.tp * copies // experts, 1)
    return AxisGroups(
        tensor=_group((one, plans.tp), (one, stride["tp"])),
        context=_group((one, plans.cp), (one, stride["cp"])),
        pipeline=_group((one, plans.pp), (one, stride["pp"])),
        shard=_group((far, near), (stride[outer], stride[inner])),
        replica=_group(
            (rest_far, rest_near),
            (stride[outer] * far, stride[inner] * near),
        ),
        expert=_numbered_anew(plans.ep, plans.expert_tp, block, gap),
        expert_tensor=_numbered_anew(plans.expert_tp, one, block, gap),
        expert_data=_numbered_anew(members, experts, block, gap),
        none=_group((one, one), (one, one)),
    )


def stride_of(plans: PlanTable, axis: str) -> int:
    """Return the place of an axis in the order; the smaller, the nearer its ranks."""
    return plans.order.index(axis)


def _group(size: tuple[Whole, Whole], stride: tuple[Whole, Whole]) -> Group:
    return np.stack(size, axis=1), np.stack(stride, axis=1)


def _numbered_anew(size: Whole, step: Whole, block: Whole, gap: Whole) -> Group:
    """Extents of ranks *step* apart in the numbering of one stage, whose blocks of ranks stand a gap apart."""
    room = np.maximum(np.where(gap > 1, block, size * step) // step, 1)
    inner = np.minimum(size, room)
    outer = np.maximum(size // inner, 1)
    # Where the blocks are shorter than a step, the first neighbour is in another one.
    jump = np.where((gap > 1) & (step >= block), step // np.maximum(block, 1) * block * gap, block * gap)
    near = np.where((gap > 1) & (step >= block), jump, step)
    return _group((outer, inner), (jump, near))
