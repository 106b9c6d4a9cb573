"""One plane of a fabric → the InfiniBand subnet that a subnet manager would find."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gpufabric.errors import InputError, printable
from gpufabric.kernels.connected_components import connected_components
from gpufabric.records.cluster import Cluster, DeviceKind, Role
from gpufabric.records.names import device_names, port_names
from gpufabric.records.part_lookup import PartLookup
from gpufabric.records.port_numbers import port_numbers
from gpufabric.records.subnet import MAX_UNICAST_LIDS, Subnet
from gpufabric.records.tiers import joins_fabrics, link_fabrics

_SWITCH_GUIDS, _ADAPTER_GUIDS = 0x200000, 0x100000
_GUIDS_A_NODE = 2  # an adapter's port has a GUID of its own beside the node's


@dataclass(frozen=True, slots=True)
class LaidSubnet:
    """A subnet and where it lies in the cluster.

    Attributes
    ----------
    subnet : Subnet
        End ports first, those of managers before all others, then the switches.
    device : int32 array, N
        Device of each node.
    roots : int64 array
        Nodes of the highest tier, as far as the roles of switches say.
    """

    subnet: Subnet
    device: NDArray[np.int32]
    roots: NDArray[np.int64]


def separate_subnets(cluster: Cluster, fabric: int) -> list[NDArray[np.int64]]:
    """Return the links of each subnet of one fabric: what is joined over switches, in order of the first switch.

    Planes are subnets of their own, and so are the rails of a rail-only fabric.

    Returns
    -------
    list of int64 arrays
        Links of the cluster, ascending.

    Raises
    ------
    InputError
        If the fabric has no switches.
    """
    rows = np.flatnonzero((link_fabrics(cluster) == fabric) & ~joins_fabrics(cluster))
    numbers = port_numbers(cluster)
    data = (numbers[cluster.links.port_a[rows]] > 0) & (numbers[cluster.links.port_b[rows]] > 0)
    rows = rows[data]
    kind = cluster.devices.kind
    a, b = cluster.link_device_a[rows], cluster.link_device_b[rows]
    switch_a, switch_b = kind[a] == DeviceKind.SWITCH, kind[b] == DeviceKind.SWITCH
    if not (switch_a | switch_b).all() or not len(rows):
        raise InputError(
            f"fabric {printable(cluster.fabrics[fabric].name)}: a subnet needs switches on every link (servers linked with "
            "each other, or nothing, found); choose a topology with switches"
        )
    between = switch_a & switch_b
    part = connected_components(len(cluster.devices), a[between], b[between])
    mine = part[np.where(switch_a, a, b)]
    return [rows[mine == first] for first in np.unique(mine)]


def lay_subnet(cluster: Cluster, links: NDArray[np.int64], parts: PartLookup | None = None) -> LaidSubnet:
    """Return the subnet that *links* make; every port has the number that the switch's firmware gives it.

    Every port of a server is an adapter with one port, named ``device:port`` as in the cabling plan.

    Parameters
    ----------
    cluster
    links
        One of :func:`separate_subnets`.
    parts
        Parts by id, for the labels on server chassis.

    Raises
    ------
    InputError
        If there are more nodes than LIDs.
    """
    kind, role = cluster.devices.kind, cluster.devices.role
    ports = np.concatenate([cluster.links.port_a[links], cluster.links.port_b[links]])
    device = cluster.ports.device[ports]
    on_switch = kind[device] == DeviceKind.SWITCH
    ends = adapter_ports(cluster, links)
    switches = np.unique(device[on_switch])
    if len(ends) + len(switches) > MAX_UNICAST_LIDS:
        raise InputError(
            f"subnet: {len(ends) + len(switches):,} switches and adapter ports are too many; an InfiniBand subnet has "
            f"{MAX_UNICAST_LIDS:,} LIDs; split the fabric into planes"
        )
    numbers = port_numbers(cluster)
    widest = np.zeros(len(cluster.devices), np.int64)
    np.maximum.at(widest, cluster.ports.device, numbers)
    node_of_port, node_of_device = (
        np.zeros(len(cluster.ports), np.int32),
        np.zeros(len(cluster.devices), np.int32),
    )
    node_of_port[ends] = np.arange(len(ends))
    node_of_device[switches] = np.arange(len(switches)) + len(ends)
    node = np.where(on_switch, node_of_device[device], node_of_port[ports])
    names = (*_end_names(cluster, ends, parts), *device_names(cluster, switches).tolist())
    guids = [
        _ADAPTER_GUIDS + _GUIDS_A_NODE * np.arange(len(ends)),
        _SWITCH_GUIDS + np.arange(len(switches)),
    ]
    return LaidSubnet(
        Subnet(
            names=names,
            is_switch=np.arange(len(names)) >= len(ends),
            ports=np.concatenate([np.ones(len(ends), np.int64), widest[switches]]).astype(np.int16),
            guid=np.concatenate(guids).astype(np.int64),
            link_node=node.reshape(2, -1).T.astype(np.int32),
            link_port=numbers[ports].reshape(2, -1).T.astype(np.int16),
        ),
        device=np.concatenate([cluster.ports.device[ends], switches]).astype(np.int32),
        roots=np.flatnonzero(role[switches] == role[switches].max()) + len(ends),
    )


def adapter_ports(cluster: Cluster, links: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the ports of *links* that are no switch's, in the order in which :func:`lay_subnet` makes nodes of them."""
    ports = np.concatenate([cluster.links.port_a[links], cluster.links.port_b[links]])
    ends = np.sort(ports[cluster.devices.kind[cluster.ports.device[ports]] != DeviceKind.SWITCH])
    manages = cluster.devices.role[cluster.ports.device[ends]] == Role.MANAGER
    return ends[np.argsort(~manages, kind="stable")].astype(np.int64)


def _end_names(cluster: Cluster, ends: NDArray[np.integer], parts: PartLookup | None) -> list[str]:
    named = device_names(cluster, cluster.ports.device[ends]) + ":" + port_names(cluster, ends, parts)
    return list(named.tolist())
