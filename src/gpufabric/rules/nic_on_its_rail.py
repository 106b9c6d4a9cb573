"""The port of a NIC is on the rail that the server's map says, and ends at a leaf of the same rail and plane."""

from __future__ import annotations

import numpy as np

from gpufabric.records.cluster import Cluster, DeviceKind
from gpufabric.records.cluster_spec import ClusterSpec
from gpufabric.records.findings import Finding
from gpufabric.records.labels import port_labels
from gpufabric.records.part_set import PartSet

RULE = "nic-on-its-rail"
SOURCE = "NVIDIA DGX SuperPOD reference architecture, DGX H100, network fabrics"


def check(cluster: Cluster, parts: PartSet, spec: ClusterSpec) -> list[Finding]:
    """Return an error for each server port that contradicts the server part's map, and each link that changes rail or plane."""
    del spec
    ports, links, devices = cluster.ports, cluster.links, cluster.devices
    wanted = _rails_of_map(cluster, parts)
    wrong = np.flatnonzero((wanted >= 0) & (ports.rail != wanted))
    findings = [
        Finding(
            RULE,
            "error",
            label,
            "the port is not on the rail that the server's map gives its cage and lane",
            expected=f"rail {wanted[row]}",
            found=f"rail {ports.rail[row]}",
            fix="move the cable to the leaf of the expected rail",
            source=SOURCE,
        )
        for row, label in zip(wrong, port_labels(cluster, wrong), strict=True)
    ]
    upper = devices.rail[ports.device[links.port_b]]
    crossed = (upper >= 0) & (ports.rail[links.port_a] >= 0) & (upper != ports.rail[links.port_a])
    planes = ports.plane[links.port_a] != ports.plane[links.port_b]
    rows = np.flatnonzero(crossed | planes)
    ends = [port_labels(cluster, port[rows]) for port in (links.port_a, links.port_b)]
    findings += [
        Finding(
            RULE,
            "error",
            near,
            "the link ends on a switch of another rail or plane",
            expected=f"rail {ports.rail[links.port_a[row]]}, plane {ports.plane[links.port_a[row]]}",
            found=f"rail {upper[row]}, plane {ports.plane[links.port_b[row]]} at {far}",
            fix="move the cable to the leaf of the expected rail and plane",
            source=SOURCE,
        )
        for row, near, far in zip(rows, *ends, strict=True)
    ]
    return findings


def _rails_of_map(cluster: Cluster, parts: PartSet) -> np.ndarray:
    """Rail of each port by its server's map; -1 where there is no map."""
    ports = cluster.ports
    wanted = np.full(len(ports), -1)
    part = cluster.devices.part[ports.device]
    on_server = np.isin(cluster.devices.kind[ports.device], (DeviceKind.SERVER, DeviceKind.STORAGE))
    for index, part_id in enumerate(cluster.parts):
        server = parts.servers.get(part_id)
        for nic in server.nics if server else ():
            for port in nic.ports:
                if port.rail is not None:
                    rows = on_server & (part == index) & (ports.cage == port.cage) & (ports.lane == port.lane)
                    wanted[rows] = port.rail
    return wanted
