"""Plans → how many layers the pipeline stages have, and how many of them compute their forward twice."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gpufabric.records.plan_table import PlanTable, Recompute
from gpufabric.records.transformer import Transformer

Array = NDArray[np.float64]


def stage_layers(model: Transformer, plans: PlanTable) -> Array:
    """Return the layers of the fullest stage: chunks are as equal as whole layers allow.

    Returns
    -------
    float64, shape (P,)
    """
    chunks = plans.pp * plans.virtual_stages
    return np.minimum(np.ceil(model.layers / chunks) * plans.virtual_stages, model.layers).astype(np.float64)


def end_layers(model: Transformer, plans: PlanTable) -> tuple[Array, Array]:
    """Return the layers of the first and of the last stage: what is missing is missing at the end, which has the head too."""
    most = stage_layers(model, plans)
    missing = most * plans.pp - model.layers
    last = np.maximum(most - missing, 0.0)
    first = np.where(plans.pp > 1, most - (missing - (most - last)), most)
    return np.maximum(first, 0.0), np.where(plans.pp > 1, last, most)


def repeated_share(model: Transformer, plans: PlanTable) -> Array:
    """Return the share of a stage's layers whose whole forward runs again before their backward."""
    most = stage_layers(model, plans)
    chosen = np.where(plans.recompute_layers < 0, most, np.minimum(plans.recompute_layers, most))
    return np.where(plans.recompute == Recompute.FULL, chosen / np.maximum(most, 1.0), 0.0)
