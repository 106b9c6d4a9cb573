"""Cluster and address plan → what the configuration of each switch needs, one switch after the other."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gpufabric.errors import InputError, did_you_mean, printable
from gpufabric.exports.plan_addresses import ASN_CHOICES, DEFAULT_POOL, plan_addresses
from gpufabric.records.address_plan import AddressPlan, Prefix, ipv4_text
from gpufabric.records.cluster import Cluster
from gpufabric.records.export_target import ExportOption, ExportSource
from gpufabric.records.names import device_names

POOL = ExportOption("pool", (), DEFAULT_POOL, "IPv4 prefix that all addresses are taken from")
ASN = ExportOption(
    "asn",
    ASN_CHOICES,
    "auto",
    "private numbers of two or four bytes; 2-byte uses them again in every domain and, where they run out, in every pod",
)
LINKS = ExportOption(
    "links",
    ("unnumbered", "numbered"),
    "unnumbered",
    "BGP between switches over IPv6 link-local addresses, or over a /31 a link",
)
BFD = ExportOption("bfd", ("off", "on"), "off", "watch every BGP session with BFD")

_NAME = re.compile(r"^[A-Za-z0-9]([A-Za-z0-9.-]{0,61}[A-Za-z0-9])?$")


@dataclass(frozen=True, slots=True)
class RoutedInterface:
    """One interface of a switch.

    Attributes
    ----------
    name, port
        Of the interface; row of ``Cluster.ports``.
    to_host
        It leads to a server.
    address, peer_address
        Of both ends of its /31.
    peer, peer_port, peer_asn
        Name of the neighbour, name of its interface, and its autonomous system (0: a server).
    link
        Row of ``Cluster.links``.
    """

    name: str
    port: int
    to_host: bool
    address: str
    peer: str
    peer_port: str
    peer_address: str
    peer_asn: int
    link: int


@dataclass(frozen=True, slots=True)
class RoutedSwitch:
    """One switch; ``block`` is the prefix of the servers on it, None without any."""

    name: str
    device: int
    asn: int
    loopback: str
    domain: int
    allow_own_as: bool
    block: Prefix | None
    interfaces: tuple[RoutedInterface, ...]

    @property
    def uplinks(self) -> tuple[RoutedInterface, ...]:
        """Interfaces to other switches."""
        return tuple(one for one in self.interfaces if not one.to_host)

    @property
    def downlinks(self) -> tuple[RoutedInterface, ...]:
        """Interfaces to servers."""
        return tuple(one for one in self.interfaces if one.to_host)


def chosen(source: ExportSource, option: ExportOption) -> str:
    """Return what the user chose of an option.

    Raises
    ------
    InputError
        If it is none of its values.
    """
    value = source.option(option.key, option.default)
    if option.values and value not in option.values:
        raise InputError(
            f'--set {option.key}: "{printable(value)}" is not a choice; known: {", ".join(option.values)}.'
            f"{did_you_mean(value, option.values)}"
        )
    return value


def plan_of(source: ExportSource) -> AddressPlan:
    """Return the address plan of the fabrics that are exported, by the options ``pool`` and ``asn``."""
    return plan_addresses(source.cluster, source.fabrics, chosen(source, POOL), chosen(source, ASN))


def host_names(cluster: Cluster) -> NDArray[np.object_]:
    """Return the names of all devices, as host names.

    Raises
    ------
    InputError
        If one is no legal host name (RFC 1123), or two devices have the same: files and programs go by them.
    """
    names = device_names(cluster)
    bad = next((name for name in names.tolist() if not _NAME.match(name)), None)
    if bad is not None:
        raise InputError(
            f'device "{printable(bad)}": is no host name; letters, digits, dots and dashes are allowed, 63 at most; rename it'
        )
    if len(set(names.tolist())) < len(names):
        twice = next(name for name, times in Counter(names.tolist()).items() if times > 1)
        raise InputError(
            f'device "{printable(twice)}": two devices have this name; rename one, because files go by it'
        )
    return names


def routed_switches(
    cluster: Cluster, plan: AddressPlan, names: NDArray[np.object_], interfaces: NDArray[np.object_]
) -> Iterator[RoutedSwitch]:
    """Yield what is to be configured on each switch, in order of the plan.

    Parameters
    ----------
    cluster
    plan
    names
        Of all devices.
    interfaces
        Names of the interfaces of all ports.
    """
    switches = plan.switches
    hosts, between = plan.hosts, plan.between
    asn = np.zeros(len(cluster.devices), np.int64)
    asn[switches.device] = switches.asn
    port = np.concatenate([hosts.upper_port, between.upper_port, between.lower_port])
    peer = np.concatenate([hosts.lower_port, between.lower_port, between.upper_port])
    address = np.concatenate([hosts.upper_address, between.upper_address, between.upper_address + 1])
    other = np.concatenate([hosts.upper_address + 1, between.upper_address + 1, between.upper_address])
    link = np.concatenate([hosts.link, between.link, between.link])
    order = np.lexsort((cluster.ports.lane[port], cluster.ports.cage[port], cluster.ports.device[port]))
    device = cluster.ports.device[port][order]
    peer_device = cluster.ports.device[peer][order]
    first = np.searchsorted(device, switches.device)
    last = np.searchsorted(device, switches.device, side="right")
    own_names, peer_names = interfaces[port[order]].tolist(), interfaces[peer[order]].tolist()
    columns = (
        port[order].tolist(),
        (order < len(hosts)).tolist(),
        address[order].tolist(),
        other[order].tolist(),
    )
    peers = (names[peer_device].tolist(), asn[peer_device].tolist(), link[order].tolist())
    for row in range(len(switches)):
        yield RoutedSwitch(
            name=str(names[switches.device[row]]),
            device=int(switches.device[row]),
            asn=int(switches.asn[row]),
            loopback=ipv4_text(int(switches.loopback[row])),
            domain=int(switches.domain[row]),
            allow_own_as=bool(switches.allow_own_as[row]),
            block=None
            if switches.block_length[row] < 0
            else Prefix(int(switches.block[row]), int(switches.block_length[row])),
            interfaces=tuple(
                RoutedInterface(
                    name=own_names[i],
                    port=columns[0][i],
                    to_host=columns[1][i],
                    address=ipv4_text(columns[2][i]),
                    peer=peers[0][i],
                    peer_port=peer_names[i],
                    peer_address=ipv4_text(columns[3][i]),
                    peer_asn=peers[1][i],
                    link=peers[2][i],
                )
                for i in range(int(first[row]), int(last[row]))
            ),
        )
