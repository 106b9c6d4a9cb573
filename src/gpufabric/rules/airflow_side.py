"""The devices of one rack blow the same way, and servers blow as the room wants it.

P2C ("power to connector") takes air in at the power supplies and lets it out at the ports, so the ports face the hot aisle,
where those of servers are (QM97x0 hardware manual, https://networking-docs.nvidia.com/qm97x0hw/specifications, read 2026-09).
"""

from __future__ import annotations

import numpy as np

from gpufabric.records.cluster import Cluster
from gpufabric.records.cluster_spec import ClusterSpec
from gpufabric.records.findings import Finding
from gpufabric.records.floor_plan import FloorPlan
from gpufabric.records.part_set import PartSet

RULE = "airflow-side"
SOURCE = "QM97x0 hardware manual, https://networking-docs.nvidia.com/qm97x0hw/specifications"
_UNKNOWN, _HOT, _COLD = range(3)
# The front of a switch is where its ports are; that of a server is where its ports are not.
_SWITCH_PORTS = {
    "P2C": _HOT,
    "rear-to-front": _HOT,
    "back-to-front": _HOT,
    "C2P": _COLD,
    "front-to-rear": _COLD,
    "front-to-back": _COLD,
}
_SERVER_PORTS = {"front-to-back": _HOT, "front-to-rear": _HOT, "back-to-front": _COLD, "rear-to-front": _COLD}


def check(cluster: Cluster, parts: PartSet, spec: ClusterSpec, plan: FloorPlan) -> list[Finding]:
    """Return a warning for each pair of parts that share a rack and blow against each other, and for servers against the room.

    A part whose airflow is not published is never found.
    """
    aisle = np.zeros(len(cluster.parts) + 1, np.int64)
    for index, part_id in enumerate(cluster.parts):
        if part_id in parts.switches:
            aisle[index] = _SWITCH_PORTS.get(parts.switches[part_id].airflow, _UNKNOWN)
        elif part_id in parts.servers:
            aisle[index] = _SERVER_PORTS.get(parts.servers[part_id].airflow, _UNKNOWN)
    return _within_racks(cluster, plan, aisle) + _against_room(parts, spec)


def _within_racks(cluster: Cluster, plan: FloorPlan, aisle: np.ndarray) -> list[Finding]:
    part = cluster.devices.part
    side = aisle[part]
    hot, cold = (np.unique(np.stack([plan.rack[side == s], part[side == s]]), axis=1) for s in (_HOT, _COLD))
    both = np.intersect1d(hot[0], cold[0])
    found: dict[tuple[int, int], list[int]] = {}
    for rack in both.tolist():
        pair = (int(hot[1][hot[0] == rack][0]), int(cold[1][cold[0] == rack][0]))
        found.setdefault(pair, []).append(rack)
    return [
        Finding(
            RULE,
            "warning",
            f"rack {plan.racks.names[racks[0]]}"
            + (f" and {len(racks) - 1:,} more" if len(racks) > 1 else ""),
            f"{cluster.parts[pair[0]]} and {cluster.parts[pair[1]]} blow against each other: "
            "with their ports on one side of the rack, one takes in what the other lets out",
            expected="one direction of air in a rack",
            found=f"{cluster.parts[pair[0]]} has its ports at the hot aisle, {cluster.parts[pair[1]]} at the cold one",
            fix="order the other airflow variant, or stand the switches in racks of their own (room: leaf_placement: row-end)",
            source=SOURCE,
        )
        for pair, racks in sorted(found.items())
    ]


def _against_room(parts: PartSet, spec: ClusterSpec) -> list[Finding]:
    wanted = spec.room.airflow
    return [
        Finding(
            RULE,
            "warning",
            server.id,
            "the server blows against the room",
            expected=wanted,
            found=server.airflow,
            fix="turn the aisles round (room: airflow), or choose another server",
        )
        for server in parts.servers.values()
        if wanted and _SERVER_PORTS.get(server.airflow, _UNKNOWN) not in (_UNKNOWN, _SERVER_PORTS[wanted])
    ]
