"""Cluster → a topology for NVIDIA Air in its JSON form."""

from __future__ import annotations

import json
from collections.abc import Iterator

from gpufabric.exports.chosen_links import chosen_links, linked_devices
from gpufabric.exports.host_names import host_rule, interface_rule
from gpufabric.exports.interface_names import interface_names
from gpufabric.exports.legal_names import NameRule, check_names
from gpufabric.exports.link_ends import LinkEnds, link_ends
from gpufabric.exports.text_pieces import text_pieces
from gpufabric.records.cluster import DeviceKind
from gpufabric.records.export_target import ExportedFile, ExportOption, ExportSource, ExportTarget
from gpufabric.records.names import device_names

_OS = ExportOption(
    "os", (), "cumulus-vx-5.16.1", "image of switches, as Air names it; sonic-… has interfaces eth1 and on"
)
_SERVER_OS = ExportOption("server-os", (), "generic/ubuntu2404", "image of servers, as Air names it")
_IMAGE = NameRule("air", r"[A-Za-z0-9][A-Za-z0-9_.:/-]*", 128, "letters, digits and the characters _ . : / -")
# What the documentation gives its example switches and servers: cores, MiB of memory, GB of disk.
_SWITCH_SIZE, _SERVER_SIZE = (2, 4096, 20), (2, 2048, 10)


def write(source: ExportSource) -> tuple[ExportedFile, ...]:
    """Return ``<cluster>.json`` with nodes and links.

    Raises
    ------
    InputError
        If a name is not legal in Air.
    """
    links = chosen_links(source)
    os, server_os = source.option("os", _OS.default), source.option("server-os", _SERVER_OS.default)
    check_names([os], _IMAGE, "image")
    check_names([server_os], _IMAGE, "image")
    cluster = source.cluster
    check_names(device_names(cluster, linked_devices(source, links)).tolist(), host_rule("air"))
    sonic = os.startswith("sonic")
    ports = interface_names(cluster, "linux" if sonic else "cumulus", source.parts, not sonic)
    ends = link_ends(cluster, links, ports)
    check_names(sorted({*ends.port_a, *ends.port_b}), interface_rule("air"), "port")
    return (ExportedFile("air-topology.json", text_pieces(_lines(source, ends, (os, server_os)))),)


def _lines(source: ExportSource, ends: LinkEnds, images: tuple[str, str]) -> Iterator[str]:
    cluster = source.cluster
    devices = linked_devices(source, chosen_links(source))
    yield "{"
    yield f'  "format": "JSON", "title": {json.dumps(cluster.name)}, "ztp": null,'
    yield '  "content": {'
    yield '    "nodes": {'
    names, kinds = device_names(cluster, devices).tolist(), cluster.devices.kind[devices].tolist()
    for row, (name, kind) in enumerate(zip(names, kinds, strict=True)):
        switch = kind == DeviceKind.SWITCH
        cpu, memory, storage = _SWITCH_SIZE if switch else _SERVER_SIZE
        node = {"cpu": cpu, "memory": memory, "storage": storage, "os": images[0 if switch else 1]}
        yield f"      {json.dumps(name)}: {json.dumps(node)}{',' if row + 1 < len(names) else ''}"
    yield "    },"
    yield '    "links": ['
    last = len(ends.device_a) - 1
    for row, (a, port_a, b, port_b) in enumerate(ends):
        pair = [{"interface": port_a, "node": a}, {"interface": port_b, "node": b}]
        yield f"      {json.dumps(pair)}{',' if row < last else ''}"
    yield "    ]"
    yield "  }"
    yield "}"


TARGET = ExportTarget(
    name="air",
    title="NVIDIA Air topology (JSON)",
    files="air-topology.json",
    kept="every switch, server and link of the fabric, with the ports that Cumulus Linux has",
    lost="rates, cables, parts, roles, GPUs and racks; sizes of virtual machines are those of Air's examples",
    network="ethernet",
    source="NVIDIA Air user guide, custom topologies, "
    "https://docs.nvidia.com/networking-ethernet-software/nvidia-air/Custom-Topology/, read 2026-12-01",
    write=write,
    options=(_OS, _SERVER_OS),
)
