"""No single device or cage holds up half of a fabric, or all network links of a server with several GPUs."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gpufabric.graphs.device_classes import device_classes
from gpufabric.graphs.fabric_links import FabricLinks, fabric_links
from gpufabric.graphs.usable_rates import switch_parts, usable_rates
from gpufabric.records.cluster import UNKNOWN, Cluster, DeviceKind
from gpufabric.records.cluster_spec import ClusterSpec
from gpufabric.records.findings import Finding
from gpufabric.records.labels import device_label
from gpufabric.records.part_set import PartSet

RULE = "single-point-of-failure"


def check(cluster: Cluster, parts: PartSet, spec: ClusterSpec) -> list[Finding]:
    """Return a warning for each kind of switch of which one cuts half of the GPUs off, and for servers behind one NIC or cage."""
    del parts
    purpose = {fabric.name: fabric.purpose for fabric in spec.fabrics}
    findings = []
    for index, fabric in enumerate(cluster.fabrics):
        links = fabric_links(cluster, index)
        if np.count_nonzero(links.gpus) < 2 or purpose.get(fabric.name) == "out-of-band":
            continue
        findings += _switches(cluster, fabric.name, links)
        if purpose.get(fabric.name) == "compute":
            findings += _attachments(cluster, fabric.name, links)
    return findings


def _switches(cluster: Cluster, fabric: str, links: FabricLinks) -> list[Finding]:
    classes = device_classes(links, cluster.devices.part)
    present = np.unique(np.concatenate([links.lower, links.upper]))
    switches = present[cluster.devices.kind[present] == DeviceKind.SWITCH]
    _, first, counts = np.unique(classes[switches], return_index=True, return_counts=True)
    component = switch_parts(links)
    all_gpus = float(links.gpus.sum())
    findings = []
    for at, count in zip(first.tolist(), counts.tolist(), strict=True):
        switch = int(switches[at])
        lost = (links.lower == switch) | (links.upper == switch)
        left = usable_rates(links, lost, component)
        off = float(links.gpus[(links.gpus > 0) & (left == 0)].sum())
        if 2 * off >= all_gpus:
            findings.append(
                Finding(
                    RULE,
                    "warning",
                    device_label(cluster, switch),
                    f'the loss of this switch cuts half of the GPUs of fabric "{fabric}" off, or more',
                    expected="every GPU keeps a part of its links",
                    found=f"{off:,.0f} of {all_gpus:,.0f} GPUs without any"
                    + (f"; so does each of {count} such switches" if count > 1 else ""),
                    fix="spread the links of a server over several switches (rails, planes, two leaves), with two spines or more",
                )
            )
    return findings


def _attachments(cluster: Cluster, fabric: str, links: FabricLinks) -> list[Finding]:
    ports, devices = cluster.ports, len(cluster.devices)
    port = np.concatenate([cluster.links.port_a[links.row], cluster.links.port_b[links.row]])
    port = port[links.gpus[ports.device[port]] > 0]
    several = links.gpus > 1
    findings = []
    for column, what in ((ports.nic, "NIC"), (ports.cage, "cage")):
        known = port[column[port] != UNKNOWN]
        sole = several & (_distinct(ports.device[known], column[known], devices) == 1)
        if sole.any():
            findings.append(_sole(cluster, fabric, what, np.flatnonzero(sole), links.gpus))
            break
    return findings


def _distinct(device: NDArray[np.int32], value: NDArray[np.int16], devices: int) -> NDArray[np.int64]:
    """Return how many different values each device has."""
    pairs = np.unique(device.astype(np.int64) << 16 | value)
    return np.bincount(pairs >> 16, minlength=devices).astype(np.int64)


def _sole(
    cluster: Cluster, fabric: str, what: str, servers: NDArray[np.intp], gpus: NDArray[np.float64]
) -> Finding:
    others = f", and {len(servers) - 1:,} more servers" if len(servers) > 1 else ""
    return Finding(
        RULE,
        "warning",
        f"{device_label(cluster, int(servers[0]))}{others}",
        f'several GPUs reach fabric "{fabric}" through one {what} only',
        expected=f"links through two {what}s or more",
        found=f"{float(gpus[servers].sum()):,.0f} GPUs that one lost {what} of their server cuts off",
        fix=f"connect another {what} of the server (servers: fabrics: names them)",
    )
