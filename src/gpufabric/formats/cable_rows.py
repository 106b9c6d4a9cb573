"""Cables of a plan, each told once with both its ends → rows of a found fabric."""

from __future__ import annotations

import math

from gpufabric.errors import printable
from gpufabric.formats.found_rows import FoundRows
from gpufabric.formats.lldp_rows import device_key
from gpufabric.records.cluster import UNKNOWN, DeviceKind

#: What makers of plans call devices; what is not here stays unknown.
DEVICE_KIND_OF_WORD = {
    "server": DeviceKind.SERVER,
    "host": DeviceKind.SERVER,
    "leaf": DeviceKind.SWITCH,
    "spine": DeviceKind.SWITCH,
    "superspine": DeviceKind.SWITCH,
    "core": DeviceKind.SWITCH,
    "tor": DeviceKind.SWITCH,
    "switch": DeviceKind.SWITCH,
    "oob-switch": DeviceKind.SWITCH,
}

End = tuple[str, str]


def add_cable(
    rows: FoundRows,
    ends: tuple[End, End],
    line: int,
    rate: float = math.nan,
    part: str = "",
    racks: tuple[str, str] = ("", ""),
) -> bool:
    """Add a cable between two (device, port) pairs; False when one of the four texts is missing.

    A plan says once what both ends hold, so both ends are taken to tell of it. *part* is that of the cable and
    *racks* those of the devices, empty where they are not told.
    """
    if not all(text.strip() for end in ends for text in end):
        return False
    ports = []
    for (device, port), rack in zip(ends, racks, strict=True):
        row = rows.add_device(device_key(device), device.strip(), UNKNOWN, line)
        rows.set_rack(row, rack)
        ports.append(rows.add_port(row, port.strip()))
    near, far = ports
    if near == far:
        label = printable(rows.port_label(near))
        rows.note("found-ends-disagree", "error", line, f"{label} is linked with itself", "correct the row")
        return True
    rows.add_end(near, far, line, rate)
    rows.add_end(far, near, line, rate)
    rows.set_cable(near, part)
    return True
