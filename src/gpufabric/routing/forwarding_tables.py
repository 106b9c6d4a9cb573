"""Static tables: every switch sends a message where its forwarding table says, as a subnet manager wrote it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gpufabric.errors import InputError, UnbuildableError, printable
from gpufabric.records.cluster import Cluster, DeviceKind
from gpufabric.records.flows import LinkLoads, PortEdges
from gpufabric.records.forwarding_tables import NO_PORT, ForwardingTables
from gpufabric.records.graph import Graph
from gpufabric.records.names import device_names, port_names
from gpufabric.records.part_lookup import PartLookup
from gpufabric.records.port_numbers import port_numbers
from gpufabric.routing.edge_ends import end_cables, find_edge_ends, index_ports
from gpufabric.routing.tier_links import TierLinks

MAX_HOPS = 64
"""More switches than any way has; what goes on after so many goes round in a loop."""
_PORT_CODES = 256


@dataclass(frozen=True, slots=True)
class BoundTables:
    """Forwarding tables on the links of a cluster. D devices, P ports, S switches, W LIDs.

    Attributes
    ----------
    switch_row : int32 array, D
        Row of each switch in ``next_link``; -1 where no table is of this device.
    port_lid : int32 array, P
        LID of each end port; -1 where the tables know none.
    next_link : int32 array, (S, W)
        Link of the cluster by which a switch sends what is for a LID; -1 where it has none.
    """

    switch_row: NDArray[np.int32]
    port_lid: NDArray[np.int32]
    next_link: NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class TableWays:
    """Ways of many messages through the tables. M messages, N links that they take, in no order.

    Attributes
    ----------
    link, side, message : int64 arrays, N
        Link of the cluster, its direction (0 from port a to port b), and whose it is.
    hops : int16 array, M
        Links between switches; -1 where the way breaks off or goes round in a loop.
    """

    link: NDArray[np.int64]
    side: NDArray[np.int64]
    message: NDArray[np.int64]
    hops: NDArray[np.int16]


def bind_tables(
    cluster: Cluster, tables: Sequence[ForwardingTables], parts: PartLookup | None = None
) -> BoundTables:
    """Find the switches and end ports of *tables* in *cluster* by their names: ``spine-07``, ``su01-srv01:osfp3/2``.

    Parameters
    ----------
    cluster
    tables
        One a subnet.
    parts
        Parts by id, for the labels on server chassis.

    Raises
    ------
    InputError
        If the tables name a switch or an end port that the cluster does not have.
    """
    port_link = index_ports(cluster)
    switches = np.flatnonzero(cluster.devices.kind == DeviceKind.SWITCH)
    device_of = {name: int(row) for row, name in zip(switches, device_names(cluster, switches), strict=True)}
    ends = np.flatnonzero(
        (port_link >= 0) & (cluster.devices.kind[cluster.ports.device] != DeviceKind.SWITCH)
    )
    named = device_names(cluster, cluster.ports.device[ends]) + ":" + port_names(cluster, ends, parts)
    port_of = {name: int(row) for row, name in zip(ends, named, strict=True)}
    out_link = _links_by_number(cluster, port_link)
    switch_row = np.full(len(cluster.devices), -1, np.int32)
    port_lid = np.full(len(cluster.ports), -1, np.int32)
    width = max((table.out_port.shape[1] for table in tables), default=0)
    next_link = np.full((sum(len(table.switch_names) for table in tables), width), -1, np.int32)
    first = 0
    for table in tables:
        rows = _found(table.switch_names, device_of, "switch")
        lids = table.end_port_lids
        port_lid[_found([table.lid_names[lid] for lid in lids], port_of, "end port")] = lids
        switch_row[rows] = np.arange(first, first + len(rows))
        reached = np.take_along_axis(out_link(rows), table.out_port.astype(np.int64), axis=1)
        next_link[first : first + len(rows), : reached.shape[1]] = reached
        first += len(rows)
    return BoundTables(switch_row, port_lid, next_link)


def _links_by_number(
    cluster: Cluster, port_link: NDArray[np.int64]
) -> Callable[[NDArray[np.int64]], NDArray[np.int32]]:
    """Return a function from devices to the link on each of their port numbers, 0 to 255; -1 where there is none."""
    ports = np.flatnonzero(port_link >= 0)
    numbers = port_numbers(cluster)[ports]
    fine = (numbers > 0) & (numbers < NO_PORT)
    table = np.full((len(cluster.devices), _PORT_CODES), -1, np.int32)
    table[cluster.ports.device[ports[fine]], numbers[fine]] = port_link[ports[fine]]
    return lambda devices: table[devices]


def _found(names: Sequence[str], known: dict[str, int], what: str) -> NDArray[np.int64]:
    lost = [name for name in names if name not in known]
    if lost:
        raise InputError(
            f'forwarding tables: {what} "{printable(lost[0])}" is not in the cluster ({len(lost):,} of {len(names):,} are not); '
            "names must be those of the cabling plan; use tables of this very cluster"
        )
    return np.array([known[name] for name in names], np.int64)


def follow_tables(
    cluster: Cluster,
    bound: BoundTables,
    source: NDArray[np.integer],
    target: NDArray[np.integer],
    lid: NDArray[np.integer],
) -> TableWays:
    """Follow the tables from switch to switch until the switch that the end port hangs on, which must send out of the fabric.

    Parameters
    ----------
    cluster, bound
    source, target : int arrays, M
        Switches (devices) where the messages enter the fabric and where they leave it.
    lid : int array, M
        LID of the end port that each is for; -1 has no way.
    """
    far = np.stack([cluster.link_device_b, cluster.link_device_a], axis=1)
    near = cluster.link_device_a
    switch = cluster.devices.kind == DeviceKind.SWITCH
    hops = np.full(len(source), -1, np.int16)
    message, at = np.arange(len(source)), source.astype(np.int64)
    links, sides, messages = [], [], []
    for hop in range(MAX_HOPS):
        known = (bound.switch_row[at] >= 0) & (lid[message] >= 0)
        message, at = message[known], at[known]
        link = bound.next_link[bound.switch_row[at], lid[message]].astype(np.int64)
        message, at, link = message[link >= 0], at[link >= 0], link[link >= 0]
        side = (near[link] != at).astype(np.int64)
        after = far[link, side].astype(np.int64)
        on = switch[after] & (at != target[message])
        arrived = ~switch[after] & (at == target[message])
        hops[message[arrived]] = hop
        message, at = message[on], after[on]
        if not len(message):
            break
        links.append(link[on])
        sides.append(side[on])
        messages.append(message)
    none = [np.empty(0, np.int64)]
    return TableWays(
        np.concatenate(links or none), np.concatenate(sides or none), np.concatenate(messages or none), hops
    )


def route_by_tables(bound: BoundTables) -> Callable[..., LinkLoads]:
    """Return the routing policy of *bound*: one path an edge, that of the tables.

    It takes what :func:`gpufabric.routing.adaptive.route` takes; tiers and seed are not used. It raises UnbuildableError where
    the tables have no way.
    """

    def route(
        cluster: Cluster, graph: Graph, tiers: TierLinks | None, edges: PortEdges, seed: int = 0
    ) -> LinkLoads:
        del tiers, seed
        ends = find_edge_ends(cluster, index_ports(cluster), edges)
        ways = follow_tables(cluster, bound, ends.source, ends.target, bound.port_lid[edges.entry_port])
        lost = int(((ways.hops < 0) & ~ends.direct).sum())
        if lost:
            raise UnbuildableError(
                f"cluster {printable(cluster.name)}: {lost:,} of {len(ways.hops):,} messages have no way through the "
                "forwarding tables",
                "tables of a subnet manager that reached every port, one subnet a message",
            )
        cables, owner = end_cables(graph, ends)
        owner = np.concatenate([owner, ways.message])
        link = np.concatenate([cables, graph.cable_link[ways.link, ways.side]])
        return LinkLoads(link, edges.sizes_of(owner), owner)

    return route
