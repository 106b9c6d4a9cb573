"""Cluster → a ``.topo`` file, with which UFM and ibdiagnet compare the fabric that they discover."""

from __future__ import annotations

from collections.abc import Iterator
from math import isnan

import numpy as np
from numpy.typing import NDArray

from gpufabric.exports.infiniband_subnets import file_name, infiniband_subnets
from gpufabric.exports.interface_names import interface_names
from gpufabric.exports.legal_names import NameRule, check_names
from gpufabric.exports.text_pieces import text_pieces
from gpufabric.graphs.cluster_subnet import LaidSubnet, adapter_ports
from gpufabric.records.cluster import Cluster
from gpufabric.records.export_target import ExportedFile, ExportSource, ExportTarget
from gpufabric.records.names import device_names
from gpufabric.records.parts import SwitchPart
from gpufabric.units import gbps

_RULE = NameRule("ufm", r"[A-Za-z0-9][A-Za-z0-9_.-]*", 63, "letters, digits, dots, dashes and underscores")
_LANES = 4


def write(source: ExportSource) -> tuple[ExportedFile, ...]:
    """Return ``fabric.topo``, one file a subnet: a section a switch, a line a cable.

    Raises
    ------
    InputError
        If a name can't stand in such a file, or a subnet has more nodes than LIDs.
    """
    files = []
    for word, laid, links in infiniband_subnets(source):
        check_names(device_names(source.cluster, np.unique(laid.device)).tolist(), _RULE)
        adapters = interface_names(source.cluster, "rdma", source.parts)[adapter_ports(source.cluster, links)]
        check_names(np.unique(adapters.astype(str)).tolist(), _RULE, "port")
        lines = _lines(source, laid, links)
        files.append(ExportedFile(file_name("fabric", word, ".topo"), text_pieces(lines)))
    return tuple(files)


def _lines(source: ExportSource, laid: LaidSubnet, links: NDArray[np.int64]) -> Iterator[str]:
    cluster, subnet = source.cluster, laid.subnet
    hosts = device_names(cluster, laid.device).tolist()
    adapters = interface_names(cluster, "rdma", source.parts)
    ends = adapter_ports(cluster, links)
    last_adapter: dict[int, str] = {}
    for device, port in zip(laid.device[: len(ends)].tolist(), ends.tolist(), strict=True):
        last_adapter[device] = max(
            last_adapter.get(device, ""), str(adapters[port]), key=lambda n: (len(n), n)
        )
    types = [
        _switch_type(source, device) if switch else f"HCA_{last_adapter[device]}"
        for device, switch in zip(laid.device.tolist(), subnet.is_switch.tolist(), strict=True)
    ]
    places = [f"{adapters[port]}/P1" for port in ends.tolist()]
    speeds = _speeds(cluster, links)
    near, far = subnet.link_node.ravel(), subnet.link_node[:, ::-1].ravel()
    own, other = subnet.link_port.ravel(), subnet.link_port[:, ::-1].ravel()
    order = np.lexsort((own, near))
    first = np.searchsorted(near[order], np.arange(len(subnet) + 1))
    for node in np.flatnonzero(subnet.is_switch).tolist():
        yield f"{types[node]} {hosts[node]}"
        for at in order[first[node] : first[node + 1]].tolist():
            to = int(far[at])
            port = f"P{int(other[at])}" if subnet.is_switch[to] else places[to]
            yield f"\tP{int(own[at])} {speeds[at // 2]} {types[to]} {hosts[to]} {port}"
        yield ""


def _switch_type(source: ExportSource, device: int) -> str:
    """Return the first part of a switch's order number, such as MQM9700; where there is none, its id."""
    part = int(source.cluster.devices.part[device])
    if part < 0:
        return "SWITCH"
    found = source.parts.get(source.cluster.parts[part])
    number = found.part_number.partition("-")[0] if isinstance(found, SwitchPart) else ""
    return number or source.cluster.parts[part].upper()


def _speeds(cluster: Cluster, links: NDArray[np.int64]) -> list[str]:
    """Return width and rate of a lane of each link: 400 Gb/s is ``-4x-100G->``."""
    lanes = [gbps(rate) / _LANES for rate in cluster.links.bytes_per_s[links].tolist()]
    return ["->" if isnan(lane) else f"-{_LANES}x-{lane:g}G->" for lane in lanes]


TARGET = ExportTarget(
    name="ufm",
    title="UFM and ibdiagnet topology file (.topo)",
    files="fabric.topo, one a subnet (plane or rail)",
    kept="every switch, adapter port and link of a subnet, with types of switches, port numbers and lane rates",
    lost="cables, racks and GPUs; the type of a server is HCA_ and its last adapter, as in NVIDIA's example",
    network="infiniband",
    source="UFM validation tool, https://docs.nvidia.com/networking/display/UFMValidationTool/Topo+File, and IBDM topology file, "
    "https://manpages.ubuntu.com/manpages/jammy/man1/ibdm-topo-file.1.html, read 2026-12-01",
    write=write,
)
