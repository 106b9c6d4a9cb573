"""A cable whose length the description gives is as long as the way that it has to go."""

from __future__ import annotations

import numpy as np

from gpufabric.records.cluster import Cluster
from gpufabric.records.cluster_spec import ClusterSpec
from gpufabric.records.findings import Finding
from gpufabric.records.floor_plan import FloorPlan
from gpufabric.records.link_kinds import link_kinds
from gpufabric.records.part_set import PartSet
from gpufabric.records.port_cages import cabled_lengths_m
from gpufabric.units import counted, format_length

RULE = "cable-long-enough"
_ROUNDING_M = 1e-6


def check(cluster: Cluster, parts: PartSet, spec: ClusterSpec, plan: FloorPlan) -> list[Finding]:
    """Return an error for each kind of link with cables that are shorter than their ways in the floor plan."""
    del parts, spec
    if plan.lengths is None:
        return []
    kinds, names = link_kinds(cluster)
    length, needed = cabled_lengths_m(cluster), plan.lengths.total_m
    short = length < needed - _ROUNDING_M
    findings = []
    for code, name in enumerate(names):
        rows = np.flatnonzero(short & (kinds == code))
        if len(rows):
            worst = rows[np.argmax(needed[rows] - length[rows])]
            findings.append(
                Finding(
                    RULE,
                    "error",
                    name,
                    f"{counted(len(rows), 'cable')} shorter than the way from rack to rack",
                    expected=f"at least {format_length(round(float(needed[worst]), 1))}",
                    found=format_length(float(length[worst])),
                    fix="leave the length out, so that the floor plan decides, or give a longer one",
                )
            )
    return findings
