"""Parts and transceivers of a cluster → power of every device: the one rule of racks, feeds, cooling air and bill.

The largest power of a switch that its data sheet gives with modules in all cages covers its transceivers. To any other figure
the largest power of each transceiver in the cages of the device is added, servers included, since their data sheets do not say.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gpufabric.kernels.distinct_values import distinct_values
from gpufabric.records.cluster import Cluster, DeviceKind
from gpufabric.records.part_lookup import PartLookup
from gpufabric.records.parts import AnyPart, AppliancePart, ServerPart, SwitchPart, TransceiverPart
from gpufabric.units import counted

_WORDS = {
    DeviceKind.SERVER: "server",
    DeviceKind.SWITCH: "switch",
    DeviceKind.MANAGER: "manager",
    DeviceKind.STORAGE: "storage server",
    DeviceKind.PDU: "power distribution unit",
}


@dataclass(frozen=True, slots=True)
class OwnPower:
    """Power of one device by its part: W, None where no source says; a typical one where no larger is published."""

    power_w: float | None
    typical: bool = False
    covers_modules: bool = False


@dataclass(frozen=True, slots=True)
class DevicePower:
    """Power of every device with its transceivers.

    Attributes
    ----------
    power_w : float64, D
        NaN where nothing is known.
    at_least : bool, D
        Whether the true largest power may be above it: typical power, or a figure that is missing.
    assumptions : tuple of str
        Which figures stand in for others, are missing, or are taken to cover the transceivers.
    """

    power_w: NDArray[np.float64]
    at_least: NDArray[np.bool_]
    assumptions: tuple[str, ...]


def own_power(part: AnyPart | None) -> OwnPower:
    """Return the largest power of a device, or of a switch that has none the typical one."""
    if not isinstance(part, ServerPart | SwitchPart | AppliancePart):
        return OwnPower(None)
    if not isinstance(part, SwitchPart):
        return OwnPower(part.max_power_w)
    if part.max_power_w is not None:
        return OwnPower(part.max_power_w, covers_modules=part.max_power_includes_modules is True)
    return OwnPower(part.typical_power_w, typical=part.typical_power_w is not None)


def modules_covered(cluster: Cluster, parts: PartLookup) -> NDArray[np.bool_]:
    """Return for each transceiver whether the power of its device covers it. M, bool."""
    covers = np.array([own_power(parts.get(part)).covers_modules for part in cluster.parts] + [False], bool)
    covered: NDArray[np.bool_] = covers[cluster.devices.part[cluster.modules.device]]
    return covered


def device_power(cluster: Cluster, parts: PartLookup) -> DevicePower:
    """Return the power of every device of a cluster with the transceivers in its cages.

    Where the largest power is not published the typical one stands in. What has no figure counts as nothing.
    """
    devices, modules = cluster.devices, cluster.modules
    own = [own_power(parts.get(part)) for part in cluster.parts] + [OwnPower(None)]
    watts = np.array([np.nan if figure.power_w is None else figure.power_w for figure in own], np.float64)
    typical = np.array([figure.typical for figure in own], bool)
    idle = (devices.kind == DeviceKind.PDU) & (devices.part < 0)
    power = np.where(idle, 0.0, watts[devices.part])
    added = np.flatnonzero(~modules_covered(cluster, parts))
    holder = modules.device[added]
    module_w = _module_watts(cluster, parts)[modules.part[added]]
    known = np.bincount(holder, weights=np.nan_to_num(module_w), minlength=len(devices))
    missing = np.bincount(holder[np.isnan(module_w)], minlength=len(devices)) > 0
    return DevicePower(
        power_w=np.where(np.isnan(power) & (known > 0), known, power + known),
        at_least=np.isnan(power) | (typical[devices.part] & ~idle) | missing,
        assumptions=(
            *_of_devices(cluster, parts, own),
            *_of_modules(cluster, own, modules.part[added[np.isnan(module_w)]]),
        ),
    )


def kept_power_w(cluster: Cluster, parts: PartLookup) -> NDArray[np.float64]:
    """Return the power that a rack keeps for each device: where that of a transceiver is unknown, what its cage gives. D, W."""
    modules, devices = cluster.modules, cluster.devices
    unknown = np.isnan(_module_watts(cluster, parts)[modules.part]) & ~modules_covered(cluster, parts)
    limits = np.array([_cage_watts(parts.get(part)) for part in cluster.parts] + [0.0], np.float64)
    holder = modules.device[unknown]
    given = np.bincount(holder, weights=limits[devices.part[holder]], minlength=len(devices))
    kept: NDArray[np.float64] = np.nan_to_num(device_power(cluster, parts).power_w) + given
    return kept


def _cage_watts(part: AnyPart | None) -> float:
    cages = part.cages if isinstance(part, SwitchPart) else ()
    return max((group.max_module_power_w or 0.0 for group in cages if group.purpose == "fabric"), default=0.0)


def _module_watts(cluster: Cluster, parts: PartLookup) -> NDArray[np.float64]:
    """Return the largest power of a transceiver by its number in ``cluster.parts``; NaN unknown, and last for no part."""
    found = [parts.get(part) for part in cluster.parts]
    watts = [part.max_power_w if isinstance(part, TransceiverPart) else None for part in found]
    return np.array([np.nan if value is None else value for value in [*watts, None]], np.float64)


def _of_devices(cluster: Cluster, parts: PartLookup, own: list[OwnPower]) -> list[str]:
    devices = cluster.devices
    pairs = distinct_values(devices.kind.astype(np.int64) << 32 | (devices.part.astype(np.int64) + 1))
    said = []
    for pair in pairs.tolist():
        kind, number = pair >> 32, (pair & 0xFFFFFFFF) - 1
        name = cluster.parts[number] if number >= 0 else f"{_WORDS.get(kind, 'device')} without a part"
        part = parts.get(name) if number >= 0 else None
        if (isinstance(part, ServerPart) and part.rack) or (number < 0 and kind == DeviceKind.PDU):
            continue  # the rack has the power of a tray; the losses of a PDU are not modelled
        if own[number].power_w is None:
            said.append(f"{name}: power unknown, not counted in its rack")
        elif own[number].typical:
            said.append(f"typical power of {name}; its largest is not published")
    return list(dict.fromkeys(said))


def _of_modules(cluster: Cluster, own: list[OwnPower], missing: NDArray[np.int32]) -> list[str]:
    """Return what is said of transceivers: whose power covers them, to whose they are added, and which are not known."""
    holders = distinct_values(cluster.devices.part[cluster.modules.device]).tolist()
    covering = [cluster.parts[number] for number in holders if own[number].covers_modules]
    others = [
        cluster.parts[number]
        for number in holders
        if number >= 0 and own[number].power_w is not None and not own[number].covers_modules
    ]
    said = []
    if covering:
        said.append(f"largest power of {', '.join(covering)} is with modules: transceivers add nothing to it")
    if others:
        said.append(f"power of {', '.join(others)} is not said to cover transceivers: theirs is added")
    for number, count in zip(*np.unique(missing, return_counts=True), strict=True):
        name = cluster.parts[number] if number >= 0 else "transceivers without a part"
        said.append(f"{name}: power unknown, not counted ({counted(int(count), 'transceiver')})")
    return said
