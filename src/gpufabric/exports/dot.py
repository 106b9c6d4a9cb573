"""Cluster → Graphviz DOT: every device a node, every link an edge between ports."""

from __future__ import annotations

from collections.abc import Iterator
from math import isnan

import numpy as np
from numpy.typing import NDArray

from gpufabric.exports.chosen_links import chosen_links, linked_devices
from gpufabric.exports.legal_names import NameRule, check_names
from gpufabric.exports.link_ends import link_ends
from gpufabric.exports.text_pieces import text_pieces
from gpufabric.records.cluster import DeviceKind, Role
from gpufabric.records.export_target import ExportedFile, ExportSource, ExportTarget
from gpufabric.records.names import device_names, port_names
from gpufabric.records.tiers import device_tiers
from gpufabric.units import format_gbps

# Inside quotes only a quote and a backslash mean something; a colon would part node and port when others read it.
_RULE = NameRule(
    "dot", r'[^"\\\x00-\x1f\x7f]+', 128, "all characters but quotes, backslashes and control characters"
)


def write(source: ExportSource) -> tuple[ExportedFile, ...]:
    """Return ``fabric.dot``, tiers on ranks of their own.

    Raises
    ------
    InputError
        If a name holds quotes or control characters.
    """
    links = chosen_links(source)
    check_names(device_names(source.cluster, linked_devices(source, links)).tolist(), _RULE)
    ports = link_ends(source.cluster, links, port_names(source.cluster, None, source.parts))
    check_names({*ports.port_a, *ports.port_b}, _RULE, "port")
    return (ExportedFile("fabric.dot", text_pieces(_lines(source, links))),)


def _lines(source: ExportSource, links: NDArray[np.int64]) -> Iterator[str]:
    cluster = source.cluster
    devices = linked_devices(source, links)
    names = device_names(cluster, devices)
    yield "graph fabric {"
    yield "  rankdir=BT"
    yield "  node [shape=box]"
    tiers = device_tiers(cluster)[devices]
    table = cluster.devices
    for tier in np.unique(tiers).tolist():
        yield "  {"
        yield "    rank=same"
        for row in np.flatnonzero(tiers == tier).tolist():
            role, kind = int(table.role[devices[row]]), int(table.kind[devices[row]])
            function = Role.NAMES[role] if role >= 0 else ("switch" if kind == DeviceKind.SWITCH else "host")
            yield f'    "{names[row]}" [function="{function}"]'
        yield "  }"
    rates = cluster.links.bytes_per_s[links].tolist()
    ports = port_names(cluster, None, source.parts)
    for (a, port_a, b, port_b), rate in zip(link_ends(cluster, links, ports), rates, strict=True):
        told = "" if isnan(rate) else f' [rate="{format_gbps(rate)}"]'
        yield f'  "{a}":"{port_a}" -- "{b}":"{port_b}"{told}'
    yield "}"


TARGET = ExportTarget(
    name="dot",
    title="Graphviz DOT",
    files="fabric.dot",
    kept="every device with its role, and every link with its ports and rate; tiers stand on ranks of their own",
    lost="parts, units, rails, planes, racks, cables, lengths and GPUs",
    network="any",
    source="The DOT language, https://graphviz.org/doc/info/lang.html, read 2026-12-01",
    write=write,
)
