"""The highest tier has room for the units that the fabric must be able to grow to."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

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
    wanted = _links_of_growth(cluster, fabric, highest, (units, asked))
    if wanted is None:
        return []
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


def _links_of_growth(
    cluster: Cluster, fabric: int, highest: NDArray[np.bool_], units: tuple[int, int]
) -> int | None:
    """Return how many more links to the highest switches the growth from so many to so many units brings; None: not to be seen.

    With cores each new pod brings the links of a full one; else each new unit those of a full one.
    """
    devices, (now, asked) = cluster.devices, units
    down = (link_fabrics(cluster) == fabric) & highest[cluster.link_device_b]
    below = cluster.link_device_a[down]
    if devices.role[highest].max() != Role.CORE:
        return -(-len(below) // now) * (asked - now)
    leaves = (devices.role == Role.LEAF) & (devices.fabric == fabric)
    in_pod, in_unit = (np.bincount(column[leaves & (column >= 0)]) for column in (devices.pod, devices.unit))
    pods = int(np.count_nonzero(in_pod))
    if pods < 2 or not in_unit.any():
        return None
    wanted = -(-int(in_unit.max()) * asked // int(in_pod.max()))
    links_of_pod = int(np.bincount(devices.pod[below][devices.pod[below] >= 0]).max(initial=0))
    return links_of_pod * max(0, wanted - pods)
