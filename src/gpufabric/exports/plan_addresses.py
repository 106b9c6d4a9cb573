"""Wiring → the address plan of routed Ethernet fabrics: loopbacks, autonomous systems, subnets of servers and links.

The layout follows RFC 7938, Use of BGP for Routing in Large-Scale Data Centers (https://www.rfc-editor.org/rfc/rfc7938, read
2026-11): EBGP on every link; one autonomous system for all switches of the top tier of a domain, one for the middle tier of each
pod, one for each leaf (section 5.2.1); private numbers of two bytes, of four where those run out, or the same ones in every pod
together with allowas-in (5.2.2); links between switches are not advertised (5.2.3).
"""

from __future__ import annotations

import ipaddress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpufabric.errors import InputError, printable
from gpufabric.kernels.connected_components import connected_components
from gpufabric.records.address_plan import ADDRESS_BITS, AddressPlan, PointToPoint, Prefix, RoutedSwitches
from gpufabric.records.cluster import Cluster, DeviceKind, Role
from gpufabric.records.tiers import joins_fabrics, link_fabrics

DEFAULT_POOL = "10.0.0.0/8"
ASN_CHOICES = ("auto", "2-byte", "4-byte")
# Private use: RFC 6996. 65535 is reserved (RFC 7300), and RFC 7938 stops at 65534.
_TWO_BYTES, _TWO_BYTES_LAST = 64512, 65534
_FOUR_BYTES = 4_200_000_000


def plan_addresses(
    cluster: Cluster, fabrics: tuple[int, ...], pool: str = DEFAULT_POOL, asn: str = "auto"
) -> AddressPlan:
    """Give every switch, server port and link of some fabrics its addresses.

    The first half of *pool* is for servers, the third quarter for links between switches, the last for loopbacks. Every server
    port has a /31 with its leaf, inside one block a leaf, inside one block a rail, inside one block a routing domain; all blocks
    are powers of two, so that each is one prefix. A leaf advertises its block, and the routing table has as many prefixes as
    there are leaves. Ports of one bond have an address each.

    Parameters
    ----------
    cluster
    fabrics
        Indices of Ethernet fabrics with switches.
    pool
        IPv4 prefix that everything is taken from.
    asn
        ``auto``: two bytes where the private ones suffice, else four. ``2-byte``: the same numbers in every domain, and where
        they run out in every pod too. ``4-byte``.

    Raises
    ------
    InputError
        If a fabric is not Ethernet or has no switches, or a pool is too small or not understood.
    """
    block = _pool(pool)
    hosts, between = _link_rows(cluster, fabrics)
    devices, domain = _domains(cluster, hosts[2], between)
    numbers, repeated = _numbers(cluster, devices, domain, asn)
    place = np.full(len(cluster.devices), -1, np.int64)
    place[devices] = np.arange(len(devices))
    half, quarter = 1 << (ADDRESS_BITS - block.length - 1), 1 << (ADDRESS_BITS - block.length - 2)
    table, blocks, host_rail, prefixes = _host_blocks(
        cluster, hosts, place, domain, Prefix(block.first, block.length + 1)
    )
    for what, count, room in (
        ("links", 2 * len(between[0]), quarter),
        ("loopbacks", len(devices) + 1, quarter),
    ):
        if count > room:
            raise _too_small(pool, f"{count:,} addresses for {what} between switches needed, {room:,} there")
    switches = RoutedSwitches(
        device=devices.astype(np.int32),
        domain=domain.astype(np.int32),
        loopback=block.first + half + quarter + 1 + np.arange(len(devices), dtype=np.int64),
        asn=numbers,
        allow_own_as=repeated,
        block=blocks[0],
        block_length=blocks[1],
    )
    link_addresses = block.first + half + 2 * np.arange(len(between[0]), dtype=np.int64)
    return AddressPlan(
        switches=switches,
        hosts=table,
        host_rail=host_rail,
        between=PointToPoint(*between, link_addresses),
        domains=prefixes[0],
        rails=prefixes[1],
    )


def _pool(text: str) -> Prefix:
    try:
        network = ipaddress.IPv4Network(text)
    except ValueError as error:
        raise InputError(
            f'--set pool: "{printable(text)}" is not understood ({printable(str(error))}); write an IPv4 prefix such as '
            f"{DEFAULT_POOL}"
        ) from None
    if network.prefixlen > ADDRESS_BITS - 3:
        raise _too_small(text, "at most /29 has room for servers, links and loopbacks")
    return Prefix(int(network.network_address), network.prefixlen)


def _too_small(pool: str, why: str) -> InputError:
    return InputError(
        f"--set pool: {printable(pool)} is too small ({why}); take a shorter prefix, such as {DEFAULT_POOL}"
    )


_Links = tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int32]]


def _link_rows(cluster: Cluster, fabrics: tuple[int, ...]) -> tuple[_Links, _Links]:
    """Return links to end points and links between switches, each with its lower and upper port."""
    for fabric in fabrics:
        if cluster.fabrics[fabric].network == "infiniband":
            raise InputError(
                f"fabric {printable(cluster.fabrics[fabric].name)}: is InfiniBand, whose addresses a subnet manager gives; "
                "choose an Ethernet fabric with --fabric"
            )
    rows = np.flatnonzero(np.isin(link_fabrics(cluster), fabrics) & ~joins_fabrics(cluster))
    a, b = cluster.links.port_a[rows], cluster.links.port_b[rows]
    kind, role = cluster.devices.kind, cluster.devices.role.astype(np.int64)
    device_a, device_b = cluster.ports.device[a], cluster.ports.device[b]
    switch_a, switch_b = kind[device_a] == DeviceKind.SWITCH, kind[device_b] == DeviceKind.SWITCH
    if not len(rows) or not (switch_a | switch_b).all():
        names = ", ".join(printable(cluster.fabrics[fabric].name) for fabric in fabrics)
        raise InputError(
            f"fabric {names}: routing needs a switch on every link (servers linked with each other, or nothing, found); "
            "choose a fabric with switches"
        )
    turned = np.where(switch_a & switch_b, role[device_a] > role[device_b], switch_a)
    lower, upper = np.where(turned, b, a), np.where(turned, a, b)
    both = switch_a & switch_b
    return (rows[~both], lower[~both], upper[~both]), (rows[both], lower[both], upper[both])


def _domains(
    cluster: Cluster, leaf_ports: NDArray[np.int32], between: _Links
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the switches, ascending, and the routing domain of each, in order of their first switch."""
    ports = cluster.ports.device
    lower, upper = ports[between[1]], ports[between[2]]
    end_ports = ports[leaf_ports]
    switches = np.unique(np.concatenate([end_ports, lower, upper]))
    switches = switches[cluster.devices.kind[switches] == DeviceKind.SWITCH]
    label = connected_components(len(cluster.devices), lower, upper)[switches]
    return switches.astype(np.int64), np.unique(label, return_inverse=True)[1].astype(np.int64)


def _numbers(
    cluster: Cluster, devices: NDArray[np.int64], domain: NDArray[np.int64], choice: str
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return the autonomous system of each switch, and whether another one that it must hear of has the same."""
    role, pod = cluster.devices.role[devices].astype(np.int64), cluster.devices.pod[devices].astype(np.int64)
    has_cores = np.isin(domain, domain[role == Role.CORE])
    middle = (role == Role.SPINE) & has_cores
    top = (role == Role.CORE) | ((role == Role.SPINE) & ~has_cores)
    own = ~(top | middle)
    # Top tiers first, then middle tiers by pod, then leaves.
    tier = np.where(top, 0, np.where(middle, 1, 2))
    sharing = np.where(top, -1, np.where(middle, pod, devices))
    key = np.stack([domain, tier, sharing], axis=1)
    groups, group = np.unique(key, axis=0, return_inverse=True)
    group = group.reshape(-1)
    room = _TWO_BYTES_LAST - _TWO_BYTES + 1
    if choice != "2-byte":
        few = choice == "auto" and len(groups) <= room
        return group + (_TWO_BYTES if few else _FOUR_BYTES), np.zeros(len(devices), bool)
    number = _reused(groups, pod[np.unique(group, return_index=True)[1]], room)
    if number.max() >= room:
        raise InputError(
            f"--set asn=2-byte: {int(number.max()) + 1:,} numbers are needed, there are {room:,} private ones; take asn=4-byte"
        )
    found = number[group]
    twice = np.zeros(len(devices), bool)
    pairs, member, times = np.unique(
        np.stack([domain[own], found[own]], axis=1), axis=0, return_inverse=True, return_counts=True
    )
    del pairs
    twice[own] = times[member.reshape(-1)] > 1
    return found + _TWO_BYTES, twice


def _reused(groups: NDArray[np.int64], pod: NDArray[np.int64], room: int) -> NDArray[np.int64]:
    """Return numbers that start anew in every domain and, where a domain is too large, for the leaves of every pod."""
    number = np.empty(len(groups), np.int64)
    for domain in np.unique(groups[:, 0]).tolist():
        rows = np.flatnonzero(groups[:, 0] == domain)
        number[rows] = np.arange(len(rows))
        if len(rows) <= room:
            continue
        leaves = rows[groups[rows, 1] == 2]
        shared = len(rows) - len(leaves)
        order = leaves[np.argsort(pod[leaves], kind="stable")]
        starts = np.flatnonzero(np.diff(pod[order], prepend=pod[order[:1]] - 1))
        number[order] = shared + np.arange(len(order)) - np.repeat(starts, np.diff(starts, append=len(order)))
    return number


_Blocks = tuple[NDArray[np.int64], NDArray[np.int8]]
_Prefixes = tuple[tuple[Prefix, ...], tuple[Prefix, ...]]


def _host_blocks(
    cluster: Cluster, hosts: _Links, place: NDArray[np.int64], domain: NDArray[np.int64], room: Prefix
) -> tuple[PointToPoint, _Blocks, NDArray[np.int32], _Prefixes]:
    """Return the addresses of end points, the block of each switch, and the blocks of domains and rails."""
    ports = cluster.ports
    switch = place[ports.device[hosts[2]]]
    order = np.lexsort((ports.lane[hosts[2]], ports.cage[hosts[2]], switch))
    switch = switch[order]
    count = np.bincount(switch, minlength=len(domain))
    leaves = np.flatnonzero(count)
    device = np.flatnonzero(place >= 0)[leaves]
    rail_key = np.stack([domain[leaves], cluster.devices.rail[device].astype(np.int64)], axis=1)
    rails, rail = np.unique(rail_key, axis=0, return_inverse=True)
    rail = rail.reshape(-1)
    leaf_size = np.ones(len(rails), np.int64)
    np.maximum.at(leaf_size, rail, count[leaves])
    leaf_size = _power_of_two(2 * leaf_size)
    rail_size = _power_of_two(leaf_size * np.bincount(rail, minlength=len(rails)))
    domains = np.unique(domain).tolist()
    inside = [np.flatnonzero(rails[:, 0] == number) for number in domains]
    domain_size = _power_of_two(np.array([max(1, int(rail_size[rows].sum())) for rows in inside], np.int64))
    available = 1 << (ADDRESS_BITS - room.length)
    if int(domain_size.sum()) > available:
        raise _too_small(
            str(Prefix(room.first, room.length - 1)),
            f"{int(domain_size.sum()):,} addresses for servers needed, {available:,} there",
        )
    domain_first = room.first + _laid(domain_size)
    rail_first = np.zeros(len(rails), np.int64)
    for rows, first in zip(inside, domain_first.tolist(), strict=True):
        rail_first[rows] = first + _laid(rail_size[rows])
    block, length = np.zeros(len(domain), np.int64), np.full(len(domain), -1, np.int8)
    nth = np.zeros(len(leaves), np.int64)
    for number in range(len(rails)):
        members = np.flatnonzero(rail == number)
        nth[members] = np.arange(len(members))
    block[leaves] = rail_first[rail] + nth * leaf_size[rail]
    length[leaves] = _lengths(leaf_size[rail])
    starts = np.append(0, np.cumsum(count))[switch]
    table = PointToPoint(
        hosts[0][order],
        hosts[1][order],
        hosts[2][order],
        block[switch] + 2 * (np.arange(len(switch)) - starts),
    )
    rail_of_switch = np.full(len(domain), -1, np.int32)
    rail_of_switch[leaves] = rail
    return (
        table,
        (block, length),
        rail_of_switch[switch],
        (_prefixes(domain_first, domain_size), _prefixes(rail_first, rail_size)),
    )


def _power_of_two(size: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the least power of two that is not below each size."""
    return np.left_shift(1, np.ceil(np.log2(size)).astype(np.int64))


def _laid(size: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return where blocks start when the largest come first, so that each is aligned to its size."""
    order = np.argsort(-size, kind="stable")
    first = np.empty(len(size), np.int64)
    first[order] = np.append(0, np.cumsum(size[order]))[:-1]
    return first


def _lengths(size: NDArray[np.int64]) -> NDArray[Any]:
    return (ADDRESS_BITS - np.log2(size)).astype(np.int8)


def _prefixes(first: NDArray[np.int64], size: NDArray[np.int64]) -> tuple[Prefix, ...]:
    return tuple(
        Prefix(a, b) for a, b in zip(first.tolist(), _lengths(size).astype(np.int64).tolist(), strict=True)
    )
