"""An exchange of all with all → the loads of links, from sums over switches instead of single messages."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gpufabric.collectives.exchange_steps import ExchangeSteps, RailToGpuSteps, place_in_charge
from gpufabric.collectives.fixed_steps import inside_edges
from gpufabric.collectives.gpu_ports import GpuPorts
from gpufabric.collectives.job_wiring import JobWiring
from gpufabric.jobs.edge_loads import JobRoutes, edge_loads, port_loads, rerouted
from gpufabric.jobs.spread_by_hash import spread_by_hash
from gpufabric.kernels.expand_ranges import expand_ranges
from gpufabric.kernels.side_by_side import side_by_side
from gpufabric.records.cluster import DeviceKind
from gpufabric.records.flows import LinkLoads, PortEdges
from gpufabric.records.schedule import Steps
from gpufabric.routing.edge_ends import find_edge_ends, index_ports

# Up to so many messages a hash is asked for each of them: those of an all-to-all over 1,024 GPUs.
MOST_HASHED = 1 << 20
# So many messages are found at a time. Single paths are looked up in parts that stay in a processor's cache, which takes half
# as long; sprayed ones are added up by switch first, at a cost that does not depend on their number.
_MOST_FOUND, _MOST_ROUTED = 1 << 20, 1 << 17
_SPRAYED = ("adaptive", "shortest")


@dataclass(frozen=True, slots=True)
class _Meeting:
    """Every sender sends to every receiver in another node: the product of their sizes.

    Attributes
    ----------
    sender, receiver : int64 arrays
        Places.
    send, receive : float64 arrays
    by_node : int64 array
        Rows of the receivers, node by node.
    held : int64 array, one a node
        Receivers in it.
    """

    sender: NDArray[np.int64]
    send: NDArray[np.float64]
    receiver: NDArray[np.int64]
    receive: NDArray[np.float64]
    by_node: NDArray[np.int64]
    held: NDArray[np.int64]


def _meeting(
    job: JobWiring,
    sender: NDArray[np.int64],
    send: NDArray[np.float64],
    receiver: NDArray[np.int64],
) -> _Meeting:
    """Return the meeting of senders with receivers that each take in one part."""
    node = job.node[receiver]
    return _Meeting(
        sender,
        send,
        receiver,
        np.ones(len(receiver)),
        np.argsort(node, kind="stable"),
        np.bincount(node, minlength=len(job.nodes)).astype(np.int64),
    )


Exchange = ExchangeSteps | RailToGpuSteps


def summed_up(routes: JobRoutes, steps: Steps, repeat: int) -> Exchange | None:
    """Return *steps* if their messages can be dealt with by what they have in common, else None.

    They must be alike, switches must lie between all servers, and where a hash picks the ways there must be too many messages to
    ask it for each; equal hashes of all tiers put messages where no distribution is known for, so these are asked for always.
    """
    if not isinstance(steps, ExchangeSteps | RailToGpuSteps) or steps.ports.cables is not None:
        return None
    sent = steps.share.strides
    alike = sent[1] == 0 and (sent[0] == 0 or isinstance(steps, RailToGpuSteps))
    hashing = routes.wiring.hashing
    single = len(routes.job.gpu) * repeat * hashing.queue_pairs <= MOST_HASHED or hashing.polarised
    few = routes.routing == "ecmp" and single
    return steps if alike and len(routes.job.nodes) > 1 and not few else None


def exchange_loads(routes: JobRoutes, steps: Exchange) -> list[LinkLoads]:
    """Return the loads of all steps of an exchange.

    Inside servers and on their cables the sum over all messages is known in closed form. Between switches, what sprayed messages
    load depends only on how many bytes each leaf has for each other one, so one message a pair of leaves stands for all, exactly.
    Static tables look at the target alone, so one message a leaf and target port does. Where a hash picks, each link's count of
    messages is drawn from the distribution that hashing gives it, with the seed (:mod:`gpufabric.jobs.spread_by_hash`).

    Parameters
    ----------
    routes : JobRoutes
    steps : ExchangeSteps or RailToGpuSteps
        What :func:`summed_up` returned.

    Raises
    ------
    UnbuildableError
        If a message has no way.
    """
    ports, job = steps.ports, routes.job
    chosen = ports.port[steps.channel]
    found = (
        _inside_nodes(routes, ports, float(steps.share.flat[0])) if isinstance(steps, ExchangeSteps) else []
    )
    meetings = list(_meetings(steps))
    out, into = np.zeros(len(job.gpu)), np.zeros(len(job.gpu))
    count = len(job.nodes)
    for meeting in meetings:
        at_sender, at_receiver = job.node[meeting.sender], job.node[meeting.receiver]
        sent = np.bincount(at_sender, meeting.send, minlength=count)
        received = np.bincount(at_receiver, meeting.receive, minlength=count)
        np.add.at(out, meeting.sender, meeting.send * (received.sum() - received[at_sender]))
        np.add.at(into, meeting.receiver, meeting.receive * (sent.sum() - sent[at_receiver]))
    graph, cluster = routes.wiring.graph, routes.wiring.cluster
    for amount, outwards in ((out, True), (into, False)):
        found += port_loads(routes, job.gpu, chosen, amount, outwards)
    port_link = index_ports(cluster)
    ends = find_edge_ends(cluster, port_link, PortEdges(chosen, chosen, np.zeros(len(chosen), np.int64)))
    found.append(LinkLoads(graph.cable_link[ends.exit_link, ends.exit_side], out))
    found.append(LinkLoads(graph.cable_link[ends.entry_link, ends.entry_side], into))
    _, leaf = np.unique(ends.source, return_inverse=True)
    hashed = routes.routing == "ecmp"
    mean = rerouted(routes, "adaptive") if hashed else routes
    between = _sum_links(mean, _representatives(mean, meetings, chosen, leaf))
    if hashed:
        messages = sum(len(m.sender) * len(m.receiver) for m in meetings)
        parts = max(messages, 1) * routes.wiring.hashing.queue_pairs
        between = spread_by_hash(routes.wiring, between, float(out.sum()) / parts, routes.seed)
    return [*found, between]


def _inside_nodes(routes: JobRoutes, ports: GpuPorts, share: float) -> list[LinkLoads]:
    """Return the loads of all messages between GPUs of one node."""
    nodes, node = ports.job.nodes, ports.job.node
    other, place = expand_ranges(nodes.first[node], nodes.size[node])
    apart = other != place
    edges = inside_edges(nodes.gpu[place[apart]], nodes.gpu[other[apart]])
    return edge_loads(routes, edges, np.full(len(edges), share), 0)


def _meetings(steps: Exchange) -> Iterator[_Meeting]:
    job = steps.ports.job
    everyone = np.arange(len(job.gpu))
    if isinstance(steps, ExchangeSteps):
        share = np.full(len(everyone), steps.share.flat[0])
        yield _meeting(job, everyone, share, everyone)
        return
    nodes = np.arange(len(job.nodes))
    for rail in range(int(job.nodes.size.max())):
        charge = place_in_charge(steps.ports, nodes, np.full(len(nodes), rail))
        receiver = np.flatnonzero(job.local == rail)
        yield _meeting(job, charge, steps.share[:, 0].astype(np.float64), receiver)


def _representatives(
    routes: JobRoutes, meetings: list[_Meeting], port: NDArray[np.int32], leaf: NDArray[np.int64]
) -> Iterator[PortEdges]:
    """Give messages that stand for all: one a pair of leaves, or one a leaf and port where tables look at the port."""
    leaves = int(leaf.max()) + 1
    first = np.full(leaves, -1, np.int64)
    first[leaf[::-1]] = np.arange(len(leaf))[::-1]
    if routes.routing in _SPRAYED:
        target, entry = leaf, port[first]
    else:
        target, entry = np.arange(len(port)), port
    width, most = len(entry), _MOST_FOUND if routes.routing in _SPRAYED else _MOST_ROUTED
    rows = max(1, _MOST_FOUND // width)
    for begin in range(0, leaves, rows):
        some = slice(begin, min(begin + rows, leaves))
        bytes_for = np.zeros((some.stop - begin, width))
        for meeting in meetings:
            bytes_for += _bytes_between(routes, meeting, leaf, target, (leaves, width), some)
        # Bytes below 10⁻⁹ of a leaf's are what is left of taking one sum from another.
        row, column = np.nonzero(bytes_for > 1e-9 * bytes_for.max(initial=0.0))
        apart = leaf[first[row + begin]] != (column if target is leaf else leaf[column])
        row, column = row[apart], column[apart]
        for start in range(0, len(row), most):
            own, other = row[start : start + most], column[start : start + most]
            key = np.zeros(len(own), np.int64)
            yield PortEdges(port[first[own + begin]], entry[other], key, bytes_for[own, other])


def _bytes_between(
    routes: JobRoutes,
    meeting: _Meeting,
    leaf: NDArray[np.int64],
    target: NDArray[np.int64],
    shape: tuple[int, int],
    rows: slice,
) -> NDArray[np.float64]:
    """Return what some leaves have for each target: the product of the sums, less what stays in a node."""
    job = routes.job
    sent = np.bincount(leaf[meeting.sender], meeting.send, minlength=shape[0])[rows].astype(np.float64)
    received = np.bincount(target[meeting.receiver], meeting.receive, minlength=shape[1])
    product = sent[:, None] * received
    held = meeting.held
    begin = np.cumsum(held) - held
    mine = np.flatnonzero((leaf[meeting.sender] >= rows.start) & (leaf[meeting.sender] < rows.stop))
    node = job.node[meeting.sender[mine]]
    at, owner = expand_ranges(begin[node], held[node])
    other = meeting.by_node[at]
    own = mine[owner]
    cell = (leaf[meeting.sender[own]] - rows.start) * shape[1] + target[meeting.receiver[other]]
    same_node = np.bincount(cell, meeting.send[own] * meeting.receive[other], minlength=product.size)
    return product - same_node.reshape(product.shape)


def _sum_links(routes: JobRoutes, messages: Iterator[PortEdges]) -> LinkLoads:
    """Return the loads of messages on links between switches, summed a link."""
    graph, kind = routes.wiring.graph, routes.wiring.cluster.devices.kind
    total = np.zeros(graph.links)

    def route(edges: PortEdges) -> LinkLoads:
        return routes.route(edges, routes.seed)

    several = map(route, messages) if routes.routing in _SPRAYED else side_by_side(route, messages)
    for routed in several:
        np.add.at(total, routed.link, routed.weight)
    used = np.flatnonzero(total)
    ends = graph.vertex_device[graph.link_from[used]], graph.vertex_device[graph.link_to[used]]
    used = used[(kind[ends[0]] == DeviceKind.SWITCH) & (kind[ends[1]] == DeviceKind.SWITCH)]
    return LinkLoads(used, total[used])
