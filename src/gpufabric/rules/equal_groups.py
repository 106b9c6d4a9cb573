"""Every switch has equally many links to each of the switches above that it reaches.

OpenSM's fat-tree engine needs the same number of ports in every group of a rank, and ECMP balances best over equal groups
(linux-rdma/opensm, doc/current-routing.txt). Links between switches of one tier (dragonfly, torus, two joined switches) are
none of these.
"""

from __future__ import annotations

import numpy as np

from gpufabric.records.cluster import Cluster, DeviceKind, Role
from gpufabric.records.cluster_spec import ClusterSpec
from gpufabric.records.findings import Finding
from gpufabric.records.labels import device_label
from gpufabric.records.part_set import PartSet
from gpufabric.records.tiers import joins_fabrics

RULE = "equal-groups"
SOURCE = "linux-rdma/opensm, doc/current-routing.txt, https://github.com/linux-rdma/opensm"


def check(cluster: Cluster, parts: PartSet, spec: ClusterSpec) -> list[Finding]:
    """Return one finding for each fabric and tier with unequal groups: an error on InfiniBand, a warning on Ethernet."""
    del parts, spec
    devices = cluster.devices
    lower, upper = cluster.link_device_a, cluster.link_device_b
    between = (devices.kind[lower] == DeviceKind.SWITCH) & (devices.kind[upper] == DeviceKind.SWITCH)
    between &= (devices.role[lower] != devices.role[upper]) & ~joins_fabrics(cluster)
    pairs, links = np.unique(np.stack([lower[between], upper[between]], axis=1), axis=0, return_counts=True)
    findings = []
    tier = devices.role[pairs[:, 0]].astype(np.int64) if len(pairs) else np.empty(0, np.int64)
    fabric = devices.fabric[pairs[:, 0]].astype(np.int64) if len(pairs) else np.empty(0, np.int64)
    for key in np.unique(fabric * 10 + tier):
        rows = np.flatnonzero(fabric * 10 + tier == key)
        if links[rows].min() != links[rows].max():
            findings.append(_finding(cluster, int(key // 10), int(key % 10), pairs[rows], links[rows]))
    return findings


def _finding(cluster: Cluster, fabric: int, tier: int, pairs: np.ndarray, links: np.ndarray) -> Finding:
    record = cluster.fabrics[fabric]
    fewest, most = int(links.argmin()), int(links.argmax())
    infiniband = record.network == "infiniband"

    def pair(row: int) -> str:
        return f"{device_label(cluster, int(pairs[row, 0]))} – {device_label(cluster, int(pairs[row, 1]))}: {links[row]}"

    return Finding(
        RULE,
        "error" if infiniband else "warning",
        f'fabric "{record.name}"',
        f"the {Role.NAMES[tier]} switches have unequal numbers of links to the switches above",
        expected="equally many links in every group",
        found=f"{pair(fewest)}; {pair(most)}",
        fix="choose a number of upper switches that divides the uplinks of a lower switch (leave count out and it is chosen)",
        source=SOURCE,
    )
