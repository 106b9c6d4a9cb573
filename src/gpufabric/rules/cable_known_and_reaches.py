"""Every link has a cable of the catalogue, and the cable is long enough and works at its length."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gpufabric.records.cluster import Cluster
from gpufabric.records.cluster_spec import ClusterSpec
from gpufabric.records.findings import Finding
from gpufabric.records.link_kinds import link_kinds
from gpufabric.records.part_set import PartSet
from gpufabric.units import format_length

RULE = "cable-known-and-reaches"


def check(cluster: Cluster, parts: PartSet, spec: ClusterSpec) -> list[Finding]:
    """Return a remark for each kind of link without a cable part, and an error for each that is too long for its cable."""
    del spec
    kinds, names = link_kinds(cluster)
    findings = []
    known = _both_ends_known(cluster, parts)
    for code, name in enumerate(names):
        rows = np.flatnonzero((kinds == code) & known)
        assembly = cluster.links.assembly[rows]
        for part in np.unique(cluster.assemblies.part[assembly]):
            mine = assembly[cluster.assemblies.part[assembly] == part]
            if part < 0:
                findings.append(_unknown(name, len(np.unique(mine))))
            else:
                findings += _reach(cluster, parts, name, cluster.parts[part], mine)
    return findings


def _both_ends_known(cluster: Cluster, parts: PartSet) -> NDArray[np.bool_]:
    """Whether both devices of each link are parts with known connectors; generic ones and managers often are not."""
    connectors = {i: [cage.connector for cage in part.cages] for i, part in parts.servers.items()}
    connectors |= {i: [cage.connector for cage in part.cages] for i, part in parts.switches.items()}
    known = [any(connectors.get(part_id, ())) for part_id in cluster.parts]
    known_device = np.array([*known, False], bool)[cluster.devices.part]
    both: NDArray[np.bool_] = known_device[cluster.link_device_a] & known_device[cluster.link_device_b]
    return both


def _unknown(kind: str, count: int) -> Finding:
    return Finding(
        RULE,
        "info",
        kind,
        "no cable of the catalogue fits the cages at both ends, so the bill of materials has these without a part",
        expected="a cable or transceivers for these connectors and this rate",
        found=f"{count:,} cables without a part",
        fix="add the cable or transceiver to a parts folder (parts: FOLDER), or name the connector of a generic part",
    )


def _reach(
    cluster: Cluster, parts: PartSet, kind: str, part_id: str, assemblies: NDArray[np.int32]
) -> list[Finding]:
    cable = parts.cables.get(part_id)
    lengths = cluster.assemblies.length_m[assemblies]
    longest = float(np.nanmax(lengths)) if np.isfinite(lengths).any() else float("nan")
    modules = (
        [parts.transceivers[p].reach_m for p in cluster.parts if p in parts.transceivers]
        if _is_fibre(cable)
        else []
    )
    reaches = [r for r in (cable.reach_m if cable else None, *modules) if r is not None]
    if not reaches or not longest > min(reaches):
        return []
    return [
        Finding(
            RULE,
            "error",
            kind,
            f"the longest {part_id} is longer than it reaches",
            expected=f"at most {format_length(min(reaches))}",
            found=format_length(longest),
            fix="choose another technology (cables: technology: fibre) or medium, or place the devices nearer",
        )
    ]


def _is_fibre(cable: object) -> bool:
    return getattr(cable, "technology", "") == "fibre"
