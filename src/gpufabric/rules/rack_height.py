"""The devices of a rack are no higher than the rack, and its rows fit the room."""

from __future__ import annotations

import numpy as np

from gpufabric.records.cluster import Cluster
from gpufabric.records.cluster_spec import ClusterSpec
from gpufabric.records.findings import Finding
from gpufabric.records.floor_plan import FloorPlan
from gpufabric.records.part_set import PartSet
from gpufabric.units import counted

RULE = "rack-height"


def check(cluster: Cluster, parts: PartSet, spec: ClusterSpec, plan: FloorPlan) -> list[Finding]:
    """Return an error when racks are too full, with the fullest as the example, and one when there are too many rows."""
    del cluster, parts, spec
    findings = []
    used = plan.rack_units_used
    over = np.flatnonzero(used > plan.racks.units)
    if len(over):
        fullest = int(over[np.argmax(used[over])])
        more = f" and {len(over) - 1:,} more" if len(over) > 1 else ""
        findings.append(
            Finding(
                RULE,
                "error",
                f"rack {plan.racks.names[fullest]}{more}",
                "the devices of the rack are higher than the rack",
                expected=f"at most {plan.racks.units[fullest]} U",
                found=f"{used[fullest]} U",
                fix="put fewer servers into a rack (per_rack), or choose higher racks (room: rack_units)",
            )
        )
    rows = int(plan.racks.row.max(initial=-1)) + 1
    if plan.rows_allowed is not None and rows > plan.rows_allowed:
        findings.append(
            Finding(
                RULE,
                "error",
                "room.rows",
                "the racks need more rows than the room has",
                expected=f"at most {counted(plan.rows_allowed, 'row')}",
                found=counted(rows, "row"),
                fix="give the room more rows or longer ones (room: rows, racks_per_row), or the racks more power",
            )
        )
    return findings
