"""Cluster → floor plan: which rack and rack units every device takes, and where the racks stand."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from gpufabric.floorplan.device_power import DevicePower, device_power
from gpufabric.floorplan.device_sizes import device_sizes
from gpufabric.floorplan.leaf_homes import leaf_homes, put_in_racks
from gpufabric.floorplan.rack_filling import stack
from gpufabric.floorplan.rack_pdus import with_pdus
from gpufabric.floorplan.room_figures import RoomFigures, room_figures
from gpufabric.floorplan.row_grid import RowGrid
from gpufabric.floorplan.row_layout import Row, SwitchSizes, add_central, lay_rows
from gpufabric.floorplan.server_racks import ServerRacks, server_racks
from gpufabric.records.cluster import Cluster, DeviceKind
from gpufabric.records.cluster_spec import ClusterSpec
from gpufabric.records.floor_plan import FloorPlan, RackPurpose, Racks
from gpufabric.records.part_set import PartSet
from gpufabric.units import counted, format_power


def place(
    cluster: Cluster, spec: ClusterSpec, parts: PartSet, kept_w: NDArray[np.float64] | None = None
) -> FloorPlan:
    """Return a floor plan with every device of a designed cluster in a rack.

    Servers fill racks by power and height, or as ``per_rack`` says, units together. Leaf switches stand in the racks of their
    servers, or in network racks at the end or in the middle of their row; spines, cores and managers in racks near the middle of
    the room; power distribution units beside the racks that need them. What ``room`` leaves out has a default
    (docs/reference/floor-plan.md), which the plan's assumptions name.

    Parameters
    ----------
    cluster
        A cluster built from *spec*.
    spec
        Its ``servers`` and its ``room``.
    parts
        Parts of the cluster; one without a height is assumed, and named in the assumptions.
    kept_w : float64, D, W
        Power that a rack keeps for each device; None: what it draws with the transceivers that *cluster* has.
    """
    room = room_figures(spec.room)
    power = device_power(cluster, parts)
    sizes = device_sizes(cluster, parts, power.power_w if kept_w is None else kept_w)
    servers = server_racks(cluster, spec.servers, parts, sizes, room)
    homes = leaf_homes(cluster, servers)
    rack_of = servers.rack_of.copy()
    limited = SwitchSizes(
        sizes.height_units, np.nan_to_num(sizes.power_w), (room.rack_units, room.rack_power_w)
    )
    notes: list[str] = []
    if room.leaf_placement == "in-rack":
        chosen, homeless = put_in_racks(homes, servers, sizes, room.rack_units)
        rack_of[homes.leaf] = chosen
        rows, _ = lay_rows(servers.block, {}, limited, room.racks_per_row)
    else:
        rows, homeless = lay_rows(servers.block, homes.by_rack(), limited, room.racks_per_row)
    if homeless:
        notes.append(
            f"central, for want of a place near the servers: {counted(len(homeless), 'leaf switch', 'leaf switches')}"
        )
    central = _central_racks(cluster, rack_of, rows, homeless, limited)
    grid = add_central(rows, len(central), room)
    order = _in_order(rows, central, servers, room)
    rack = _rack_of_devices(order, rack_of, len(servers))
    kind = cluster.devices.kind
    rack[kind == DeviceKind.PDU] = 0  # until the power of every rack is known
    sold_in = tuple(sorted(set(servers.part) - {""}))
    racks = _racks(order, grid, room, _SoldRacks(servers.part, sold_in, parts))
    is_switch = kind == DeviceKind.SWITCH
    plan = FloorPlan(
        racks=racks,
        rack=rack,
        lowest_unit=stack(rack, sizes.height_units, is_switch, room.rack_units),
        height_units=sizes.height_units,
        power_w=power.power_w,
        contained=(kind == DeviceKind.SERVER) & (racks.part[rack] >= 0),
        rack_parts=sold_in,
        power_at_least=power.at_least,
        rows_allowed=room.rows,
        assumptions=(*room.assumptions, *sizes.assumptions, *notes, *_said_of(sold_in, parts)),
    )
    return with_pdus(cluster, plan)


def with_power(plan: FloorPlan, power: DevicePower) -> FloorPlan:
    """Return *plan* with the power of every device and what was assumed for it."""
    assumptions = (*plan.assumptions, *power.assumptions)
    return replace(plan, power_w=power.power_w, power_at_least=power.at_least, assumptions=assumptions)


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
    placed |= devices.kind == DeviceKind.PDU
    rest = np.flatnonzero(~placed)
    rest = rest[np.lexsort((devices.index[rest], devices.role[rest], devices.fabric[rest]))]
    is_switch = devices.kind[rest] == DeviceKind.SWITCH
    switches = [*homeless, *rest[is_switch].tolist()]
    racks = [(RackPurpose.NETWORK, rack) for rack in sizes.racks(switches)]
    return racks + [(RackPurpose.MANAGEMENT, rack) for rack in sizes.racks(rest[~is_switch].tolist())]


@dataclass(frozen=True, slots=True)
class _SoldRacks:
    """The part of each server rack that is sold with its servers (empty for others), the ids among them, and the parts."""

    of_server_rack: tuple[str, ...]
    ids: tuple[str, ...]
    parts: PartSet


@dataclass(frozen=True, slots=True)
class _Rack:
    """One rack of the room: its row, purpose and power, and the server rack or the devices that it is."""

    row: int
    position: int
    purpose: int
    power_w: float
    server_rack: int | None
    devices: list[int]


def _in_order(
    rows: list[Row], central: list[tuple[int, list[int]]], servers: ServerRacks, room: RoomFigures
) -> list[_Rack]:
    """Return all racks in order of row and position."""
    order: list[_Rack] = []
    for at, row in enumerate(rows):
        mine: list[tuple[int, float, int | None, list[int]]] = [
            (int(servers.purpose[rack]), float(servers.power_w[rack]), rack, []) for rack in row.servers
        ]
        middle = len(mine) // 2 if room.leaf_placement == "row-middle" else len(mine)
        mine[middle:middle] = [(RackPurpose.NETWORK, room.rack_power_w, None, rack) for rack in row.network]
        mine += [(central[rack][0], room.rack_power_w, None, central[rack][1]) for rack in row.central]
        order += [_Rack(at, position, *rack) for position, rack in enumerate(mine)]
    return order


def _rack_of_devices(order: list[_Rack], rack_of: NDArray[np.int64], server_racks: int) -> NDArray[np.int32]:
    number = np.full(server_racks + 1, -1, np.int64)
    of_device = np.full(len(rack_of), -1, np.int64)
    for index, rack in enumerate(order):
        of_device[rack.devices] = index
        if rack.server_rack is not None:
            number[rack.server_rack] = index
    return np.where(rack_of >= 0, number[rack_of], of_device).astype(np.int32)


def _said_of(sold_in: tuple[str, ...], parts: PartSet) -> list[str]:
    """Return what is assumed of racks that are sold with their servers."""
    said = []
    for rack_id in sold_in:
        part = parts.racks[rack_id]
        if part.rack_units is None:
            said.append(
                f"{rack_id}: height unknown, taken as that of the other racks; which tray stands where in it was not read"
            )
        if part.max_power_w is None:
            said.append(f"{rack_id}: power unknown, not counted")
        elif "max_power_w" in part.assumed:
            said.append(f"{rack_id}: {format_power(part.max_power_w)} a rack, {part.assumed['max_power_w']}")
    return said


def _racks(order: list[_Rack], grid: RowGrid, room: RoomFigures, sold: _SoldRacks) -> Racks:
    row = np.array([rack.row for rack in order], np.int32)
    position = np.array([rack.position for rack in order], np.int32)
    along = grid.column(row) * grid.column_m + (position + 0.5) * room.rack_width_m
    names = ["" if rack.server_rack is None else sold.of_server_rack[rack.server_rack] for rack in order]
    part = np.array([sold.ids.index(name) if name else -1 for name in names], np.int32)
    own = [0.0 if known is None else known.max_power_w for known in map(sold.parts.racks.get, names)]
    high = [known.rack_units if known else None for known in map(sold.parts.racks.get, names)]
    across = grid.line(row) * grid.line_m + room.rack_depth_m / 2
    return Racks(
        row=row,
        position=position,
        x_m=along.astype(np.float64),
        y_m=across.astype(np.float64),
        purpose=np.array([rack.purpose for rack in order], np.int8),
        units=np.array([room.rack_units if units is None else units for units in high], np.int32),
        power_w=np.array([rack.power_w for rack in order], np.float64),
        part=part,
        own_power_w=np.array([np.nan if watts is None else watts for watts in own], np.float64),
    )
