"""What a training plan asks of the network in one step, before anybody says what that costs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


class Purpose:
    """Values of ``DemandTable.purpose``: why bytes travel."""

    (
        TENSOR,
        CONTEXT,
        DISPATCH,
        COMBINE,
        PIPELINE,
        GRADIENTS,
        PARAMETERS,
        EXPERT_GRADIENTS,
        EXPERT_PARAMETERS,
        EMBEDDING,
    ) = range(10)
    NAMES = (
        "tensor parallel",
        "context parallel",
        "expert dispatch",
        "expert combine",
        "pipeline",
        "gradients",
        "parameters",
        "expert gradients",
        "expert parameters",
        "embedding gradients",
    )


OPS = ("all_reduce", "all_gather", "reduce_scatter", "all_to_all", "send_recv", "broadcast")
"""Names behind ``DemandTable.op``."""


@dataclass(frozen=True, slots=True)
class DemandTable:
    """D demands; all groups of one row do the same thing at the same time, one group for each set of ranks.

    Attributes
    ----------
    plan : int64
        Row of the plan in its table.
    purpose, op : int64
        Codes of :class:`Purpose`, indices into ``OPS``.
    size_bytes : float64
        Message, in the meaning of nccl-tests (all_gather: what each ends with; send_recv: what one sends).
    count : float64
        Times in one step that the busiest GPU takes part.
    size : int64, shape (D, 2)
        Ranks of a group: outer × inner extents; an extent of 1 is none.
    stride : int64, shape (D, 2)
        Distance in ranks between neighbours along each extent.
    spread : float64
        For all_to_all of experts: distinct other servers that a token's copies go to (mean); 0 where every peer gets its
        own bytes.
    copies : float64
        For all_to_all of experts: copies of one token that ``size_bytes`` holds, a server gets one of them; 0 elsewhere.
    """

    plan: NDArray[np.int64]
    purpose: NDArray[np.int64]
    op: NDArray[np.int64]
    size_bytes: NDArray[np.float64]
    count: NDArray[np.float64]
    size: NDArray[np.int64]
    stride: NDArray[np.int64]
    spread: NDArray[np.float64]
    copies: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.plan)
