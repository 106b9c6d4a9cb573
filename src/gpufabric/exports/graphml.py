"""Cluster → GraphML: every device a node, every link an edge, with everything that is known of them as typed attributes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from math import isnan
from xml.sax.saxutils import escape, quoteattr

import numpy as np
from numpy.typing import NDArray

from gpufabric.errors import InputError, printable
from gpufabric.exports.chosen_links import chosen_links, linked_devices
from gpufabric.exports.link_ends import link_ends
from gpufabric.exports.text_pieces import text_pieces
from gpufabric.records.cluster import Role
from gpufabric.records.export_target import ExportedFile, ExportSource, ExportTarget
from gpufabric.records.names import device_names, port_names

_NODE_KEYS = (
    ("kind", "string"),
    ("role", "string"),
    ("part", "string"),
    ("fabric", "string"),
    ("unit", "int"),
    ("pod", "int"),
    ("plane", "int"),
    ("rail", "int"),
    ("rack", "string"),
)
_EDGE_KEYS = (
    ("fabric", "string"),
    ("port_a", "string"),
    ("port_b", "string"),
    ("bytes_per_s", "double"),
    ("assembly", "int"),
    ("cable", "string"),
    ("length_m", "double"),
)
_KINDS = ("server", "switch", "manager", "storage", "pdu")
# XML 1.0 has no way to write control characters.
_NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
Column = list[str]


def write(source: ExportSource) -> tuple[ExportedFile, ...]:
    """Return ``fabric.graphml``: an undirected multigraph; what is unknown has no entry.

    Raises
    ------
    InputError
        If a name holds characters that XML can't.
    """
    links = chosen_links(source, management=True)
    ports = source.cluster.ports.names or ()
    for what, names in (("device", device_names(source.cluster).tolist()), ("port", ports)):
        bad = next((name for name in names if _NOT_XML.search(name)), None)
        if bad is not None:
            raise InputError(
                f'graphml: {what} "{printable(bad)}" holds characters that XML can\'t; allowed are all but control characters; '
                f"rename the {what}"
            )
    return (ExportedFile("fabric.graphml", text_pieces(_lines(source, links))),)


def _lines(source: ExportSource, links: NDArray[np.int64]) -> Iterator[str]:
    yield '<?xml version="1.0" encoding="UTF-8"?>'
    yield '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">'
    for what, keys in (("node", _NODE_KEYS), ("edge", _EDGE_KEYS)):
        for name, kind in keys:
            yield f'  <key id="{what}_{name}" for="{what}" attr.name="{name}" attr.type="{kind}"/>'
    yield f'  <graph id={quoteattr(source.cluster.name)} edgedefault="undirected">'
    devices = linked_devices(source, links)
    names = device_names(source.cluster, devices).tolist()
    columns = _device_columns(source, devices)
    for row, name in enumerate(names):
        data = "".join(_data("node", key, columns[key][row]) for key, _ in _NODE_KEYS)
        yield f"    <node id={quoteattr(name)}>{data}</node>"
    columns = _link_columns(source, links)
    ends = link_ends(source.cluster, links, port_names(source.cluster, None, source.parts))
    columns |= {"port_a": ends.port_a, "port_b": ends.port_b}
    for row, (a, b) in enumerate(zip(ends.device_a, ends.device_b, strict=True)):
        data = "".join(_data("edge", key, columns[key][row]) for key, _ in _EDGE_KEYS)
        yield f'    <edge id="link{row}" source={quoteattr(a)} target={quoteattr(b)}>{data}</edge>'
    yield "  </graph>"
    yield "</graphml>"


def _data(what: str, key: str, value: str) -> str:
    return f'<data key="{what}_{key}">{escape(value)}</data>' if value else ""


def _device_columns(source: ExportSource, devices: NDArray[np.int64]) -> dict[str, Column]:
    cluster, table = source.cluster, source.cluster.devices
    fabrics = [fabric.name for fabric in cluster.fabrics]
    columns = {
        "kind": _named(table.kind[devices], _KINDS),
        "role": _named(table.role[devices], Role.NAMES),
        "part": _named(table.part[devices], cluster.parts),
        "fabric": _named(table.fabric[devices], fabrics),
        "rack": [""] * len(devices),
    }
    for name in ("unit", "pod", "plane", "rail"):
        values = getattr(table, name)[devices].tolist()
        columns[name] = [str(value + 1) if value >= 0 else "" for value in values]
    if source.floor_plan is not None:
        columns["rack"] = source.floor_plan.places(devices)
    return columns


def _link_columns(source: ExportSource, links: NDArray[np.int64]) -> dict[str, Column]:
    cluster = source.cluster
    assembly = cluster.links.assembly[links]
    known = assembly >= 0
    part = np.full(len(links), -1, np.int64)
    length = np.full(len(links), np.nan)
    part[known] = cluster.assemblies.part[assembly[known]]
    length[known] = cluster.assemblies.length_m[assembly[known]]
    fabric = cluster.ports.fabric[cluster.links.port_a[links]]
    return {
        "fabric": _named(fabric, [one.name for one in cluster.fabrics]),
        "bytes_per_s": _numbers(cluster.links.bytes_per_s[links]),
        "assembly": [str(value) if value >= 0 else "" for value in assembly.tolist()],
        "cable": _named(part, cluster.parts),
        "length_m": _numbers(length),
    }


def _named(codes: NDArray[np.integer], names: tuple[str, ...] | list[str]) -> Column:
    return [names[code] if 0 <= code < len(names) else "" for code in codes.tolist()]


def _numbers(values: NDArray[np.float64]) -> Column:
    return ["" if isnan(value) else f"{value:.12g}" for value in values.tolist()]


TARGET = ExportTarget(
    name="graphml",
    title="GraphML, for networkx, Gephi, yEd and others",
    files="fabric.graphml",
    kept="every device with role, part, fabric, unit, pod, plane, rail and place in its rack, and every link with ports, rate, "
    "cable and length",
    lost="ports without a link, transceivers, GPUs and what is inside servers",
    network="any",
    source="GraphML primer, http://graphml.graphdrawing.org/primer/graphml-primer.html, read 2026-12-01",
    write=write,
)
