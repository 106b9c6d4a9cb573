"""Every link has a cable of the catalogue, and the cable is long enough and works at its length."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gpufabric.records.cluster import UNKNOWN, Cluster
from gpufabric.records.cluster_spec import ClusterSpec
from gpufabric.records.findings import Finding
from gpufabric.records.link_kinds import link_kinds
from gpufabric.records.part_set import PartSet
from gpufabric.records.port_cages import cabled_lengths_m, port_modules
from gpufabric.units import counted, format_length

RULE = "cable-known-and-reaches"
_ROUNDING_M = 1e-6


def check(cluster: Cluster, parts: PartSet, spec: ClusterSpec) -> list[Finding]:
    """Return a remark for each kind of link without a cable part, and an error for each that is too long for its cable."""
    del spec
    kinds, names = link_kinds(cluster)
    known = _both_ends_known(cluster, parts)
    part = np.append(cluster.assemblies.part, UNKNOWN)[cluster.links.assembly]
    length, reach = cabled_lengths_m(cluster), _reach_m(cluster, parts)
    too_long = length > reach + _ROUNDING_M
    findings = []
    for code, name in enumerate(names):
        missing = np.flatnonzero((kinds == code) & known & (part == UNKNOWN))
        if len(missing):
            findings.append(_unknown(name, len(np.unique(cluster.links.assembly[missing]))))
        for number in np.unique(part[(kinds == code) & too_long]).tolist():
            rows = np.flatnonzero((kinds == code) & too_long & (part == number))
            worst = rows[np.argmax(length[rows] - reach[rows])]
            findings.append(
                _beyond_reach(
                    name, cluster.parts[number], len(rows), float(length[worst]), float(reach[worst])
                )
            )
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
        found=f"{counted(count, 'cable')} without a part",
        fix="add the cable or transceiver to a parts folder (parts: FOLDER), or name the connector of a generic part",
    )


def _reach_m(cluster: Cluster, parts: PartSet) -> NDArray[np.float64]:
    """Return the longest cable that works for each link: that of its cable and of the transceivers at both ends."""
    table = np.full(len(cluster.parts) + 1, np.inf)
    for index, part_id in enumerate(cluster.parts):
        part = parts.cables.get(part_id) or parts.transceivers.get(part_id)
        if part is not None and part.reach_m is not None:
            table[index] = part.reach_m
    links = cluster.links
    cable = np.append(cluster.assemblies.part, UNKNOWN)[links.assembly]
    ends = [table[port_modules(cluster, rows)] for rows in (links.port_a, links.port_b)]
    return np.asarray(np.minimum(table[cable], np.minimum(*ends)), np.float64)


def _beyond_reach(kind: str, part_id: str, count: int, length_m: float, reach_m: float) -> Finding:
    return Finding(
        RULE,
        "error",
        kind,
        f"{part_id} and its transceivers do not reach the far end of {counted(count, 'link')}",
        expected=f"at most {format_length(reach_m)}",
        found=f"up to {format_length(length_m)}",
        fix="choose another technology (cables: technology: fibre) or medium, or place the devices nearer",
    )
