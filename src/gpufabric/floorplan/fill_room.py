"""Cluster → floor plan: which rack and rack units every device takes, and where the racks stand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from gpufabric.floorplan.device_sizes import device_sizes
from gpufabric.floorplan.leaf_homes import leaf_homes, put_in_racks
from gpufabric.floorplan.rack_filling import stack
from gpufabric.floorplan.room_figures import RoomFigures, racks_per_row, room_figures
from gpufabric.floorplan.row_layout import Row, SwitchSizes, add_central, lay_rows
from gpufabric.floorplan.server_racks import ServerRacks, server_racks
from gpufabric.records.cluster import Cluster, DeviceKind
from gpufabric.records.cluster_spec import ClusterSpec
from gpufabric.records.floor_plan import FloorPlan, RackPurpose, Racks
from gpufabric.records.part_set import PartSet


def place(cluster: Cluster, spec: ClusterSpec, parts: PartSet) -> FloorPlan:
    """Return a floor plan with every device of a designed cluster in a rack.

    Servers fill racks by power and height, or as ``per_rack`` says, units together. Leaf switches stand in the racks of their
    servers, or in network racks at the end or in the middle of their row; spines, cores and managers in racks near the middle of
    the room. What ``room`` leaves out has a default (docs/reference/floor-plan.md), which the plan's assumptions name.

    Parameters
    ----------
    cluster
        A cluster built from *spec*.
    spec
        Its ``servers`` and its ``room``.
    parts
        Parts of the cluster; one without a height or power is assumed, and named in the assumptions.
    """
    room = room_figures(spec.room)
    sizes = device_sizes(cluster, parts)
    servers = server_racks(cluster, spec.servers, parts, sizes, room)
    homes = leaf_homes(cluster, servers)
    rack_of = servers.rack_of.copy()
    per_row = racks_per_row(room, len(servers))
    limited = SwitchSizes(
        sizes.height_units, np.nan_to_num(sizes.power_w), (room.rack_units, room.rack_power_w)
    )
    notes = [] if room.racks_per_row else [f"room: assumed {per_row} racks a row"]
    if room.leaf_placement == "in-rack":
        chosen, homeless = put_in_racks(homes, servers, sizes, room.rack_units)
        rack_of[homes.leaf] = chosen
        rows, _ = lay_rows(servers.block, {}, limited, per_row)
    else:
        rows, homeless = lay_rows(servers.block, homes.by_rack(), limited, per_row)
    if homeless:
        notes.append(f"{len(homeless):,} leaf switches found no place near their servers and stand centrally")
    central = _central_racks(cluster, rack_of, rows, homeless, limited)
    add_central(rows, len(central), per_row)
    racks, rack = _number(rows, central, servers, room, rack_of)
    is_switch = cluster.devices.kind == DeviceKind.SWITCH
    return FloorPlan(
        racks=racks,
        rack=rack,
        lowest_unit=stack(rack, sizes.height_units, is_switch, room.rack_units),
        height_units=sizes.height_units,
        power_w=sizes.power_w,
        rows_allowed=room.rows,
        assumptions=(*room.assumptions, *sizes.assumptions, *notes),
    )


def with_racks(cluster: Cluster, plan: FloorPlan) -> Cluster:
    """Return *cluster* with the rack of every device filled in."""
    return replace(cluster, devices=replace(cluster.devices, rack=plan.rack))


def _central_racks(
    cluster: Cluster, rack_of: NDArray[np.int64], rows: list[Row], homeless: list[int], sizes: SwitchSizes
) -> list[tuple[int, list[int]]]:
    """Return (purpose, devices) of each rack that serves the whole room: spines and cores, then managers."""
    placed = rack_of >= 0
    placed[[switch for row in rows for rack in row.network for switch in rack]] = True
    placed[homeless] = True
    devices = cluster.devices
    rest = np.flatnonzero(~placed)
    rest = rest[np.lexsort((devices.index[rest], devices.role[rest], devices.fabric[rest]))]
    is_switch = devices.kind[rest] == DeviceKind.SWITCH
    switches = [*homeless, *rest[is_switch].tolist()]
    racks = [(RackPurpose.NETWORK, rack) for rack in sizes.racks(switches)]
    return racks + [(RackPurpose.MANAGEMENT, rack) for rack in sizes.racks(rest[~is_switch].tolist())]


def _number(
    rows: list[Row],
    central: list[tuple[int, list[int]]],
    servers: ServerRacks,
    room: RoomFigures,
    rack_of: NDArray[np.int64],
) -> tuple[Racks, NDArray[np.int32]]:
    """Return the racks in order of row and position, and the rack of each device."""
    place: list[tuple[int, int]] = []
    purpose: list[int] = []
    power: list[float] = []
    number = np.full(len(servers) + 1, -1, np.int64)
    rack = np.full(len(rack_of), -1, np.int64)

    def add(at: int, kind: int, watts: float, devices: list[int]) -> None:
        rack[devices] = len(place)
        place.append((at, len(place) - start))
        purpose.append(kind)
        power.append(watts)

    for at, row in enumerate(rows):
        start = len(place)
        middle = len(row.servers) // 2 if room.leaf_placement == "row-middle" else len(row.servers)
        for server_rack in row.servers[:middle]:
            number[server_rack] = len(place)
            add(at, int(servers.purpose[server_rack]), float(servers.power_w[server_rack]), [])
        for switches in row.network:
            add(at, RackPurpose.NETWORK, room.rack_power_w, switches)
        for server_rack in row.servers[middle:]:
            number[server_rack] = len(place)
            add(at, int(servers.purpose[server_rack]), float(servers.power_w[server_rack]), [])
        for index in row.central:
            add(at, central[index][0], room.rack_power_w, central[index][1])
    final = np.where(rack_of >= 0, number[rack_of], rack).astype(np.int32)
    where = np.array(place, np.int32).reshape(-1, 2)
    pitch = room.rack_depth_m + room.aisle_width_m
    racks = Racks(
        row=where[:, 0],
        position=where[:, 1],
        x_m=((where[:, 1] + 0.5) * room.rack_width_m).astype(np.float64),
        y_m=(where[:, 0] * pitch + room.rack_depth_m / 2).astype(np.float64),
        purpose=np.array(purpose, np.int8),
        units=np.full(len(where), room.rack_units, np.int32),
        power_w=np.array(power, np.float64),
    )
    return racks, final
