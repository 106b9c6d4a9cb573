"""The link that holds a flow back → what a reader calls it."""

from __future__ import annotations

import numpy as np

from gpufabric.records.cluster import Cluster, DeviceKind, Role
from gpufabric.records.graph import Graph, VertexKind
from gpufabric.units import format_gbps, format_gigabytes_per_s

_INSIDE = {
    VertexKind.SCALE_UP: "scale-up switch",
    VertexKind.GPU: "GPU",
    VertexKind.PCIE: "PCIe switch",
    VertexKind.NIC: "NIC",
    VertexKind.SERVER: "CPU",
}


def name_bottleneck(cluster: Cluster, graph: Graph, link: int, messages: float = np.nan) -> str:
    """Return, for example, ``leaf to spine link (400 Gb/s) with 6 messages at a time``.

    Parameters
    ----------
    cluster, graph
        Where.
    link : int
        Directed link of the graph, -1 when nothing limits the flows.
    messages : float
        How many messages cross the link at a time; NaN where they are not alike, and not told then.
    """
    if link < 0:
        return "none"
    start, end = (_vertex_name(cluster, graph, int(v)) for v in (graph.link_from[link], graph.link_to[link]))
    ends_in_gpu = VertexKind.GPU in (
        graph.vertex_kind[graph.link_from[link]],
        graph.vertex_kind[graph.link_to[link]],
    )
    rate = float(graph.bytes_per_s[link])
    name = f"{start} to {end} link ({format_gigabytes_per_s(rate) if ends_in_gpu else format_gbps(rate)})"
    if np.isnan(messages):
        return name
    number = f"{messages:.3g}" if messages < 100 else f"{messages:,.0f}"
    shared = f"{number} messages at a time" if not np.isclose(messages, 1.0) else "1 message at a time"
    return f"{name} with {shared}"


def _vertex_name(cluster: Cluster, graph: Graph, vertex: int) -> str:
    kind = int(graph.vertex_kind[vertex])
    device = int(graph.vertex_device[vertex])
    if kind == VertexKind.SWITCH:
        role = int(cluster.devices.role[device])
        return Role.NAMES[role] if role >= 0 else "switch"
    if kind == VertexKind.SERVER and cluster.devices.kind[device] != DeviceKind.SERVER:
        return "other device"
    return _INSIDE[kind]
