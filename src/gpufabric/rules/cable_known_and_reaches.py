"""Every link has a cable of the catalogue, and the cable is long enough and works at its length."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gpufabric.records.cluster import UNKNOWN, Cluster
from gpufabric.records.cluster_spec import ClusterSpec
from gpufabric.records.findings import Finding
from gpufabric.records.link_kinds import link_kinds
from gpufabric.records.part_set import PartSet
from gpufabric.records.port_cages import cabled_lengths_m, cage_connectors, port_modules
from gpufabric.units import counted, format_length

RULE = "cable-known-and-reaches"
_ROUNDING_M = 1e-6


def check(cluster: Cluster, parts: PartSet, spec: ClusterSpec) -> list[Finding]:
    """Return what is wrong with the cables of each kind of link: none that fits, ends that no cable joins, too long."""
    del spec
    kinds, names = link_kinds(cluster)
    known, unmatable = _ends(cluster, parts)
    part = np.append(cluster.assemblies.part, UNKNOWN)[cluster.links.assembly]
    length, reach = cabled_lengths_m(cluster), _reach_m(cluster, parts)
    too_long = length > reach + _ROUNDING_M
    findings = []
    for code, name in enumerate(names):
        missing = (kinds == code) & known & (part == UNKNOWN)
        for bad, finding in ((missing & unmatable, _unmatable), (missing & ~unmatable, _unknown)):
            if bad.any():
                findings.append(finding(name, len(np.unique(cluster.links.assembly[bad]))))
        for number in np.unique(part[(kinds == code) & too_long]).tolist():
            rows = np.flatnonzero((kinds == code) & too_long & (part == number))
            worst = rows[np.argmax(length[rows] - reach[rows])]
            findings.append(
                _beyond_reach(
                    name, cluster.parts[number], len(rows), float(length[worst]), float(reach[worst])
                )
            )
    return findings


def _ends(cluster: Cluster, parts: PartSet) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return for each link whether both connectors are known, and whether only one of the two is a twisted-pair socket."""
    names, table = cage_connectors(cluster, parts)
    ports, links = cluster.ports, cluster.links
    connector = table[cluster.devices.part[ports.device], ports.cage]
    ends = connector[links.port_a], connector[links.port_b]
    twisted = names.index("rj45") if "rj45" in names else UNKNOWN
    known = (ends[0] != 0) & (ends[1] != 0)
    return known, known & ((ends[0] == twisted) != (ends[1] == twisted))


def _unmatable(kind: str, count: int) -> Finding:
    return Finding(
        RULE,
        "error",
        kind,
        "one end is an RJ45 socket and the other a cage for modules: no cable joins them",
        expected="cages for modules at both ends, or RJ45 at both",
        found=f"{count:,} links between RJ45 and a module cage",
        fix="choose a switch with cages for these NICs",
    )


def _unknown(kind: str, count: int) -> Finding:
    return Finding(
        RULE,
        "warning",
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
