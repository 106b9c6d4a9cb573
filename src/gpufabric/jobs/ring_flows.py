"""A ring schedule on a wiring → one flow a channel."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gpufabric.errors import InputError, did_you_mean, printable
from gpufabric.graphs.directed_links import LinkIndex, index_links
from gpufabric.graphs.gpu_level import build_gpu_graph
from gpufabric.graphs.inside_paths import gpu_to_gpu, gpu_to_port, port_to_gpu
from gpufabric.graphs.link_latency import link_latencies
from gpufabric.records.cluster import Cluster
from gpufabric.records.flows import Flows, PortEdges
from gpufabric.records.graph import Graph, Inside
from gpufabric.records.part_set import PartSet
from gpufabric.records.schedule import Edges, Schedule
from gpufabric.routing import ROUTING
from gpufabric.routing.tier_links import TierLinks, index_tiers


@dataclass(frozen=True, slots=True)
class Wiring:
    """A cluster with its GPU-level graph and the indices that paths are looked up in."""

    cluster: Cluster
    graph: Graph
    inside: Inside
    index: LinkIndex
    tiers: TierLinks


def lay_wiring(cluster: Cluster, parts: PartSet) -> Wiring:
    """Return *cluster* with everything that flows need to find their links; raises as what it calls does."""
    graph, inside = build_gpu_graph(cluster, parts.servers, link_latencies(cluster, parts))
    return Wiring(cluster, graph, inside, index_links(graph), index_tiers(cluster, graph))


def ring_flows(wiring: Wiring, schedule: Schedule, routing: str, seed: int = 0) -> Flows:
    """Return the flows of a ring schedule: each channel's whole ring is one flow.

    A flow's weight on a link is the number of ring edges that cross it (a fraction where a message is sprayed), because all edges
    of a ring carry the same bytes. Its latency is that of the cables and switches on the way of a chunk, which crosses
    2 (n - 1) of the n edges.

    Parameters
    ----------
    wiring, schedule
        Where and what.
    routing : str
        A key of ``ROUTING``.
    seed : int
        Seed of hashes.

    Raises
    ------
    InputError
        If the routing is unknown.
    UnbuildableError
        If an edge has no way.
    """
    route = ROUTING.get(routing)
    if route is None:
        raise InputError(
            f'routing "{printable(routing)}" is unknown; known: {", ".join(ROUTING)}.{did_you_mean(routing, ROUTING)}'
        )
    first, links, weights, latency = [0], [], [], []
    for number, channel in enumerate(schedule.channels):
        # Every step of every phase of a ring uses all its edges.
        ring = channel.phases[0].steps.at(0).edges
        inside = _inside_links(wiring, ring)
        crossed, times = [inside], [np.ones(len(inside))]
        between = ring.exit_port >= 0
        if between.any():
            exits, entries = ring.exit_port[between], ring.entry_port[between]
            key = (exits.astype(np.int64) << 32) ^ (entries.astype(np.int64) << 8) ^ number
            edges = PortEdges(exits, entries, key)
            routed = route(wiring.cluster, wiring.graph, wiring.tiers, edges, seed)
            crossed.append(routed.link.astype(np.int64))
            times.append(routed.weight)
        load = np.bincount(np.concatenate(crossed), np.concatenate(times), minlength=wiring.graph.links)
        used = np.flatnonzero(load != 0)
        first.append(first[-1] + len(used))
        links.append(used.astype(np.int32))
        weights.append(load[used])
        ranks = len(ring)
        latency.append(2 * (ranks - 1) / ranks * float(load @ wiring.graph.latency_s))
    return Flows(np.array(first, np.int64), np.concatenate(links), np.concatenate(weights), np.array(latency))


def _inside_links(wiring: Wiring, ring: Edges) -> NDArray[np.int64]:
    """Return the links inside servers that a channel uses, once for each time an edge crosses them."""
    graph, inside, index = wiring.graph, wiring.inside, wiring.index
    between = ring.exit_port >= 0
    hops = [gpu_to_gpu(graph, inside, index, ring.sender[~between], ring.receiver[~between])]
    in_job = np.zeros(len(inside.gpu_pcie) + 1, np.bool_)
    in_job[ring.sender] = True
    for own, ports, outwards in (
        (ring.sender[between], ring.exit_port[between], True),
        (ring.receiver[between], ring.entry_port[between], False),
    ):
        # Links are only counted, so their order is free; looked up in rising order they are found much faster.
        rising = np.argsort(ports, kind="stable")
        gpu, port = own[rising], ports[rising]
        beside = inside.port_gpu[port]
        # Without a GPU of the job beside the NIC, the ring's own GPU talks to it over PCIe.
        gate = np.where((beside >= 0) & in_job[beside], beside, gpu)
        apart = gate != gpu
        if outwards:
            hops.append(gpu_to_gpu(graph, inside, index, gpu[apart], gate[apart]))
            hops.append(gpu_to_port(graph, inside, index, gate, port))
        else:
            hops.append(port_to_gpu(graph, inside, index, port, gate))
            hops.append(gpu_to_gpu(graph, inside, index, gate[apart], gpu[apart]))
    return np.concatenate(hops)
