"""A small fabric → a network namespace for each device, and a pair of virtual interfaces for each link."""

from __future__ import annotations

import shlex

import numpy as np

from gpufabric.exports.routed_interfaces import routed_interfaces
from gpufabric.exports.routed_switches import host_names
from gpufabric.lab.isolated_machine import IsolatedMachine
from gpufabric.records.cluster import Cluster, DeviceKind

MTU = 9000
# Addresses, protocol and ports in a packet's headers decide its way among equal ones, as with the hash of a real switch. Policy 1
# would take a random number of the sender's socket where there is one, which a veth pair hands on (ip-sysctl.rst of Linux).
_SWITCH_SETTINGS = (
    "ipv4/ip_forward=1",
    "ipv6/conf/all/forwarding=1",
    "ipv4/fib_multipath_hash_policy=3",
    f"ipv4/fib_multipath_hash_fields={0x01 | 0x02 | 0x04 | 0x10 | 0x20}",
    "ipv4/conf/all/rp_filter=0",
    "ipv4/conf/default/rp_filter=0",
)
# An interface is ready at once, and a route whose interface lost its carrier is none.
_ALL_SETTINGS = (
    "ipv6/conf/default/accept_dad=0",
    "ipv6/conf/all/accept_dad=0",
    "ipv4/conf/default/ignore_routes_with_linkdown=1",
    "ipv4/conf/all/ignore_routes_with_linkdown=1",
)


def make_namespaces(machine: IsolatedMachine, cluster: Cluster) -> None:
    """Make a namespace for each device, called like it, and join them by links. There is no way to anywhere outside.

    Raises
    ------
    InputError
        If a device can't be called so, or the system refuses.
    """
    names = host_names(cluster).tolist()
    is_switch = (cluster.devices.kind == DeviceKind.SWITCH).tolist()
    lines = []
    for name, switch in zip(names, is_switch, strict=True):
        settings = [*_ALL_SETTINGS, *(_SWITCH_SETTINGS if switch else ())]
        lines += [
            f"ip netns add {shlex.quote(name)}",
            f"ip netns exec {shlex.quote(name)} /bin/sh -ec {shlex.quote(_written(settings))}",
            f"ip -n {shlex.quote(name)} link set lo up",
        ]
    ends = np.concatenate([cluster.links.port_a, cluster.links.port_b])
    interfaces = routed_interfaces(cluster)[ends].tolist()
    owners = [names[device] for device in cluster.ports.device[ends].tolist()]
    half = len(cluster.links)
    for row in range(half):
        (a, b), (port_a, port_b) = (owners[row], owners[row + half]), (interfaces[row], interfaces[row + half])  # fmt: skip
        lines += [
            f"ip link add {port_a} netns {a} mtu {MTU} type veth peer name {port_b} mtu {MTU} netns {b}",
            f"ip -n {a} link set {port_a} up",
            f"ip -n {b} link set {port_b} up",
        ]
    machine.shell("\n".join(lines) + "\n")


def _written(settings: list[str]) -> str:
    """Return a shell line that writes settings of the kernel's network; sysctl is not on every machine."""
    pairs = (setting.split("=") for setting in settings)
    return "; ".join(f"echo {value} >/proc/sys/net/{name}" for name, value in pairs)
