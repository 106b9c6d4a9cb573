"""Parts of the devices → height of each device, with what was assumed; its power is that of ``device_power``."""

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
    """Height (int32, rack units) and power (float64, W, NaN unknown) of each device, and the heights that were assumed."""

    height_units: NDArray[np.int32]
    power_w: NDArray[np.float64]
    assumptions: tuple[str, ...]


def device_sizes(cluster: Cluster, parts: PartLookup, power_w: NDArray[np.float64]) -> DeviceSizes:
    """Return the size of every device, *power_w* being what its rack keeps for it.

    A part without a height counts as 8 units (server), 2 (switch, storage), 1 (manager) or 0 (power distribution unit).
    """
    devices = cluster.devices
    height = np.empty(len(devices), np.int32)
    assumptions: list[str] = []
    keys = (devices.part.astype(np.int64) + 1) << 8 | devices.kind.astype(np.int64) & 0xFF
    for key, first in zip(*np.unique(keys, return_index=True), strict=True):
        kind, number = int(devices.kind[first]), int(devices.part[first])
        part_id = cluster.parts[number] if number >= 0 else None
        part = None if part_id is None else parts.get(part_id)
        name = part_id or f"{_WORDS.get(kind, 'device')} without a part"
        height[keys == key] = _height(part, kind, name, assumptions)
    return DeviceSizes(height, power_w, tuple(assumptions))


def _height(part: AnyPart | None, kind: int, name: str, assumptions: list[str]) -> int:
    known = part.rack_units if isinstance(part, ServerPart | SwitchPart | AppliancePart) else None
    if known is not None:
        return max(1, math.ceil(known))
    assumed = _ASSUMED_UNITS.get(kind, 2)
    assumptions.append(f"{name}: height unknown, assumed {assumed} U")
    return assumed
