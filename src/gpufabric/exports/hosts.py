"""Cluster → the network configuration of servers: an address a port, and source routing, so that what a NIC sends leaves over it.

One table a NIC and a rule for its address (ip-rule(8), netplan's ``routing-policy``, systemd.network(5)): without them Linux
would send everything that leaves for one prefix over the first interface that has a route.
"""

from __future__ import annotations

from collections.abc import Iterator

from gpufabric.errors import InputError, printable
from gpufabric.exports.frr import template
from gpufabric.exports.routed_hosts import RoutedHost, routed_hosts
from gpufabric.exports.routed_interfaces import LINUX_NAME, LONGEST
from gpufabric.exports.routed_switches import ASN, POOL, chosen, host_names, plan_of
from gpufabric.records.export_target import ExportedFile, ExportOption, ExportSource, ExportTarget

STYLE = ExportOption(
    "style",
    ("netplan", "networkd", "script"),
    "netplan",
    "a netplan file, a .network file an interface, or a shell script",
)
INTERFACES = ExportOption(
    "interfaces",
    (),
    "",
    "names of a server's interfaces in order of rail and plane, with commas between them; default: eth1, eth2 …",
)
MTU = ExportOption("mtu", (), "9000", "bytes that a packet may have; RoCE of 4096 bytes needs more than 4200")
_LEAST_MTU, _MOST_MTU = 1280, 9216


def interface_names(source: ExportSource) -> tuple[str, ...]:
    """Return the names of interfaces that the user gave, none when there are none.

    Raises
    ------
    InputError
        If one is no name for an interface of Linux, or is given twice.
    """
    text = chosen(source, INTERFACES)
    names = tuple(text.split(",")) if text else ()
    bad = next((name for name in names if not LINUX_NAME.match(name)), None)
    if bad is not None:
        raise InputError(
            f'--set interfaces: "{printable(bad)}" is no name of an interface; 1 to {LONGEST} letters, digits, dots and dashes '
            "are allowed, with a comma between two"
        )
    if len(set(names)) < len(names):
        raise InputError("--set interfaces: a name is given twice; each interface has its own")
    return names


def host_script(host: RoutedHost, mtu: int) -> str:
    """Return the shell script that gives one server its addresses and routes."""
    return template("host.sh.j2").render(host=host, mtu=mtu)


def _mtu(source: ExportSource) -> int:
    text = chosen(source, MTU)
    if not text.isdecimal() or len(text) > 5 or not _LEAST_MTU <= int(text) <= _MOST_MTU:
        raise InputError(
            f'--set mtu: "{printable(text)}" is not possible; {_LEAST_MTU} to {_MOST_MTU} bytes are; write a whole number'
        )
    return int(text)


def _write(source: ExportSource) -> Iterator[ExportedFile]:
    style, names, mtu = chosen(source, STYLE), interface_names(source), _mtu(source)
    hosts = routed_hosts(source.cluster, plan_of(source), host_names(source.cluster), names)
    pages = {
        "netplan": template("netplan.yaml.j2"),
        "networkd": template("networkd.network.j2"),
        "script": template("host.sh.j2"),
    }
    page = pages[style]
    for host in hosts:
        if style == "networkd":
            for one in host.interfaces:
                yield ExportedFile.of_text(
                    f"{host.name}/10-{one.name}.network", page.render(one=one, mtu=mtu)
                )
        else:
            name = "60-fabric.yaml" if style == "netplan" else "fabric-addresses.sh"
            yield ExportedFile.of_text(f"{host.name}/{name}", page.render(host=host, mtu=mtu))


TARGET = ExportTarget(
    name="hosts",
    title="network configuration of servers: netplan, systemd-networkd or a script",
    files="SERVER/60-fabric.yaml, SERVER/10-INTERFACE.network or SERVER/fabric-addresses.sh",
    kept="the address of every port, its gateway, the prefixes of its rail and domain, source routing",
    lost="bonds (their ports have an address each); PFC, DSCP and other settings of NICs",
    network="ethernet",
    source="netplan reference, https://netplan.readthedocs.io/en/stable/netplan-yaml/; systemd.network(5), "
    "https://www.freedesktop.org/software/systemd/man/latest/systemd.network.html; ip-rule(8); read 2026-11",
    write=_write,
    options=(STYLE, INTERFACES, MTU, POOL, ASN),
)
