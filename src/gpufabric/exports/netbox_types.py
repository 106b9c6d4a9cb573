"""Parts of a cluster → NetBox device types, in the form of the community's device type library."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from json import dumps

import numpy as np
from numpy.typing import NDArray

from gpufabric.errors import InputError, printable
from gpufabric.exports.netbox_interfaces import NetboxInterface, interfaces_of, splits_differ
from gpufabric.records.cluster import DeviceKind, Role
from gpufabric.records.export_target import ExportSource
from gpufabric.records.parts import AnyPart, AppliancePart, PduPart, ServerPart, SwitchPart

_AIRFLOWS = {
    "front-to-rear",
    "rear-to-front",
    "left-to-right",
    "right-to-left",
    "side-to-rear",
    "passive",
    "mixed",
}
_MAKER_OF_NOTHING = "Generic"
_LONGEST_MODEL, _LONGEST_NUMBER, _LONGEST_NOTE = 100, 50, 200


@dataclass(frozen=True, slots=True)
class NetboxType:
    """A device type and the devices that have it."""

    manufacturer: str
    model: str
    slug: str
    units: float
    part: AnyPart | None
    devices: NDArray[np.int64]
    interfaces: tuple[NetboxInterface, ...]

    @property
    def path(self) -> str:
        """Place of its file below the folder of device types, as in the library."""
        return f"device-types/{slug_of(self.manufacturer)}/{self.slug}.yaml"


def netbox_types(
    source: ExportSource, devices: NDArray[np.int64], names: NDArray[np.object_]
) -> list[NetboxType]:
    """Return the types of *devices*.

    Parameters
    ----------
    source
    devices
    names
        Name of every port of the cluster.

    Raises
    ------
    InputError
        If the height of a device is known neither from its part nor from a floor plan.
    """
    table = source.cluster.devices
    types = []
    for part_index in np.unique(table.part[devices]).tolist():
        mine = devices[table.part[devices] == part_index]
        # Without a part only the role says what a device is.
        by_role = part_index < 0 or splits_differ(source.cluster, mine)
        roles = np.unique(table.role[mine]).tolist() if by_role else [None]
        for role in roles:
            own = mine if role is None else mine[table.role[mine] == role]
            types.append(_type(source, own, part_index, (role, names)))
    return types


def role_word(role: int, kind: int) -> str:
    """Return what a device is for."""
    if role >= 0:
        return Role.NAMES[role]
    return "switch" if kind == DeviceKind.SWITCH else "server"


def slug_of(text: str) -> str:
    """Return *text* as NetBox's slugs are: lower case, digits and dashes."""
    return re.sub(r"[^a-z0-9_]+", "-", text.lower()).strip("-")[:_LONGEST_MODEL] or "unnamed"


def type_lines(one: NetboxType) -> Iterator[str]:
    """Yield the YAML of a device type."""
    yield "---"
    yield f"manufacturer: {dumps(one.manufacturer)}"
    yield f"model: {dumps(one.model)}"
    yield f"slug: {one.slug}"
    part = one.part
    if part is not None and part.part_number:
        yield f"part_number: {dumps(part.part_number[:_LONGEST_NUMBER])}"
    yield f"u_height: {one.units:g}"
    yield "is_full_depth: true"
    if isinstance(part, SwitchPart | ServerPart):
        if part.airflow in _AIRFLOWS:
            yield f"airflow: {part.airflow}"
        if part.weight_kg:
            yield f"weight: {part.weight_kg:g}"
            yield "weight_unit: kg"
    if part is not None and part.description:
        yield f"description: {dumps(part.description[:_LONGEST_NOTE], ensure_ascii=False)}"
    if part is not None and part.sources:
        addresses = " ".join(source.url for source in part.sources.values())
        yield f"comments: {dumps(addresses, ensure_ascii=False)}"
    if one.interfaces:
        yield "interfaces:"
    for interface in one.interfaces:
        yield f"  - name: {dumps(interface.name)}"
        yield f"    type: {interface.type}"
        if interface.management:
            yield "    mgmt_only: true"


def _type(
    source: ExportSource,
    devices: NDArray[np.int64],
    part_index: int,
    how: tuple[int | None, NDArray[np.object_]],
) -> NetboxType:
    role, names = how
    part = source.parts.get(source.cluster.parts[part_index]) if part_index >= 0 else None
    word = role_word(
        int(source.cluster.devices.role[devices[0]]), int(source.cluster.devices.kind[devices[0]])
    )
    if part is None:
        maker, model = _MAKER_OF_NOTHING, source.cluster.parts[part_index] if part_index >= 0 else word
    else:
        maker, model = part.vendor, part.model
    if role is not None and part_index >= 0:
        model = f"{model} ({word})"
    return NetboxType(
        maker[:_LONGEST_MODEL],
        model[:_LONGEST_MODEL],
        slug_of(f"{maker}-{model}"),
        _height(source, devices, part),
        part,
        devices,
        tuple(interfaces_of(source, devices, part, names)),
    )


def _height(source: ExportSource, devices: NDArray[np.int64], part: AnyPart | None) -> float:
    if isinstance(part, SwitchPart | ServerPart | AppliancePart | PduPart) and part.rack_units is not None:
        return max(0.5, round(2 * part.rack_units) / 2)
    if source.floor_plan is not None:
        return float(source.floor_plan.height_units[devices[0]])
    raise InputError(
        f"netbox: the height of {printable(part.model if part else 'a device')} is unknown; NetBox needs one; give the part its "
        "rack_units"
    )
