"""Both ends of a link run at its rate, and the ports of a cage are a split that the part offers."""

from __future__ import annotations

import numpy as np

from gpufabric.records.cluster import MANAGEMENT_CAGE, Cluster, DeviceKind
from gpufabric.records.cluster_spec import ClusterSpec
from gpufabric.records.findings import Finding
from gpufabric.records.labels import port_labels
from gpufabric.records.part_set import PartSet
from gpufabric.records.parts import SwitchPart
from gpufabric.units import counted, format_gbps

RULE = "rate-fits-cage"


def check(cluster: Cluster, parts: PartSet, spec: ClusterSpec) -> list[Finding]:
    """Return an error for each link whose ends differ in rate and each port that its cage can't offer."""
    del spec
    ports, links = cluster.ports, cluster.links
    wrong = [
        (end, np.flatnonzero(~np.isclose(ports.bytes_per_s[end], links.bytes_per_s)))
        for end in (links.port_a, links.port_b)
    ]
    findings = [
        Finding(
            RULE,
            "error",
            label,
            "the port does not run at the rate of its link",
            expected=format_gbps(float(links.bytes_per_s[row])),
            found=format_gbps(float(ports.bytes_per_s[end[row]])),
            fix="set both ends to one rate, or change the split of the cage",
        )
        for end, rows in wrong
        for row, label in zip(rows, port_labels(cluster, end[rows]), strict=True)
    ]
    return findings + _cages(cluster, parts)


def _cages(cluster: Cluster, parts: PartSet) -> list[Finding]:
    ports = cluster.ports
    on_switch = cluster.devices.kind[ports.device] == DeviceKind.SWITCH
    part = cluster.devices.part[ports.device]
    findings = []
    for index, part_id in enumerate(cluster.parts):
        switch = parts.switches.get(part_id)
        if switch is None:
            continue
        rows = np.flatnonzero(on_switch & (part == index))
        findings += _cages_of_switch(cluster, switch, rows)
    return findings


def _cages_of_switch(cluster: Cluster, switch: SwitchPart, rows: np.ndarray) -> list[Finding]:
    ports = cluster.ports
    split, rate = ports.lanes_in_cage[rows], np.round(ports.bytes_per_s[rows]).astype(np.int64)
    cage = ports.cage[rows]
    # The switch's own management port is no cage of the fabric.
    fits = cage == MANAGEMENT_CAGE
    offered: list[str] = []
    first = 1
    for group in switch.cages:
        if group.purpose == "fabric":
            inside = (cage >= first) & (cage < first + group.count) & (ports.lane[rows] <= split)
            for mode in group.modes:
                fits |= inside & (split == mode.ports) & (rate == round(mode.port_bytes_per_s))
            modes = (f"{m.ports} × {format_gbps(m.port_bytes_per_s)}" for m in group.modes)
            offered.append(f"{' or '.join(modes)} in {counted(group.count, 'cage')} from {first} on")
        first += group.count
    wrong = np.flatnonzero(~fits)
    return [
        Finding(
            RULE,
            "error",
            label,
            f"{switch.id} does not offer this port",
            expected="; ".join(offered),
            found=f"cage {cage[i]}, lane {ports.lane[rows[i]]} of {split[i]} at {format_gbps(float(rate[i]))}",
            fix="choose a split that the switch offers",
        )
        for i, label in zip(wrong, port_labels(cluster, rows[wrong]), strict=True)
    ]
