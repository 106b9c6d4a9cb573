"""Edges of a schedule and their bytes → the links that they load."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from gpufabric.collectives.fixed_steps import pick_edges
from gpufabric.collectives.job_wiring import JobWiring
from gpufabric.graphs.inside_paths import gpu_to_gpu, gpu_to_port, port_to_gpu
from gpufabric.jobs.choose_route import choose_route
from gpufabric.jobs.lay_wiring import Wiring
from gpufabric.jobs.link_facts import LinkFacts, find_link_facts
from gpufabric.jobs.switch_tree_loads import switch_tree_loads
from gpufabric.kernels.stable_order import stable_order
from gpufabric.records.flows import LinkLoads, PortEdges
from gpufabric.records.schedule import Edges


@dataclass(frozen=True, slots=True)
class Laid:
    """What messages put on links, and the sums of ``LinkFacts.measures`` over these loads: float64, 2."""

    loads: LinkLoads
    measured: NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class JobRoutes:
    """A job and how its messages find their way.

    Attributes
    ----------
    wiring : Wiring
    facts : LinkFacts
        Of the links of the wiring.
    job : JobWiring
    gates : bool array, one a GPU and a last False
        GPUs that others may hand messages to for the NIC beside them: those of the job, where they share more than PCIe.
    route : function
        From messages between ports and a seed to loads.
    routing : str
        Name of the policy.
    seed : int
    laid : dict
        Fixed messages that were laid before, by a digest of them: algorithms of one menu have many in common.
    """

    wiring: Wiring
    facts: LinkFacts
    job: JobWiring
    gates: NDArray[np.bool_]
    route: Callable[[PortEdges, int], LinkLoads]
    routing: str
    seed: int
    laid: dict[bytes, Laid] = field(default_factory=dict)


def find_routes(wiring: Wiring, job: JobWiring, routing: str, seed: int) -> JobRoutes:
    """Return how the messages of a job find their way.

    Raises
    ------
    InputError
        If the routing is unknown.
    """
    gates = np.zeros(len(wiring.inside.gpu_pcie) + 1, np.bool_)
    gates[job.gpu] = job.scale_up.kind != "pcie"
    route = choose_route(wiring.cluster, wiring.graph, wiring.tiers, wiring.tables, routing, wiring.hashing)
    name = "tables" if wiring.tables is not None else routing
    return JobRoutes(wiring, find_link_facts(wiring), job, gates, route, name, seed)


def rerouted(routes: JobRoutes, routing: str) -> JobRoutes:
    """Return the same job with its messages on the ways of another policy; raises as :func:`find_routes` does."""
    wiring = routes.wiring
    route = choose_route(wiring.cluster, wiring.graph, wiring.tiers, wiring.tables, routing, wiring.hashing)
    name = "tables" if wiring.tables is not None else routing
    return replace(routes, route=route, routing=name, laid={})


def measure_laid(routes: JobRoutes, loads: LinkLoads) -> Laid:
    """Return *loads* with the sums of what is asked of their links."""
    return Laid(loads, np.einsum("i,ij->j", loads.weight, routes.facts.measures.take(loads.link, axis=0)))


def edge_loads(
    routes: JobRoutes,
    edges: Edges,
    share: NDArray[np.float64],
    channel: int,
    by_gpu: bool = False,
    whole: float = 1.0,
) -> list[LinkLoads]:
    """Return the loads of messages on the links that they cross; a link may appear more than once.

    Inside a server a message goes over NVLink to the GPU beside the NIC that it leaves by, and over PCIe to the NIC; likewise on
    the other side. Where no GPU of the job stands beside the NIC, or GPUs share PCIe only, its own GPU deals with the NIC.

    Parameters
    ----------
    routes : JobRoutes
    edges : Edges
    share : float64 array, E
        Bytes of each message.
    channel : int
        Number of the channel, which tells its connections from those of others.
    by_gpu : bool
        Each pair of GPUs has a connection of its own; otherwise each pair of ports has.
    whole : float
        Bytes of all data of the channel: switches that add pass on no more.
    """
    inside, graph = routes.wiring.inside, routes.wiring.graph
    exits, entries = edges.exit_port >= 0, edges.entry_port >= 0
    stays = ~exits & ~entries
    found = []
    within = stays & (edges.sender >= 0) & (edges.receiver >= 0)
    if within.any():
        links, row = gpu_to_gpu(
            graph, inside, routes.wiring.index, edges.sender[within], edges.receiver[within]
        )
        found.append(LinkLoads(links.astype(np.int32), share[within][row]))
    to_switch, from_switch = stays & (edges.receiver < 0), stays & (edges.sender < 0)
    found.append(LinkLoads(inside.scale_up_out[edges.sender[to_switch]], share[to_switch]))
    found.append(LinkLoads(inside.scale_up_in[edges.receiver[from_switch]], share[from_switch]))
    found += port_loads(routes, edges.sender[exits], edges.exit_port[exits], share[exits], outwards=True)
    found += port_loads(
        routes, edges.receiver[entries], edges.entry_port[entries], share[entries], outwards=False
    )
    through = exits & entries
    if through.any():
        found.append(
            routes.route(
                _port_edges(pick_edges(edges, through), share[through], channel, by_gpu), routes.seed
            )
        )
    added = exits ^ entries
    if added.any():
        found += switch_tree_loads(routes.wiring, pick_edges(edges, added), share[added], whole)
    return found


def _port_edges(edges: Edges, share: NDArray[np.float64], channel: int, by_gpu: bool) -> PortEdges:
    ends = (edges.sender, edges.receiver) if by_gpu else (edges.exit_port, edges.entry_port)
    key = (ends[0].astype(np.int64) << 32) ^ (ends[1].astype(np.int64) << 8) ^ channel
    return PortEdges(edges.exit_port, edges.entry_port, key, share)


def port_loads(
    routes: JobRoutes,
    gpu: NDArray[np.integer],
    port: NDArray[np.integer],
    share: NDArray[np.float64],
    outwards: bool,
) -> list[LinkLoads]:
    """Return the loads between GPUs and the NICs of ports, inside servers.

    Parameters
    ----------
    routes : JobRoutes
    gpu, port, share : arrays of equal length
        Each row moves *share* bytes between a GPU and a port.
    outwards : bool
        From the GPU to the port; otherwise back.
    """
    wiring = routes.wiring
    graph, inside, index = wiring.graph, wiring.inside, wiring.index
    # Links are only summed, so their order is free; looked up in rising order they are found much faster.
    rising = stable_order(port)
    gpu, port, share = gpu[rising], port[rising], share[rising]
    beside = inside.port_gpu[port]
    gate = np.where((beside >= 0) & routes.gates[beside], beside, gpu)
    apart = np.flatnonzero(gate != gpu)
    if outwards:
        hand, row = gpu_to_gpu(graph, inside, index, gpu[apart], gate[apart])
        links, of = gpu_to_port(graph, inside, index, gate, port)
    else:
        hand, row = gpu_to_gpu(graph, inside, index, gate[apart], gpu[apart])
        links, of = port_to_gpu(graph, inside, index, port, gate)
    return [
        LinkLoads(hand.astype(np.int32), share[apart][row]),
        LinkLoads(links.astype(np.int32), share[of]),
    ]
