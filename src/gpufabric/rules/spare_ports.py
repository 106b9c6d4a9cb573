"""The highest tier has room for the units that the fabric must be able to grow to."""

from __future__ import annotations

import numpy as np

from gpufabric.records.cluster import Cluster, DeviceKind, Role
from gpufabric.records.cluster_spec import ClusterSpec, FabricSpec
from gpufabric.records.findings import Finding
from gpufabric.records.part_set import PartSet
from gpufabric.records.port_room import port_room
from gpufabric.records.tiers import device_tiers, link_fabrics

RULE = "spare-ports"


def check(cluster: Cluster, parts: PartSet, spec: ClusterSpec) -> list[Finding]:
    """Return a warning for each fabric that must grow and whose highest switches have too few ports free or in reserve."""
    asked = {fabric.name: fabric for fabric in spec.fabrics}
    growing = [
        (index, units)
        for index, fabric in enumerate(cluster.fabrics)
        if fabric.name in asked and (units := _units_asked(spec, asked[fabric.name]))
    ]
    if not growing:
        return []
    room = port_room(cluster, parts)
    spare = np.where(room.free >= 0, room.free + room.reserved, -1)
    return [finding for index, units in growing for finding in _fabric(cluster, spec, index, units, spare)]


def _units_asked(spec: ClusterSpec, fabric: FabricSpec) -> int | None:
    return fabric.grow_to_units or spec.grow_to


def _fabric(cluster: Cluster, spec: ClusterSpec, fabric: int, asked: int, spare: np.ndarray) -> list[Finding]:
    devices, tier = cluster.devices, device_tiers(cluster)
    mine = (devices.kind == DeviceKind.SWITCH) & (devices.fabric == fabric)
    units = len(np.unique(devices.unit[mine & (devices.unit >= 0)])) or spec.units or 0
    if not mine.any() or not 0 < units < asked:
        return []
    top = int(tier[mine].max())
    highest = mine & (tier == top)
    inside = link_fabrics(cluster) == fabric
    down = int((inside & highest[cluster.link_device_b]).sum())
    wanted = -(-down // units) * (asked - units)
    if (spare[highest] < 0).any() or spare[highest].sum() >= wanted:
        return []
    return [
        Finding(
            RULE,
            "warning",
            f'fabric "{cluster.fabrics[fabric].name}"',
            f"the {Role.NAMES[top]} switches have too few free ports to grow from {units} to {asked} units",
            expected=f"{wanted:,} ports free or in reserve",
            found=f"{int(spare[highest].sum()):,}",
            fix="use switches with more ports or another tier, or plan to add switches of this tier and to recable",
        )
    ]
