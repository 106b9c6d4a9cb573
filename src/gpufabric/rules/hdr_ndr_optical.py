"""An optical InfiniBand link between an HDR and an NDR device is at most 30 m long.

Beyond that it loses bandwidth: ConnectX-7 firmware 28.35.2000, known issue 3261861,
https://docs.nvidia.com/networking/display/connectx7firmwarev28352000lts/known+issues (read 2026-09).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gpufabric.records.cluster import UNKNOWN, Cluster
from gpufabric.records.cluster_spec import ClusterSpec
from gpufabric.records.findings import Finding
from gpufabric.records.labels import port_label
from gpufabric.records.part_set import PartSet
from gpufabric.records.port_cages import cabled_lengths_m, cage_connectors
from gpufabric.units import format_length

RULE = "hdr-ndr-optical"
SOURCE = (
    "ConnectX-7 firmware 28.35.2000, known issue 3261861, "
    "https://docs.nvidia.com/networking/display/connectx7firmwarev28352000lts/known+issues"
)
LONGEST_M = 30.0
# HDR lanes are 50 Gb/s and come in QSFP56, NDR lanes are 100 Gb/s and come in OSFP and QSFP112.
_HDR = ("qsfp56",)
_NDR = ("osfp-finned", "osfp-flat", "qsfp112")


def check(cluster: Cluster, parts: PartSet, spec: ClusterSpec) -> list[Finding]:
    """Return one warning when optical links between HDR and NDR cages are longer than 30 m."""
    del spec
    links, ports = cluster.links, cluster.ports
    names, table = cage_connectors(cluster, parts)
    ends = [
        table[cluster.devices.part[ports.device[rows]], ports.cage[rows]]
        for rows in (links.port_a, links.port_b)
    ]
    hdr, ndr = ([np.isin(end, _codes(names, kind)) for end in ends] for kind in (_HDR, _NDR))
    mixed = (hdr[0] & ndr[1]) | (ndr[0] & hdr[1])
    infiniband = np.array([f.network == "infiniband" for f in cluster.fabrics] or [False])
    length = cabled_lengths_m(cluster)
    rows = np.flatnonzero(
        mixed & infiniband[ports.fabric[links.port_a]] & _optical(cluster, parts) & (length > LONGEST_M)
    )
    if not len(rows):
        return []
    return [
        Finding(
            RULE,
            "warning",
            port_label(cluster, int(links.port_a[rows[0]])),
            f"{len(rows):,} optical links between HDR and NDR devices are longer than 30 m and may lose bandwidth",
            expected=f"at most {format_length(LONGEST_M)}",
            found=f"up to {format_length(float(length[rows].max()))}",
            fix="place these devices nearer, use a newer firmware, or devices of one generation",
            source=SOURCE,
        )
    ]


def _codes(names: tuple[str, ...], wanted: tuple[str, ...]) -> list[int]:
    return [code for code, name in enumerate(names) if name in wanted]


def _optical(cluster: Cluster, parts: PartSet) -> NDArray[np.bool_]:
    """Return whether the cable of each link is an optical one."""
    optical = [
        part_id in parts.cables and parts.cables[part_id].medium != "copper" for part_id in cluster.parts
    ]
    of_part = np.array([*optical, False], bool)
    part = np.append(cluster.assemblies.part, UNKNOWN)[cluster.links.assembly]
    return np.asarray(of_part[part], bool)
