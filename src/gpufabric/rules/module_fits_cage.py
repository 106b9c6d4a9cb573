"""Transceivers and cable plugs fit the cages they are in: finned or flat top, OSFP or QSFP.

Switch cages take finned OSFP; ConnectX-7 cards and DGX cages take flat-top OSFP or QSFP112 (NVIDIA MMA4Z00-NS product manual,
https://docs.nvidia.com/networking/display/800GMMA4Z00NS/Overview, read 2026-11).
"""

from __future__ import annotations

import numpy as np

from gpufabric.records.cluster import UNKNOWN, Cluster
from gpufabric.records.cluster_spec import ClusterSpec
from gpufabric.records.connectors import accepts
from gpufabric.records.findings import Finding
from gpufabric.records.labels import device_label, port_label
from gpufabric.records.part_set import PartSet
from gpufabric.records.parts import CablePart
from gpufabric.records.port_cages import cage_connectors

RULE = "module-fits-cage"
SOURCE = "NVIDIA MMA4Z00-NS, https://docs.nvidia.com/networking/display/800GMMA4Z00NS/Overview"
_PLUGS = frozenset({"cat6", "dac", "acc", "aoc"})


def check(cluster: Cluster, parts: PartSet, spec: ClusterSpec) -> list[Finding]:
    """Return an error for each kind of transceiver or cable plug that is in a cage of another connector."""
    del spec
    return _modules(cluster, parts) + _plugs(cluster, parts)


def _modules(cluster: Cluster, parts: PartSet) -> list[Finding]:
    modules = cluster.modules
    names, table = cage_connectors(cluster, parts)
    cage = table[cluster.devices.part[modules.device], modules.cage]
    findings = []
    for number in np.unique(modules.part[modules.part >= 0]).tolist():
        module = parts.transceivers.get(cluster.parts[number])
        if module is None:
            continue
        fits = np.array([accepts(name, module.connector) for name in names])
        wrong = np.flatnonzero((modules.part == number) & (cage > 0) & ~fits[cage])
        for code in np.unique(cage[wrong]).tolist():
            rows = wrong[cage[wrong] == code]
            where = f"{device_label(cluster, int(modules.device[rows[0]]))}, cage {modules.cage[rows[0]]}"
            findings.append(_finding(where, module.id, module.connector, names[code], len(rows)))
    return findings


def _plugs(cluster: Cluster, parts: PartSet) -> list[Finding]:
    links, ports = cluster.links, cluster.ports
    names, table = cage_connectors(cluster, parts)
    lower, upper = (
        table[cluster.devices.part[ports.device[rows]], ports.cage[rows]]
        for rows in (links.port_a, links.port_b)
    )
    part = np.append(cluster.assemblies.part, UNKNOWN)[links.assembly]
    findings = []
    key = (part.astype(np.int64) * len(names) + lower) * len(names) + upper
    for value, first in zip(*np.unique(key, return_index=True), strict=True):
        number, low, high = int(part[first]), int(lower[first]), int(upper[first])
        cable = parts.cables.get(cluster.parts[number]) if number >= 0 else None
        if cable is None or cable.technology not in _PLUGS or not low or not high:
            continue
        if not _joins(cable, names[low], names[high]):
            rows = np.flatnonzero(key == value)
            plugs = f"{cable.a_connector} to {cable.b_connector}"
            cages = f"{names[high]} to {names[low]}"
            where = port_label(cluster, int(links.port_a[rows[0]]))
            findings.append(_finding(where, cable.id, plugs, cages, len(rows)))
    return findings


def _joins(cable: CablePart, lower: str, upper: str) -> bool:
    a, b = cable.a_connector, cable.b_connector
    turned = accepts(lower, a) and accepts(upper, b)
    return (accepts(upper, a) and accepts(lower, b)) or (cable.b_ends == 1 and turned)


def _finding(where: str, part_id: str, plug: str, cage: str, count: int) -> Finding:
    return Finding(
        RULE,
        "error",
        where,
        f"{part_id} does not fit the cage that it is in ({count:,} times in the cluster)",
        expected=f"a plug for {cage}",
        found=plug,
        fix="order the variant for this cage: finned (IHS) for switches, flat-top (-FLT, RHS) for servers and cards",
        source=SOURCE,
    )
