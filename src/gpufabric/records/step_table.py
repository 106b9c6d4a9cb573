"""How long one training step takes, part by part, for every plan of a table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

STEP_PARTS = (
    "forward",
    "backward",
    "recompute",
    "bubble",
    "tensor",
    "context",
    "expert",
    "pipeline",
    "gradients",
    "parameters",
    "optimizer",
)
"""Parts of a step; those of communication are what is not hidden behind compute."""


@dataclass(frozen=True, slots=True)
class StepTable:
    """P steps.

    Attributes
    ----------
    step_time_s : float64, shape (P,)
    breakdown_s
        By the names of :data:`STEP_PARTS`, float64 (P,); they add up to the step. Compute and communication of layers are those
        of the busiest pipeline stage, over all micro-batches.
    hidden_s : float64, shape (P,)
        Communication of the busiest stage that runs behind compute.
    stage_forward_s, stage_backward_s : float64, shape (P,)
        Of the busiest stage and one micro-batch, with its exposed communication; backward includes recomputation.
    """

    step_time_s: NDArray[np.float64]
    breakdown_s: Mapping[str, NDArray[np.float64]]
    hidden_s: NDArray[np.float64]
    stage_forward_s: NDArray[np.float64]
    stage_backward_s: NDArray[np.float64]
