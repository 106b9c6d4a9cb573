"""Design → InfraGraph infrastructure: what is inside servers and switches once a part, instances, and the links between them."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gpufabric.errors import InputError, printable
from gpufabric.exports.chosen_links import chosen_links, linked_devices
from gpufabric.exports.infragraph_devices import (
    Json,
    bits_link,
    endpoint_device,
    scale_up_link,
    server_device,
    switch_device,
)
from gpufabric.exports.interface_names import port_ranks
from gpufabric.exports.text_pieces import text_pieces
from gpufabric.graphs.link_latency import link_latencies
from gpufabric.records.cluster import DeviceKind, Role
from gpufabric.records.export_target import ExportedFile, ExportSource, ExportTarget
from gpufabric.records.names import device_names
from gpufabric.records.parts import ServerPart
from gpufabric.units import nanoseconds

_Int = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class _Instances:
    """Devices of one role, part and fabric: the infragraph name of the group, its device and its rows in the cluster."""

    name: str
    device: str
    rows: _Int


def write(source: ExportSource) -> Iterator[ExportedFile]:
    """Yield the infrastructure and the table of its instances.

    Raises
    ------
    InputError
        If the chosen fabrics have no links, or a server has ports that its part lacks.
    """
    links = chosen_links(source)
    groups = _instances(source, linked_devices(source, links))
    yield ExportedFile("infragraph.json", text_pieces(_document(source, links, groups)))
    yield ExportedFile.of_text("instances.csv", _table(source, groups))


def _instances(source: ExportSource, rows: _Int) -> list[_Instances]:
    cluster = source.cluster
    devices = cluster.devices
    fabric = np.where(devices.kind[rows] == DeviceKind.SWITCH, devices.fabric[rows], -1)
    keys = np.stack([fabric, devices.role[rows], devices.part[rows]], axis=1).astype(np.int64)
    unique, group = np.unique(keys, axis=0, return_inverse=True)
    words = []
    for on, role, _ in unique.tolist():
        switch = on >= 0 and len(source.fabrics) > 1
        words.append((f"{_legal(cluster.fabrics[on].name)}-" if switch else "") + Role.NAMES[role])
    found = []
    for number, (word, (_, _, part)) in enumerate(zip(words, unique.tolist(), strict=True)):
        device = _legal(cluster.parts[part]) if part >= 0 else f"unknown-{word}"
        name = f"{word}-{device}" if words.count(word) > 1 else word
        found.append(_Instances(name, device, rows[group.ravel() == number]))
    return found


def _legal(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9_-]", "-", text)[:100]


def _document(source: ExportSource, links: _Int, groups: list[_Instances]) -> Iterator[str]:
    port = _port_numbers(source)
    devices: dict[str, Json] = {}
    for group in groups:
        devices.setdefault(group.device, _device(source, group, groups, port))
    instances = [{"name": group.name, "device": group.device, "count": len(group.rows)} for group in groups]
    named, edges = _edges(source, links, groups, port)
    shared, more = _shared_scale_up(source, groups)
    if shared:
        devices[shared["device"]["name"]] = shared["device"]
        instances.append(shared["instance"])
        named[shared["link"]["name"]] = shared["link"]
    head = {
        "name": _legal(source.cluster.name),
        "description": f"{printable(source.cluster.name)}, written by gpufabric",
        "devices": list(devices.values()),
        "links": list(named.values()),
        "instances": instances,
    }
    yield json.dumps(head, indent=1).removesuffix("\n}") + ',\n "edges": ['
    waiting = [*edges, *more]
    yield from (
        f"  {edge}{',' if number < len(waiting) else ''}" for number, edge in enumerate(waiting, start=1)
    )
    yield " ]\n}"


def _device(source: ExportSource, group: _Instances, groups: list[_Instances], port: _Int) -> Json:
    cluster = source.cluster
    alike = np.concatenate([one.rows for one in groups if one.device == group.device])
    ports = int(port[np.isin(cluster.ports.device, alike)].max()) + 1
    kind = int(cluster.devices.kind[group.rows[0]])
    part_row = int(cluster.devices.part[group.rows[0]])
    part = source.parts.get(cluster.parts[part_row]) if part_row >= 0 else None
    described = printable(part.description or f"{part.vendor} {part.model}", 200) if part else ""
    if isinstance(part, ServerPart) and kind == DeviceKind.SERVER:
        nics = source.parts.nics
        rates = [
            nics[nic.part].port_bytes_per_s if nic.part in nics else 0.0
            for nic in part.nics
            for _ in nic.ports
        ]
        if ports > len(rates):
            raise InputError(
                f"infragraph: servers have {ports} ports, part {printable(part.id)} {len(rates)}; correct the part"
            )
        return server_device(group.device, part, rates)
    if kind == DeviceKind.SWITCH:
        return switch_device(group.device, described, ports)
    return endpoint_device(group.device, described, ports)


def _port_numbers(source: ExportSource) -> _Int:
    """Return which port of its device each port is: of servers as their part lists them, else in order of cages and lanes."""
    cluster = source.cluster
    numbers = port_ranks(cluster)
    part_of = cluster.devices.part[cluster.ports.device]
    for row, part_id in enumerate(cluster.parts):
        part = source.parts.servers.get(part_id)
        if part is None:
            continue
        places = {
            (port.cage, port.lane): number
            for number, port in enumerate(p for nic in part.nics for p in nic.ports)
        }
        mine = np.flatnonzero((part_of == row) & (numbers >= 0))
        keys = np.stack([cluster.ports.cage[mine], cluster.ports.lane[mine]], axis=1)
        unique, code = np.unique(keys, axis=0, return_inverse=True)
        numbers[mine] = np.array([places.get((cage, lane), 0) for cage, lane in unique.tolist()], np.int64)[
            code.ravel()
        ]
    return numbers


def _edges(
    source: ExportSource, links: _Int, groups: list[_Instances], port: _Int
) -> tuple[dict[str, Json], Iterator[str]]:
    """Return the links by name, one for each rate and latency, and the edges as JSON."""
    cluster = source.cluster
    end_of = _ends(source, groups)
    delay = np.rint(nanoseconds(1) * link_latencies(cluster, source.parts)[links].mean(axis=1))
    keys = np.stack([cluster.links.bytes_per_s[links], delay], axis=1)
    unique, code = np.unique(keys, axis=0, return_inverse=True)
    made = [bits_link("link", rate, latency) for rate, latency in unique.tolist()]
    ends = []
    for side in (cluster.links.port_a[links], cluster.links.port_b[links]):
        device = cluster.ports.device[side].tolist()
        ends.append(
            [
                f'{{"instance":"{end_of[d]}","component":"port[{p}]"}}'
                for d, p in zip(device, port[side].tolist(), strict=True)
            ]
        )
    rows = zip(*ends, code.ravel().tolist(), strict=True)
    edges = (
        f'{{"ep1":{one},"ep2":{other},"scheme":"one2one","link":"{made[at]["name"]}"}}'
        for one, other, at in rows
    )
    return {link["name"]: link for link in made}, edges


def _ends(source: ExportSource, groups: list[_Instances]) -> dict[int, str]:
    return {
        row: f"{group.name}[{number}]" for group in groups for number, row in enumerate(group.rows.tolist())
    }


def _shared_scale_up(source: ExportSource, groups: list[_Instances]) -> tuple[Json | None, list[str]]:
    """Return the scale-up switch that several servers share, as device, instance and link, and its edges."""
    cluster = source.cluster
    end_of = _ends(source, groups)
    parts = [
        source.parts.servers.get(cluster.parts[row])
        for row in np.unique(cluster.devices.part[cluster.gpus.host]).tolist()
    ]
    wide = [part for part in parts if part is not None and part.scale_up.domain_servers > 1]
    if not wide or len(parts) > 1:
        return None, []
    domains, domain = np.unique(cluster.gpus.domain, return_inverse=True)
    place = np.arange(len(cluster.gpus)) - np.searchsorted(domain.ravel(), domain.ravel())
    link = scale_up_link(wide[0].scale_up.gpu_bytes_per_s)
    columns = (cluster.gpus.host, cluster.gpus.local, domain.ravel(), place)
    edges = [
        f'{{"ep1":{{"instance":"{end_of[host]}","component":"gpu[{local}]"}},"ep2":{{"instance":"scale-up-switch[{at}]",'
        f'"component":"port[{number}]"}},"scheme":"one2one","link":"{link["name"]}"}}'
        for host, local, at, number in zip(*(column.tolist() for column in columns), strict=True)
        if host in end_of
    ]
    device = switch_device(
        "scale-up-domain", "the scale-up switches of a domain as one", int(place.max()) + 1
    )
    instance = {"name": "scale-up-switch", "device": "scale-up-domain", "count": len(domains)}
    return {"device": device, "instance": instance, "link": link}, edges


def _table(source: ExportSource, groups: list[_Instances]) -> str:
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(("instance", "index", "device"))
    for group in groups:
        names = device_names(source.cluster, group.rows).tolist()
        table.writerows((group.name, number, name) for number, name in enumerate(names))
    return text.getvalue()


TARGET = ExportTarget(
    name="infragraph",
    title="InfraGraph infrastructure (schema 3.1)",
    files="infragraph.json, instances.csv",
    kept="servers with GPUs, PCIe, NICs, ports and scale-up links, switches with ports, every link of the fabric with "
    "rate (Gb/s; NVLink "
    "and PCIe in GB/s, one direction) and latency",
    lost="rails, planes, units, racks, cables and lengths; names (instances.csv says which device each index is); "
    "latency is the mean of "
    "both directions with the switch it enters",
    network="any",
    source="InfraGraph, docs/openapi.yaml of the package infragraph 3.1.0, https://github.com/Keysight/infragraph, "
    "read 2026-12-01",
    write=write,
    from_files=False,
)
