"""The ways of a ring's connections → the bus bandwidth that fluid simulation predicts for it on these links."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from gpufabric.collectives.bus_factors import bus_factor
from gpufabric.graphs.fabric_level import build_fabric_graph
from gpufabric.graphs.link_latency import link_latencies
from gpufabric.lab.connection_ways import shared_ways
from gpufabric.lab.scale_down import ScaledFabric
from gpufabric.lab.tcp_share import PAYLOAD_SHARE
from gpufabric.records.cluster import DeviceKind
from gpufabric.records.flows import Flows
from gpufabric.simulators import fluid
from gpufabric.units import format_gbps

Ways = Sequence[Sequence[tuple[int, int]]]


@dataclass(frozen=True, slots=True)
class RingPrediction:
    """Time and bus bandwidth of an all_reduce, and the link that holds it back."""

    time_s: float
    busbw_bytes_per_s: float
    bottleneck: str


def slowed_between(scaled: ScaledFabric, factor: float) -> ScaledFabric:
    """Return the fabric with the links between switches *factor* times as fast."""
    cluster = scaled.cluster
    switch = cluster.devices.kind == DeviceKind.SWITCH
    between = switch[cluster.link_device_a] & switch[cluster.link_device_b]
    rates = np.where(between, cluster.links.bytes_per_s * factor, cluster.links.bytes_per_s)
    return replace(scaled, cluster=replace(cluster, links=replace(cluster.links, bytes_per_s=rates)))


def predict_ring(scaled: ScaledFabric, ways: Ways, size_bytes: int) -> RingPrediction:
    """Predict an all_reduce by a ring whose edges take the given ways.

    Parameters
    ----------
    scaled
        With the rates that its links run at.
    ways
        For each edge of the ring, that is for each rank, the links that it takes and from which end.
    size_bytes
        Of the message.

    Notes
    -----
    The whole ring is one flow: over each edge go 2 (n - 1) / n of the message, and no edge can run ahead of the others. TCP's
    headers take their part of the links. Latency, and filling and draining of buffers, are left out: it holds for large messages.
    """
    graph = build_fabric_graph(scaled.cluster, link_latencies(scaled.cluster, scaled.parts))
    shared = shared_ways(ways)
    links = {int(graph.cable_link[row, side]): count for (row, side), count in shared.items()}
    order = sorted(links)
    flows = Flows(
        first=np.array([0, len(order)], np.int64),
        link=np.array(order, np.int32),
        weight=np.array([links[link] for link in order], np.float64),
        latency_s=np.zeros(1),
    )
    factor = bus_factor("all_reduce", len(ways))
    times = fluid.run(graph, flows, np.array([size_bytes * factor / PAYLOAD_SHARE]))
    full = int(times.bottleneck[0])
    names = scaled.cluster.devices.names or ()
    ends = " to ".join(names[graph.vertex_device[v]] for v in (graph.link_from[full], graph.link_to[full]))
    rate = format_gbps(float(graph.bytes_per_s[full]))
    return RingPrediction(
        time_s=times.total_s,
        busbw_bytes_per_s=size_bytes * factor / times.total_s,
        bottleneck=f"{ends}, {rate} for {links[full]} of {len(ways)} connections",
    )
