"""A small fabric → its network, alive: servers and switches as namespaces, routed by FRRouting from the exported files.

Use it as ``with laid_network(scaled) as net: net.run("srv01", [...])``. Programs in the namespaces of servers reach each other
and nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from gpufabric.errors import InputError, printable
from gpufabric.exports import EXPORTS
from gpufabric.exports.hosts import host_script
from gpufabric.exports.plan_addresses import plan_addresses
from gpufabric.exports.routed_hosts import RoutedHost, routed_hosts
from gpufabric.exports.routed_interfaces import routed_interfaces
from gpufabric.exports.routed_switches import host_names
from gpufabric.lab.frr_daemons import find_daemons, start_daemons
from gpufabric.lab.isolated_machine import IsolatedMachine, isolated_machine
from gpufabric.lab.kernel_routes import read_routes
from gpufabric.lab.namespaces import MTU, make_namespaces
from gpufabric.lab.scale_down import ScaledFabric
from gpufabric.lab.traffic_shaping import LinkEnd, set_carrier, shape, silence
from gpufabric.records.address_plan import AddressPlan
from gpufabric.records.export_target import ExportSource


@dataclass(frozen=True, slots=True)
class LaidNetwork:
    """The network while it runs.

    Attributes
    ----------
    machine
        Where its namespaces are; each is called like its device.
    scaled
        The fabric that it is.
    plan
        Its addresses.
    hosts
        Servers by name, with their interfaces and addresses.
    ends
        For each link of the small cluster its lower and its upper end.
    """

    machine: IsolatedMachine
    scaled: ScaledFabric
    plan: AddressPlan
    hosts: Mapping[str, RoutedHost]
    ends: tuple[tuple[LinkEnd, LinkEnd], ...]

    def run(
        self,
        host: str,
        argv: Sequence[str],
        text: str = "",
        limit_s: float = 30.0,
        settings: Mapping[str, str] | None = None,
    ) -> str:
        """Run a program on a server to its end and return what it printed; see :meth:`IsolatedMachine.run`."""
        self._refuse_unknown(host)
        return self.machine.run(argv, host, text, limit_s, settings)

    def command(self, host: str, argv: Sequence[str]) -> list[str]:
        """Return the command that runs a program on a server, for :func:`gpufabric.lab.run_program.started`."""
        self._refuse_unknown(host)
        return self.machine.command(argv, host)

    def routes(self, switch: str) -> dict[str, frozenset[str]]:
        """Return the prefixes that a switch learned from BGP, each with its interfaces."""
        return read_routes(self.machine.run(["ip", "-json", "-n", switch, "route", "show", "proto", "bgp"]))

    def cut(self, link: int) -> None:
        """Take a link down: both ends lose the carrier."""
        set_carrier(self.machine, self.ends[link][1], up=False)

    def mend(self, link: int) -> None:
        """Bring a link back that was cut or silent."""
        set_carrier(self.machine, self.ends[link][1], up=True)
        shape(self.machine, self.ends[link])

    def silence(self, link: int) -> None:
        """Lose everything on a link without a sign."""
        silence(self.machine, self.ends[link])

    def _refuse_unknown(self, host: str) -> None:
        if host not in self.hosts:
            raise InputError(
                f'server "{printable(host)}" is not in the network; it has {", ".join(sorted(self.hosts))}'
            )


@contextmanager
def laid_network(scaled: ScaledFabric, numbered: bool = False, bfd: bool = False) -> Iterator[LaidNetwork]:
    """Lay a small fabric, start its routing and keep it while the block lasts.

    BGP needs some seconds more until every switch knows all ways.

    Parameters
    ----------
    scaled
        What to lay.
    numbered
        Whether links between switches have addresses; without, BGP runs over IPv6 link-local ones.
    bfd
        Whether BFD watches the sessions.

    Raises
    ------
    InputError
        If we are not root, a program is missing, or one does not take what it is given.
    """
    find_daemons(bfd)
    cluster = scaled.cluster
    options = (("links", "numbered" if numbered else "unnumbered"), ("bfd", "on" if bfd else "off"))
    source = ExportSource(cluster, scaled.parts, None, None, (0,), (), options)
    plan = plan_addresses(cluster, source.fabrics)
    hosts = {host.name: host for host in routed_hosts(cluster, plan, host_names(cluster))}
    configurations = {
        file.path.split("/", 1)[0]: b"".join(file.pieces).decode() for file in EXPORTS["frr"].write(source)
    }
    with isolated_machine() as machine:
        make_namespaces(machine, cluster)
        ends = _link_ends(scaled)
        shape(machine, [end for pair in ends for end in pair])
        for host in hosts.values():
            machine.run(["/bin/sh"], host.name, host_script(host, MTU))
        start_daemons(machine, configurations, bfd)
        yield LaidNetwork(machine, scaled, plan, hosts, ends)


def _link_ends(scaled: ScaledFabric) -> tuple[tuple[LinkEnd, LinkEnd], ...]:
    cluster = scaled.cluster
    names, interfaces = host_names(cluster), routed_interfaces(cluster)
    sides = []
    for ports in (cluster.links.port_a, cluster.links.port_b):
        devices = names[cluster.ports.device[np.asarray(ports)]].tolist()
        sides.append(
            [
                LinkEnd(device, interface, rate)
                for device, interface, rate in zip(
                    devices, interfaces[ports].tolist(), cluster.links.bytes_per_s.tolist(), strict=True
                )
            ]
        )
    return tuple(zip(*sides, strict=True))
