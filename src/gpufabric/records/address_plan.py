"""Addresses and autonomous systems of routed Ethernet fabrics. IPv4 addresses are numbers of 32 bits; tables are arrays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

ADDRESS_BITS = 32


@dataclass(frozen=True, slots=True)
class Prefix:
    """A block of addresses: ``10.0.1.0/24`` is its first address and 24."""

    first: int
    length: int

    def __str__(self) -> str:
        return f"{ipv4_text(self.first)}/{self.length}"

    def holds(self, other: Prefix) -> bool:
        """Whether *other* lies in this block."""
        shift = ADDRESS_BITS - self.length
        return other.length >= self.length and other.first >> shift == self.first >> shift


@dataclass(frozen=True, slots=True)
class RoutedSwitches:
    """Switches that route. S rows, ascending by device.

    Attributes
    ----------
    device : int32
        Row of ``Cluster.devices``.
    domain : int32
        Routing domain, from 0: switches that reach each other over switches. Planes, and rails that meet only inside servers, are
        domains of their own.
    loopback : int64
        Address that the switch is known by; its router id.
    asn : int64
        Autonomous system.
    allow_own_as : bool
        Another switch of the domain has the same number and must be reached, so its routes have to be taken.
    block, block_length : int64, int8
        First address and length of the prefix that holds all ports of servers on it; length -1: it has none.
    """

    device: NDArray[np.int32]
    domain: NDArray[np.int32]
    loopback: NDArray[np.int64]
    asn: NDArray[np.int64]
    allow_own_as: NDArray[np.bool_]
    block: NDArray[np.int64]
    block_length: NDArray[np.int8]

    def __len__(self) -> int:
        return len(self.device)


@dataclass(frozen=True, slots=True)
class PointToPoint:
    """Links with two addresses of one /31 (RFC 3021). N rows.

    Attributes
    ----------
    link : int64
        Row of ``Cluster.links``.
    lower_port, upper_port : int32
        Port of the server, or of the lower switch, and that of the switch above it.
    upper_address : int64
        The even address; the lower port has the next one.
    """

    link: NDArray[np.int64]
    lower_port: NDArray[np.int32]
    upper_port: NDArray[np.int32]
    upper_address: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.link)


@dataclass(frozen=True, slots=True)
class AddressPlan:
    """Who has which address.

    Attributes
    ----------
    switches : RoutedSwitches
    hosts : PointToPoint
        Links of servers and other end points: by switch, then by its ports.
    host_rail : int32
        For each of *hosts*: index into *rails*.
    between : PointToPoint
        Links between switches; their addresses are used where links are numbered.
    domains : tuple of Prefix
        For each routing domain, the block that holds all its servers.
    rails : tuple of Prefix
        Blocks of the leaves that serve one rail of a domain; a domain whose leaves serve all rails is one.
    """

    switches: RoutedSwitches
    hosts: PointToPoint
    host_rail: NDArray[np.int32]
    between: PointToPoint
    domains: tuple[Prefix, ...]
    rails: tuple[Prefix, ...]


def ipv4_text(address: int) -> str:
    """Return an address as people write it: ``10.0.0.1``."""
    return f"{address >> 24}.{address >> 16 & 255}.{address >> 8 & 255}.{address & 255}"


def ipv4_texts(addresses: NDArray[np.integer[Any]]) -> list[str]:
    """Return many addresses as people write them."""
    return [ipv4_text(address) for address in addresses.tolist()]
