"""A server part → a text picture of its inside: what hangs on which PCIe switch, where ports come out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gpufabric import units
from gpufabric.records.parts import InsideNic, InsidePcie, NicPort, ServerPart
from gpufabric.units import counted


def server_picture(server: ServerPart, nic_bytes_per_s: Mapping[str, float]) -> tuple[str, ...]:
    """Return the inside of *server*, one text a line.

    Parameters
    ----------
    server
        The server.
    nic_bytes_per_s
        Rate of one port, bytes/s in one direction, by id of the NIC part; a NIC that is missing shows none.
    """
    lines = [_scale_up_line(server)]
    numas = sorted({pcie.numa for pcie in server.pcie}, key=lambda numa: (numa is None, numa or 0))
    for numa in numas:
        lines.append("NUMA node not known" if numa is None else f"NUMA node {numa}")
        switches = [pcie for pcie in server.pcie if pcie.numa == numa]
        lines += _branches([_switch_lines(server, pcie, nic_bytes_per_s) for pcie in switches])
    loose = _leaves(server, "", nic_bytes_per_s)
    return (*lines, *(["PCIe attachment not known", *_branches(loose)] if loose else []))


def _scale_up_line(server: ServerPart) -> str:
    up = server.scale_up
    parts = [
        f"scale-up: {up.kind}, {units.format_gigabytes_per_s(up.gpu_bytes_per_s)} from one GPU to all peers"
    ]
    if up.pair_bytes_per_s is not None:
        parts.append(f"{units.format_gigabytes_per_s(up.pair_bytes_per_s)} a pair")
    if up.pair_links and up.link_bytes_per_s is not None:
        numbers = sorted({number for row in up.pair_links for number in row if number})
        links = "1 link" if numbers == [1] else f"{' or '.join(map(str, numbers))} links"
        parts.append(f"{links} of {units.format_gigabytes_per_s(up.link_bytes_per_s)} to some of its peers")
    if up.switches:
        parts.append(counted(up.switches, "switch", "switches"))
    if up.domain_servers > 1:
        parts.append(f"one domain spans {counted(up.domain_servers, 'server')}")
    if up.multicast:
        parts.append("reduction and multicast in the switches")
    return ", ".join(parts)


def _switch_lines(server: ServerPart, pcie: InsidePcie, rates: Mapping[str, float]) -> list[str]:
    rates_text = f"{units.format_gigabytes_per_s(pcie.bytes_per_s)} to the CPU"
    if pcie.peer_bytes_per_s is not None:
        rates_text += f", {units.format_gigabytes_per_s(pcie.peer_bytes_per_s)} below the switch"
    head = f"{pcie.id} ({rates_text})"
    return [head, *_branches(_leaves(server, pcie.id, rates))]


def _leaves(server: ServerPart, pcie_id: str, rates: Mapping[str, float]) -> list[list[str]]:
    gpus = [[f"GPU {gpu.index}"] for gpu in server.gpus if gpu.pcie == pcie_id]
    return gpus + [_nic_lines(server, nic, rates) for nic in server.nics if nic.pcie == pcie_id]


def _nic_lines(server: ServerPart, nic: InsideNic, rates: Mapping[str, float]) -> list[str]:
    beside = f", beside GPU {nic.gpu}" if nic.gpu is not None else ""
    purpose = "" if nic.purpose == "compute" else f", {nic.purpose}"
    rate = f", {units.format_gbps(rates[nic.part])}" if nic.part in rates else ""
    head = f"{nic.name} ({nic.part}{beside}{purpose})"
    return [f"{head}: {_port_text(server, port)}{rate}" for port in nic.ports]


def _port_text(server: ServerPart, port: NicPort) -> str:
    group = next(g for g in server.cages if g.first <= port.cage < g.first + g.count)
    parts = [f"{group.label or 'cage '}{port.cage}"]
    if group.ports > 1:
        parts.append(f"lane {port.lane}")
    if port.rail is not None:
        parts.append(f"rail {port.rail}")
        parts.append(f"plane {port.plane}")
    return ", ".join(parts)


def _branches(blocks: Sequence[Sequence[str]]) -> list[str]:
    """Return *blocks* drawn as the branches of a tree; the first line of each block is its head."""
    lines = []
    for index, block in enumerate(blocks):
        last = index == len(blocks) - 1
        for position, line in enumerate(block):
            lead = ("└─ " if last else "├─ ") if position == 0 else ("   " if last else "│  ")
            lines.append(lead + line)
    return lines
