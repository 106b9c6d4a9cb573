"""Cluster and address plan → what is to be configured on each server: an address a port, its gateway, its routes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gpufabric.exports.routed_interfaces import routed_interfaces
from gpufabric.records.address_plan import AddressPlan, Prefix, ipv4_text
from gpufabric.records.cluster import Cluster

FIRST_TABLE = 101  # tables from 1 to 252 are free (ip-route(8)); 100 is often taken


@dataclass(frozen=True, slots=True)
class HostInterface:
    """One port of a server.

    Attributes
    ----------
    name, port
        Of the interface; row of ``Cluster.ports``.
    address, gateway
        Both in one /31; the gateway is the leaf.
    domain, rail
        What is reached over it, and the part of that which a leaf of the same rail has.
    table
        Routing table of what is sent from its address.
    metric
        Of its routes in the main table, among the interfaces of the server in the same domain: the lowest is taken.
    """

    name: str
    port: int
    address: str
    gateway: str
    domain: Prefix
    rail: Prefix
    table: int
    metric: int


@dataclass(frozen=True, slots=True)
class RoutedHost:
    """One server, or another end point, with its ports in order of rail and plane."""

    name: str
    device: int
    interfaces: tuple[HostInterface, ...]


def routed_hosts(
    cluster: Cluster, plan: AddressPlan, names: NDArray[np.object_], interfaces: tuple[str, ...] = ()
) -> Iterator[RoutedHost]:
    """Yield what is to be configured on each end point, in order of devices.

    Parameters
    ----------
    cluster
    plan
    names
        Of all devices.
    interfaces
        Names that replace ours, in order of rail and plane, on devices with as many ports.
    """
    hosts, ports = plan.hosts, cluster.ports
    place = np.full(len(cluster.devices), -1, np.int64)
    place[plan.switches.device] = np.arange(len(plan.switches))
    lower = hosts.lower_port
    order = np.lexsort(
        (ports.lane[lower], ports.cage[lower], ports.plane[lower], ports.rail[lower], ports.fabric[lower], ports.device[lower])
    )  # fmt: skip
    lower = lower[order]
    device = ports.device[lower]
    domain = plan.switches.domain[place[ports.device[hosts.upper_port[order]]]].tolist()
    rail, gateway = plan.host_rail[order].tolist(), hosts.upper_address[order].tolist()
    own = routed_interfaces(cluster)[lower].tolist()
    rows = lower.tolist()
    firsts = np.flatnonzero(np.diff(device, prepend=-1)).tolist()
    for first, last in zip(firsts, [*firsts[1:], len(lower)], strict=True):
        count = last - first
        given = interfaces if len(interfaces) == count else tuple(own[first:last])
        seen: dict[int, int] = {}
        found = []
        for at in range(first, last):
            metric = seen.get(domain[at], 0)
            seen[domain[at]] = metric + 1
            found.append(
                HostInterface(
                    name=given[at - first],
                    port=rows[at],
                    address=ipv4_text(gateway[at] + 1),
                    gateway=ipv4_text(gateway[at]),
                    domain=plan.domains[domain[at]],
                    rail=plan.rails[rail[at]],
                    table=FIRST_TABLE + at - first,
                    metric=FIRST_TABLE + metric,
                )
            )
        yield RoutedHost(str(names[device[first]]), int(device[first]), tuple(found))
