"""Servers of the description's groups → racks, in the order in which they stand: units and scale-up domains together."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gpufabric.floorplan.device_sizes import DeviceSizes
from gpufabric.floorplan.room_figures import RoomFigures
from gpufabric.records.cluster import Cluster, DeviceKind, Role
from gpufabric.records.cluster_spec import ServerGroup
from gpufabric.records.floor_plan import RackPurpose
from gpufabric.records.part_set import PartSet

_PURPOSES = {
    "compute": RackPurpose.COMPUTE,
    "storage": RackPurpose.STORAGE,
    "management": RackPurpose.MANAGEMENT,
}


@dataclass(frozen=True, slots=True)
class ServerRacks:
    """Racks that servers stand in, S of them.

    Attributes
    ----------
    rack_of : int64, D
        Rack of each device, -1 for devices that are not servers.
    block : int64, S
        Racks of one block (a unit) stand together.
    purpose : int8, S
    power_w : float64, S
        What the rack's feeds carry; NaN where nobody says.
    part : tuple of str, S
        The rack part that is sold with its servers in it; empty for any other rack.
    """

    rack_of: NDArray[np.int64]
    block: NDArray[np.int64]
    purpose: NDArray[np.int8]
    power_w: NDArray[np.float64]
    part: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.block)


@dataclass(frozen=True, slots=True)
class LeafShare:
    """Leaf switches that stand in the racks of their servers: how many for each server, and the greatest size of one."""

    a_server: float
    height_units: int
    power_w: float


def server_racks(
    cluster: Cluster,
    groups: tuple[ServerGroup, ...],
    parts: PartSet,
    sizes: DeviceSizes,
    room: RoomFigures,
) -> ServerRacks:
    """Return the racks of all servers, group by group.

    A rack takes ``per_rack`` servers where the group says so, a whole scale-up domain where it spans several servers, else as
    many as its height and its power allow. A domain that is sold in a rack of its own stands in that, whole or in part. A unit or
    domain that fills a rack or more starts on a new one.
    """
    rack_of = np.full(len(cluster.devices), -1, np.int64)
    blocks, purposes, powers = [], [], []
    sold_in: list[str] = []
    racks = block = 0
    share = _leaf_share(cluster, sizes) if room.leaf_placement == "in-rack" else LeafShare(0.0, 0, 0.0)
    for group, rows in _groups(cluster, groups):
        part = parts.servers.get(cluster.parts[cluster.devices.part[rows[0]]])
        domain = part.scale_up.domain_servers if part else 1
        most = group.per_rack or (domain if domain > 1 else _fitting(rows[0], sizes, room, share))
        run = np.arange(len(rows)) // domain if domain > 1 else cluster.devices.unit[rows].astype(np.int64)
        local, local_block = _cut(run, most)
        count = int(local[-1]) + 1
        rack_of[rows] = racks + local
        blocks.append(block + local_block)
        purposes.append(np.full(count, _PURPOSES[group.purpose], np.int8))
        whole_racks = domain > 1 and not room.rack_power_given
        powers.append(np.full(count, math.nan if whole_racks else room.rack_power_w))
        sold_in += [part.rack if part and domain == most > 1 else ""] * count
        racks += count
        block += int(local_block[-1]) + 1
    return ServerRacks(
        rack_of,
        np.concatenate(blocks).astype(np.int64),
        np.concatenate(purposes),
        np.concatenate(powers),
        tuple(sold_in),
    )


def _groups(cluster: Cluster, groups: tuple[ServerGroup, ...]) -> list[tuple[ServerGroup, NDArray[np.int64]]]:
    """Return each group with its devices: the builder adds servers first of all, group by group."""
    ends = np.cumsum([group.count or 0 for group in groups])
    rows = np.arange(min(int(ends[-1]), len(cluster.devices)))
    parted = zip(groups, np.split(rows, ends[:-1]), strict=True)
    return [(group, mine) for group, mine in parted if len(mine)]


def _fitting(server: int, sizes: DeviceSizes, room: RoomFigures, share: LeafShare) -> int:
    """Return how many servers a rack takes, with the leaves that stand beside them."""
    height, power = int(sizes.height_units[server]), float(np.nan_to_num(sizes.power_w[server]))
    most = 1
    while True:
        leaves = math.ceil((most + 1) * share.a_server - 1e-9)
        tall = (most + 1) * height + leaves * share.height_units > room.rack_units
        hot = (most + 1) * power + leaves * share.power_w > room.rack_power_w
        if tall or hot:
            return most
        most += 1


def _leaf_share(cluster: Cluster, sizes: DeviceSizes) -> LeafShare:
    leaf = (cluster.devices.kind == DeviceKind.SWITCH) & (cluster.devices.role == Role.LEAF)
    servers = np.count_nonzero(cluster.devices.role == Role.SERVER)
    if not leaf.any() or not servers:
        return LeafShare(0.0, 0, 0.0)
    power = float(np.nan_to_num(sizes.power_w[leaf]).max())
    return LeafShare(np.count_nonzero(leaf) / servers, int(sizes.height_units[leaf].max()), power)


def _cut(run: NDArray[np.int64], most: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the rack of each server and the block of each rack, when *most* go into one and *run* numbers units."""
    first = np.flatnonzero(np.r_[True, run[1:] != run[:-1]])
    length = np.diff(np.r_[first, len(run)])
    if length.max() < most or len(first) == 1:
        local = np.arange(len(run)) // most
        return local, np.arange(int(local[-1]) + 1)
    racks = -(-length // most)
    start = np.repeat(np.cumsum(racks) - racks, length)
    in_run = np.arange(len(run)) - np.repeat(first, length)
    return start + in_run // most, np.repeat(np.arange(len(first)), racks)
