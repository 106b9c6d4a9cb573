"""Cluster → ``topology.dot`` of Cumulus Linux's Prescriptive Topology Manager: switches check their own cables against it."""

from __future__ import annotations

from collections.abc import Iterator

from gpufabric.exports.chosen_links import chosen_links, linked_devices
from gpufabric.exports.host_names import HOST_LABEL
from gpufabric.exports.interface_names import interface_names
from gpufabric.exports.legal_names import NameRule, check_names
from gpufabric.exports.link_ends import LinkEnds, link_ends
from gpufabric.exports.text_pieces import text_pieces
from gpufabric.records.export_target import ExportedFile, ExportSource, ExportTarget
from gpufabric.records.names import device_names

_DEVICE = NameRule(
    "ptm", rf"{HOST_LABEL}(\.{HOST_LABEL})*", 253, "host names (RFC 1123)", same_in_both_cases=True
)
# The far end may be no Linux: Ethernet1/1 is as good.
_PORT = NameRule("ptm", r"[A-Za-z0-9][A-Za-z0-9_.:/-]*", 64, "letters, digits and the characters _ . : / -")


def write(source: ExportSource) -> tuple[ExportedFile, ...]:
    """Return ``topology.dot``: one edge a link.

    Raises
    ------
    InputError
        If a name can't be that of a host or a port.
    """
    cluster = source.cluster
    links = chosen_links(source)
    check_names(device_names(cluster, linked_devices(source, links)).tolist(), _DEVICE)
    ends = link_ends(cluster, links, interface_names(cluster, "cumulus", source.parts))
    check_names(sorted({*ends.port_a, *ends.port_b}), _PORT, "port")
    return (ExportedFile("topology.dot", text_pieces(_lines(ends))),)


def _lines(ends: LinkEnds) -> Iterator[str]:
    yield "graph G {"
    for a, port_a, b, port_b in ends:
        yield f'    "{a}":"{port_a}" -- "{b}":"{port_b}";'
    yield "}"


TARGET = ExportTarget(
    name="ptm",
    title="Prescriptive Topology Manager of Cumulus Linux",
    files="topology.dot",
    kept="both ends of every link, by the names that LLDP tells",
    lost="rates, cables, parts, roles, GPUs and racks; servers must run an LLDP agent and call their ports eth1 and on",
    network="ethernet",
    source="Cumulus Linux user guide, Prescriptive Topology Manager, https://docs.nvidia.com/networking-ethernet-software/"
    "cumulus-linux/Layer-1-and-Switch-Ports/Prescriptive-Topology-Manager-PTM/, read 2026-12-01",
    write=write,
)
