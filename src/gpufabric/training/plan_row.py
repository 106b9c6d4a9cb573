"""Values of one plan → a table of one row; several tables → one."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpufabric.records.plan_table import PipelineSchedule, PlanTable, Recompute

_UNSAID: dict[str, Any] = {
    "dp": 1,
    "tp": 1,
    "pp": 1,
    "cp": 1,
    "ep": 1,
    "expert_tp": 1,
    "micro_batch": 1,
    "micro_batches": 1,
    "virtual_stages": 1,
    "zero": 1,
    "schedule": PipelineSchedule.ONE_F_ONE_B,
    "recompute": Recompute.NONE,
    "recompute_layers": -1,
    "sequence_parallel": True,
    "overlap_dp": False,
    "overlap_tp": False,
    "overlap_pp": False,
    "overlap_cp": False,
    "overlap_ep": False,
    "offload_weights": 0.0,
    "offload_optimizer": 0.0,
    "offload_activations": 0.0,
}
COLUMNS = (*_UNSAID, "shard")


def one_plan(**values: float) -> PlanTable:
    """Return one plan as a table of one row.

    Parameters
    ----------
    **values
        Columns of the table. What is not said is 1, off or none; the optimizer is sharded (ZeRO-1), over all of dp × cp.
    """
    said = {**_UNSAID, **values}
    said.setdefault("shard", said["dp"] * said["cp"])
    columns: dict[str, Any] = {name: np.array([said[name]]) for name in COLUMNS}
    return PlanTable(**columns)


def plans_of(*tables: PlanTable) -> PlanTable:
    """Return the plans of several tables, which have the same order of axes, in one."""
    columns: dict[str, Any] = {
        name: np.concatenate([getattr(table, name) for table in tables]) for name in COLUMNS
    }
    return PlanTable(**columns, order=tables[0].order)
