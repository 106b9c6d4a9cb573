"""Cluster → what NetBox imports: device types, and lists of manufacturers, roles, site, racks, devices and cables."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from math import isnan, nan

import numpy as np
from numpy.typing import NDArray

from gpufabric.exports.chosen_links import chosen_links, linked_devices
from gpufabric.exports.legal_names import NameRule, check_names
from gpufabric.exports.link_ends import link_ends
from gpufabric.exports.netbox_interfaces import netbox_port_names
from gpufabric.exports.netbox_types import NetboxType, netbox_types, role_word, slug_of, type_lines
from gpufabric.exports.text_pieces import text_pieces
from gpufabric.records.export_target import ExportedFile, ExportOption, ExportSource, ExportTarget
from gpufabric.records.floor_plan import FloorPlan
from gpufabric.records.names import device_names
from gpufabric.records.parts import CablePart

_NAMES = ExportOption(
    "names",
    ("system", "plan"),
    "system",
    "interfaces as switches and RDMA call them, or ports as the cabling plan does",
)
_SITE = ExportOption("site", (), "", "name of the site; without it the cluster's")
_RULE = NameRule("netbox", r"[^\x00-\x1f\x7f]+", 64, "printable characters", same_in_both_cases=True)
_SITE_RULE = NameRule("netbox", r"[^\x00-\x1f\x7f]*[A-Za-z0-9][^\x00-\x1f\x7f]*", 100, "printable characters")
_CABLES = {"dac": "dac-passive", "acc": "dac-active", "aoc": "aoc", "cat6": "cat6"}
_FIBRES = {"multimode": "mmf", "single-mode": "smf"}
_COLOURS = {"server": "4caf50", "leaf": "2196f3", "spine": "ff9800", "core": "f44336"}
_OTHER_COLOUR = "9e9e9e"
_ROWS = 4096
Row = Sequence[str]


def write(source: ExportSource) -> tuple[ExportedFile, ...]:
    """Return the files, in the order in which NetBox must import them: each names only what those before it define.

    Of a cluster that was read from files only ``cables.csv`` is written: what its devices are is not known.

    Raises
    ------
    InputError
        If a name is too long for NetBox or two differ in case only, or the height of a device is not known.
    """
    cluster = source.cluster
    links = chosen_links(source, management=True)
    devices = linked_devices(source, links)
    check_names(device_names(cluster, devices).tolist(), _RULE)
    names = netbox_port_names(source)
    check_names(
        np.unique(names.astype(str)).tolist(), NameRule("netbox", _RULE.pattern, 64, _RULE.allowed), "port"
    )
    cables = _csv("cables.csv", _CABLE_COLUMNS, _cables(source, links, names))
    if source.spec is None:
        return (cables,)
    types = netbox_types(source, devices, names)
    site = source.option("site") or cluster.name
    check_names([site], _SITE_RULE, "site")
    makers = sorted({one.manufacturer for one in types})
    roles = sorted({_role(source, int(device)) for device in devices})
    files = [
        _csv("sites.csv", ("name", "slug", "status"), [(site, slug_of(site), "planned")]),
        _csv("manufacturers.csv", ("name", "slug"), [(maker, slug_of(maker)) for maker in makers]),
        _csv(
            "device-roles.csv",
            ("name", "slug", "color"),
            [(role, slug_of(role), _COLOURS.get(role, _OTHER_COLOUR)) for role in roles],
        ),
        *(ExportedFile(one.path, text_pieces(type_lines(one))) for one in types),
    ]
    if source.floor_plan is not None:
        files.append(_csv("racks.csv", _RACK_COLUMNS, _racks(source.floor_plan, site, devices)))
    rows = _devices(source, types, (site, devices))
    return (*files, _csv("devices.csv", _DEVICE_COLUMNS, rows), cables)


_RACK_COLUMNS = ("site", "name", "status", "u_height")
_DEVICE_COLUMNS = (
    "name",
    "role",
    "manufacturer",
    "device_type",
    "status",
    "site",
    "rack",
    "position",
    "face",
)
_CABLE_COLUMNS = (
    "side_a_device",
    "side_a_type",
    "side_a_name",
    "side_b_device",
    "side_b_type",
    "side_b_name",
    "type",
    "status",
    "label",
    "length",
    "length_unit",
)


def _csv(path: str, columns: Row, rows: Iterable[Row]) -> ExportedFile:
    return ExportedFile(path, _csv_pieces(columns, rows))


def _csv_pieces(columns: Row, rows: Iterable[Row]) -> Iterator[bytes]:
    waiting = iter(rows)
    piece: list[Row] = [columns]
    while piece:
        out = io.StringIO()
        csv.writer(out, lineterminator="\n").writerows(piece)
        yield out.getvalue().encode("utf-8")
        piece = list(islice(waiting, _ROWS))


def _role(source: ExportSource, device: int) -> str:
    table = source.cluster.devices
    return role_word(int(table.role[device]), int(table.kind[device]))


def _racks(plan: FloorPlan, site: str, devices: NDArray[np.int64]) -> Iterator[Row]:
    names = plan.racks.names
    for rack in np.unique(plan.rack[devices]).tolist():
        yield (site, names[rack], "planned", str(int(plan.racks.units[rack])))


def _devices(
    source: ExportSource, types: list[NetboxType], where: tuple[str, NDArray[np.int64]]
) -> Iterator[Row]:
    site, devices = where
    type_of = {int(device): one for one in types for device in one.devices}
    names = device_names(source.cluster, devices).tolist()
    plan = source.floor_plan
    racks = plan.racks.names if plan is not None else ()
    for name, device in zip(names, devices.tolist(), strict=True):
        one = type_of[device]
        place: Row = ("", "", "")
        if plan is not None:
            place = (racks[int(plan.rack[device])], str(int(plan.lowest_unit[device])), "front")
        yield (name, _role(source, device), one.manufacturer, one.model, "planned", site, *place)


def _cables(source: ExportSource, links: NDArray[np.int64], names: NDArray[np.object_]) -> Iterator[Row]:
    cluster = source.cluster
    words = [_cable_word(source, part) for part in cluster.parts]
    assembly = cluster.links.assembly[links].tolist()
    part, length = cluster.assemblies.part.tolist(), cluster.assemblies.length_m.tolist()
    for (a, port_a, b, port_b), row in zip(link_ends(cluster, links, names), assembly, strict=True):
        word = words[part[row]] if row >= 0 and part[row] >= 0 else ""
        metres = length[row] if row >= 0 else nan
        told = ("", "") if isnan(metres) else (f"{metres:.2f}", "m")
        label = str(row) if row >= 0 else ""
        yield (a, "dcim.interface", port_a, b, "dcim.interface", port_b, word, "planned", label, *told)


def _cable_word(source: ExportSource, part_id: str) -> str:
    """Return NetBox's word for the medium of a cable; empty where it has none."""
    part = source.parts.get(part_id)
    if not isinstance(part, CablePart):
        return ""
    return _CABLES.get(part.technology) or _FIBRES.get(part.medium, "")


TARGET = ExportTarget(
    name="netbox",
    title="NetBox (4.x) bulk import, and device types of its library",
    files="sites, manufacturers, device-roles, racks, devices, cables (.csv) and device-types/MAKER/TYPE.yaml",
    kept="every device with type, role and place in its rack; every link with its ports, medium, length and assembly (label)",
    lost="rails, planes, units, transceivers, GPUs, power supplies; every device type is taken as of full depth; of files that "
    "were read, all but cables",
    network="any",
    source="NetBox, netbox/dcim/forms/bulk_import.py of https://github.com/netbox-community/netbox, and schema of "
    "https://github.com/netbox-community/devicetype-library, read 2026-12-01",
    write=write,
    options=(_NAMES, _SITE),
)
