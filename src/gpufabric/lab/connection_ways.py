"""TCP connections of a laid network → the links that each takes, as the kernels of its switches choose them.

Each switch is asked with ``ip route get``, which hashes addresses and ports as the kernel does for packets (ip-route(8); a seed
of the kernel's goes into the hash, so nobody outside can tell).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gpufabric.errors import InputError
from gpufabric.lab.host_networks import LaidNetwork

_MOST_HOPS = 8


@dataclass(frozen=True, slots=True)
class Connection:
    """One direction of a TCP connection: addresses and ports of where it comes from and where it goes."""

    source: str
    source_port: int
    target: str
    target_port: int


def parse_end(text: str) -> tuple[str, int]:
    """Return address and port of an end as /proc/net/tcp writes it: little-endian address, colon, port, both hexadecimal."""
    address, _, port = text.partition(":")
    return ".".join(str(byte) for byte in reversed(bytes.fromhex(address))), int(port, 16)


def ring_connections(ends: Sequence[Sequence[Sequence[str]]]) -> tuple[Connection, ...]:
    """Return for each rank the connection over which Gloo's ring sends: to the rank before.

    Parameters
    ----------
    ends
        For each rank its connections in one group, local and remote end.

    Raises
    ------
    InputError
        If a rank has no such connection.

    Notes
    -----
    Gloo's default for all_reduce is a ring in which rank r sends to rank r - 1 (gloo/allreduce.cc,
    https://github.com/pytorch/gloo/blob/main/gloo/allreduce.cc, read 2026-12-01). Both ends of a connection see it, with local
    and remote end exchanged; that is how it is known whose it is.
    """
    found = []
    for rank, own in enumerate(ends):
        before = {(remote, local) for local, remote in ends[rank - 1]}
        shared = [(local, remote) for local, remote in own if (local, remote) in before]
        if not shared:
            raise InputError(
                f"ranks: rank {rank} is not connected with the one before; run gpufabric lab traffic again"
            )
        (source, source_port), (target, target_port) = (parse_end(text) for text in shared[0])
        found.append(Connection(source, source_port, target, target_port))
    return tuple(found)


def connection_ways(
    net: LaidNetwork, connections: Sequence[Connection]
) -> tuple[tuple[tuple[int, int], ...], ...]:
    """Return the links of each connection, in order.

    Returns
    -------
    tuple
        For each connection pairs: link of the small cluster, and 0 where it is taken from its lower end, 1 from its upper.

    Raises
    ------
    InputError
        If one does not arrive.
    """
    side_of: dict[tuple[str, str], tuple[int, int]] = {}
    for link, ends in enumerate(net.ends):
        for side, end in enumerate(ends):
            side_of[end.device, end.interface] = link, side
    owner = {one.address: (host.name, one.name) for host in net.hosts.values() for one in host.interfaces}
    ways: list[list[tuple[int, int]]] = [[side_of[owner[one.source]]] for one in connections]
    for _ in range(_MOST_HOPS):
        waiting: dict[str, list[int]] = {}
        for row, way in enumerate(ways):
            link, side = way[-1]
            device = net.ends[link][1 - side].device
            if device not in net.hosts:
                waiting.setdefault(device, []).append(row)
        if not waiting:
            return tuple(tuple(way) for way in ways)
        for switch, rows in waiting.items():
            entries = [net.ends[link][1 - side].interface for link, side in (ways[row][-1] for row in rows)]
            asked = [(connections[row], entry) for row, entry in zip(rows, entries, strict=True)]
            for row, leaves_by in zip(rows, _choices(net, switch, asked), strict=True):
                ways[row].append(side_of[switch, leaves_by])
    raise InputError("routes: packets go round in circles; look at gpufabric lab ip")


def _choices(net: LaidNetwork, switch: str, asked: Sequence[tuple[Connection, str]]) -> list[str]:
    """Return by which interface a switch sends each connection on that came in by an interface."""
    questions = "".join(
        f"route get {one.target} from {one.source} iif {entry} ipproto tcp sport {one.source_port} dport {one.target_port}\n"
        for one, entry in asked
    )
    said = net.machine.run(["ip", "-json", "-n", switch, "-batch", "-"], text=questions)
    decoder, place, found = json.JSONDecoder(), 0, []
    while place < len(said):
        if said[place].isspace():
            place += 1
            continue
        routes, place = decoder.raw_decode(said, place)
        found += [str(route["dev"]) for route in routes]
    return found


def shared_ways(ways: Sequence[Sequence[tuple[int, int]]]) -> Mapping[tuple[int, int], int]:
    """Return for each directed link how many of the ways take it."""
    found: dict[tuple[int, int], int] = {}
    for way in ways:
        for step in way:
            found[step] = found.get(step, 0) + 1
    return found
