"""Every port ends at most one link, and no link uses a port that is held in reserve."""

from __future__ import annotations

import numpy as np

from gpufabric.records.cluster import Cluster
from gpufabric.records.cluster_spec import ClusterSpec
from gpufabric.records.findings import Finding
from gpufabric.records.labels import port_labels
from gpufabric.records.part_set import PartSet
from gpufabric.units import counted

RULE = "port-used-once"


def check(cluster: Cluster, parts: PartSet, spec: ClusterSpec) -> list[Finding]:
    """Return an error for each port with several links, each reserved port with a link, and each lane assigned twice."""
    del parts, spec
    ports = cluster.ports
    used = np.bincount(np.concatenate([cluster.links.port_a, cluster.links.port_b]), minlength=len(ports))
    place = ports.device.astype(np.int64) << 32 | ports.cage.astype(np.int64) << 16 | ports.lane
    _, inverse, times = np.unique(place, return_inverse=True, return_counts=True)
    faults = [
        (used > 1, "the port ends more than one link", "give each link a port of its own"),
        (
            ports.reserved & (used > 0),
            "the port is held in reserve but has a link",
            "use a port that is not reserved",
        ),
        (
            times[inverse] > 1,
            "the cage and lane stand for more than one port",
            "number the ports of a cage apart",
        ),
    ]
    return [
        Finding(
            RULE,
            "error",
            label,
            message,
            expected="1 link",
            found=counted(used[row], "link"),
            fix=fix,
        )
        for bad, message, fix in faults
        for row, label in zip(np.flatnonzero(bad), port_labels(cluster, np.flatnonzero(bad)), strict=True)
    ]
