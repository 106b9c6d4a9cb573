"""An InfiniBand subnet has 49,151 unicast LIDs (0x0001 to 0xBFFF): one for each switch and each adapter port.

InfiniBand Architecture Specification, volume 1, section 4.1.3 (local identifiers).
"""

from __future__ import annotations

import numpy as np

from gpufabric.records.cluster import Cluster, DeviceKind
from gpufabric.records.cluster_spec import ClusterSpec
from gpufabric.records.findings import Finding
from gpufabric.records.part_set import PartSet
from gpufabric.records.subnet import MAX_UNICAST_LIDS

RULE = "subnet-lids"


def check(cluster: Cluster, parts: PartSet, spec: ClusterSpec) -> list[Finding]:
    """Return an error for each InfiniBand plane that needs more LIDs than a subnet has."""
    del parts, spec
    ports, kind = cluster.ports, cluster.devices.kind
    findings = []
    for index, fabric in enumerate(cluster.fabrics):
        if fabric.network != "infiniband":
            continue
        mine = (ports.fabric == index) & ~ports.reserved
        for plane in np.unique(ports.plane[mine]):
            rows = mine & (ports.plane == plane)
            on_switch = kind[ports.device[rows]] == DeviceKind.SWITCH
            lids = len(np.unique(ports.device[rows][on_switch])) + int((~on_switch).sum())
            if lids > MAX_UNICAST_LIDS:
                findings.append(_finding(fabric.name, int(plane), fabric.planes, lids))
    return findings


def _finding(fabric: str, plane: int, planes: int, lids: int) -> Finding:
    return Finding(
        RULE,
        "error",
        f'fabric "{fabric}"' + (f", plane {plane + 1}" if planes > 1 else ""),
        "one InfiniBand subnet can't address all switches and adapter ports",
        expected=f"at most {MAX_UNICAST_LIDS:,} LIDs",
        found=f"{lids:,}",
        fix="split the fabric into planes (planes: 2 or more), each a subnet of its own, or join subnets with routers",
        source="InfiniBand Architecture Specification, volume 1, section 4.1.3",
    )
