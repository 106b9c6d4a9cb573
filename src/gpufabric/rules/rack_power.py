"""The devices of a rack draw no more than its feeds carry."""

from __future__ import annotations

import numpy as np

from gpufabric.records.cluster import Cluster
from gpufabric.records.cluster_spec import ClusterSpec
from gpufabric.records.findings import Finding
from gpufabric.records.floor_plan import FloorPlan
from gpufabric.records.part_set import PartSet
from gpufabric.units import format_power

RULE = "rack-power"
_ROUNDING_W = 1e-6


def check(cluster: Cluster, parts: PartSet, spec: ClusterSpec, plan: FloorPlan) -> list[Finding]:
    """Return an error for each group of equally overloaded racks. What has no published power is not counted."""
    del cluster, parts, spec
    drawn, limit = plan.rack_power_w, plan.racks.power_w
    over = np.flatnonzero(drawn > limit + _ROUNDING_W)
    loads = np.stack([np.round(drawn[over], 3), limit[over]])
    kinds, group = np.unique(loads, axis=1, return_inverse=True)
    findings = []
    for index, (watts, allowed) in enumerate(kinds.T.tolist()):
        racks = over[group.ravel() == index]
        more = f" and {len(racks) - 1:,} more" if len(racks) > 1 else ""
        findings.append(
            Finding(
                RULE,
                "error",
                f"rack {plan.racks.names[racks[0]]}{more}",
                "the devices of the rack may draw more power than its feeds carry",
                expected=f"at most {format_power(allowed)}",
                found=format_power(watts),
                fix="put fewer servers into a rack (per_rack), or give the racks more power (room: rack_power)",
            )
        )
    return findings
