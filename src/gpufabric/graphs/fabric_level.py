"""Cluster → graph of servers and switches, two directed links a cable."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gpufabric.graphs.directed_links import DirectedLinks, first_links, sort_links
from gpufabric.records.cluster import Cluster, DeviceKind
from gpufabric.records.graph import Graph, VertexKind


def build_fabric_graph(cluster: Cluster, latency_s: NDArray[np.float64]) -> Graph:
    """Return the graph whose vertices are the devices of *cluster*.

    Parameters
    ----------
    cluster : Cluster
    latency_s : float64 array, (L, 2)
        As :func:`gpufabric.graphs.link_latency.link_latencies` returns them.

    Raises
    ------
    InputError
        If the cluster is too large for the graph's indices.
    """
    devices = len(cluster.devices)
    links, place = sort_links(
        [cable_block(cluster, latency_s, cluster.link_device_a, cluster.link_device_b)], devices
    )
    switch = cluster.devices.kind == DeviceKind.SWITCH
    return Graph(
        first_out=first_links(links, devices),
        link_from=links.start,
        link_to=links.end,
        bytes_per_s=links.bytes_per_s,
        latency_s=links.latency_s,
        vertex_device=np.arange(devices, dtype=np.int32),
        vertex_kind=np.where(switch, VertexKind.SWITCH, VertexKind.SERVER).astype(np.int8),
        cable_link=place.reshape(2, -1).T.astype(np.int32),
        gpu_vertex=cluster.gpus.host.astype(np.int32),
    )


def cable_block(
    cluster: Cluster,
    latency_s: NDArray[np.float64],
    vertex_a: NDArray[np.int32],
    vertex_b: NDArray[np.int32],
) -> DirectedLinks:
    """Return both directions of all cables between the given vertices: first all a → b, then all b → a."""
    return DirectedLinks(
        np.concatenate([vertex_a, vertex_b]).astype(np.int32),
        np.concatenate([vertex_b, vertex_a]).astype(np.int32),
        np.tile(cluster.links.bytes_per_s, 2),
        np.concatenate([latency_s[:, 0], latency_s[:, 1]]),
    )
