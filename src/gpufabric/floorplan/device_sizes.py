"""Parts of the devices → height and power of each device, with what was assumed."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gpufabric.records.cluster import Cluster, DeviceKind
from gpufabric.records.part_lookup import PartLookup
from gpufabric.records.parts import AnyPart, AppliancePart, ServerPart, SwitchPart

_ASSUMED_UNITS = {
    DeviceKind.SERVER: 8,
    DeviceKind.SWITCH: 2,
    DeviceKind.MANAGER: 1,
    DeviceKind.STORAGE: 2,
    DeviceKind.PDU: 0,  # upright at the side of a rack
}
_WORDS = {
    DeviceKind.SERVER: "server",
    DeviceKind.SWITCH: "switch",
    DeviceKind.MANAGER: "manager",
    DeviceKind.STORAGE: "storage server",
    DeviceKind.PDU: "power distribution unit",
}


@dataclass(frozen=True, slots=True)
class DeviceSizes:
    """Height (int32, rack units) and greatest power (float64, W, NaN unknown) of each device, and the assumptions in them."""

    height_units: NDArray[np.int32]
    power_w: NDArray[np.float64]
    assumptions: tuple[str, ...]


def device_sizes(cluster: Cluster, parts: PartLookup) -> DeviceSizes:
    """Return the size of every device.

    A part without a height counts as 8 units (server), 2 (switch, storage), 1 (manager) or 0 (power distribution unit). Where
    the greatest power is not published the typical one stands in; where that is not published either, the power is unknown and
    counts as nothing. A power distribution unit without a part draws nothing: its losses are not modelled.
    """
    devices = cluster.devices
    height = np.empty(len(devices), np.int32)
    power = np.empty(len(devices), np.float64)
    assumptions: list[str] = []
    keys = (devices.part.astype(np.int64) + 1) << 8 | devices.kind.astype(np.int64) & 0xFF
    for key, first in zip(*np.unique(keys, return_index=True), strict=True):
        kind, number = int(devices.kind[first]), int(devices.part[first])
        part_id = cluster.parts[number] if number >= 0 else None
        part = None if part_id is None else parts.get(part_id)
        name = part_id or f"{_WORDS.get(kind, 'device')} without a part"
        rows = keys == key
        height[rows] = _height(part, kind, name, assumptions)
        power[rows] = 0.0 if part is None and kind == DeviceKind.PDU else _power(part, name, assumptions)
    return DeviceSizes(height, power, tuple(assumptions))


def _height(part: AnyPart | None, kind: int, name: str, assumptions: list[str]) -> int:
    known = part.rack_units if isinstance(part, ServerPart | SwitchPart | AppliancePart) else None
    if known is not None:
        return max(1, math.ceil(known))
    assumed = _ASSUMED_UNITS.get(kind, 2)
    assumptions.append(f"{name}: height unknown, assumed {assumed} U")
    return assumed


def _power(part: AnyPart | None, name: str, assumptions: list[str]) -> float:
    known = part.max_power_w if isinstance(part, ServerPart | SwitchPart | AppliancePart) else None
    if known is not None:
        return known
    typical = part.typical_power_w if isinstance(part, SwitchPart) else None
    if typical is not None:
        assumptions.append(f"{name}: greatest power unknown, its rack is filled by the typical one")
        return typical
    if not (isinstance(part, ServerPart) and part.rack):
        assumptions.append(f"{name}: power unknown, not counted in its rack")
    return math.nan
