"""Links between servers and switches → the server rack that each leaf switch belongs to."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gpufabric.floorplan.device_sizes import DeviceSizes
from gpufabric.floorplan.server_racks import ServerRacks
from gpufabric.records.cluster import Cluster, DeviceKind, Role


@dataclass(frozen=True, slots=True)
class LeafHomes:
    """Leaf switches that are linked to servers. F rows, in order of home, fabric and index.

    Attributes
    ----------
    leaf : int64, device
    first, last : int64
        First and last server rack that it is linked to.
    home : int64
        Server rack in the middle of its links.
    """

    leaf: NDArray[np.int64]
    first: NDArray[np.int64]
    last: NDArray[np.int64]
    home: NDArray[np.int64]

    def by_rack(self) -> dict[int, list[int]]:
        """Return the leaves at home in each server rack."""
        found: dict[int, list[int]] = {}
        for leaf, home in zip(self.leaf.tolist(), self.home.tolist(), strict=True):
            found.setdefault(home, []).append(leaf)
        return found


def leaf_homes(cluster: Cluster, servers: ServerRacks) -> LeafHomes:
    """Return where leaf switches are at home: the rack that half of their server links come from on either side."""
    devices = cluster.devices
    lower, upper = cluster.link_device_a, cluster.link_device_b
    is_leaf = (devices.kind == DeviceKind.SWITCH) & (devices.role == Role.LEAF)
    rows = np.flatnonzero((servers.rack_of[lower] >= 0) & is_leaf[upper])
    order = rows[np.lexsort((servers.rack_of[lower[rows]], upper[rows]))]
    leaf = upper[order].astype(np.int64)
    rack = servers.rack_of[lower[order]]
    start = np.flatnonzero(np.r_[True, leaf[1:] != leaf[:-1]]) if len(leaf) else np.empty(0, np.int64)
    end = np.append(start[1:], len(leaf))[: len(start)].astype(np.int64)
    who, home = leaf[start], rack[(start + end - 1) // 2]
    ordered = np.lexsort((devices.index[who], devices.fabric[who], home))
    return LeafHomes(who[ordered], rack[start][ordered], rack[end - 1][ordered], home[ordered])


def put_in_racks(
    homes: LeafHomes, servers: ServerRacks, sizes: DeviceSizes, rack_units: int
) -> tuple[NDArray[np.int64], list[int]]:
    """Put leaves into the racks of their servers, evenly over the racks that each is linked to.

    A leaf goes to the nearest of these racks that has the height and the power for it, else to the nearest that has the height.
    None goes into a rack that is sold with its servers: what is free in that, nobody says.

    Returns
    -------
    rack : int64 array, F
        Server rack of each leaf of *homes*, -1 where none has the height.
    homeless : list of int
        The leaves without a rack.
    """
    mine = servers.rack_of >= 0
    units = rack_units - np.bincount(
        servers.rack_of[mine], weights=sizes.height_units[mine], minlength=len(servers)
    )
    units[[bool(part) for part in servers.part]] = 0
    used = np.bincount(
        servers.rack_of[mine], weights=np.nan_to_num(sizes.power_w[mine]), minlength=len(servers)
    )
    watts = np.where(np.isnan(servers.power_w), np.inf, servers.power_w) - used
    chosen = np.full(len(homes.leaf), -1, np.int64)
    for row, target in enumerate(_spread(homes).tolist()):
        leaf = homes.leaf[row]
        height, power = sizes.height_units[leaf], np.nan_to_num(sizes.power_w[leaf])
        racks = np.arange(homes.first[row], homes.last[row] + 1)
        far = np.abs(racks - target) + np.where(watts[racks] >= power, 0, len(servers))
        far = np.where(units[racks] >= height, far, np.iinfo(np.int64).max)
        nearest = int(np.argmin(far))
        if units[racks[nearest]] >= height:
            chosen[row] = racks[nearest]
            units[racks[nearest]] -= height
            watts[racks[nearest]] -= power
    return chosen, homes.leaf[chosen < 0].tolist()


def _spread(homes: LeafHomes) -> NDArray[np.int64]:
    """Return the rack that each leaf should stand in: those linked to the same racks share them out in order."""
    spans = np.stack([homes.first, homes.last], axis=1)
    _, group, count = np.unique(spans, axis=0, return_inverse=True, return_counts=True)
    group = group.ravel()
    order = np.argsort(group, kind="stable")
    rank = np.empty(len(group), np.int64)
    starts = np.cumsum(count) - count
    rank[order] = np.arange(len(group)) - np.repeat(starts, count)
    span = homes.last - homes.first + 1
    return np.asarray(homes.first + (2 * rank + 1) * span // (2 * count[group]), np.int64)
