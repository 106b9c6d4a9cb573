"""Cluster → ``nccl.conf``: which NICs NCCL and RCCL use, and how.

Variables as in the NCCL user guide, https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html (read 2026-11).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from gpufabric.errors import InputError, printable
from gpufabric.exports.interface_names import interface_names
from gpufabric.exports.roce_classes import ROCE_TRAFFIC_CLASS
from gpufabric.exports.routed_switches import chosen
from gpufabric.records.cluster import Cluster, DeviceKind, Role
from gpufabric.records.export_target import ExportedFile, ExportOption, ExportSource, ExportTarget
from gpufabric.records.tiers import link_fabrics

HCAS = ExportOption(
    "hcas",
    (),
    "",
    "RDMA devices of the compute NICs, in order of rail and plane, with commas between them; "
    "default: as the server's part says, else mlx5_0, mlx5_1 …",
)
SOCKET = ExportOption("socket", (), "eth0", "interface over which ranks find each other, as ip link shows it")
GID = ExportOption("gid", (), "3", "GID index of RoCE v2 over IPv4, as show_gids shows it (Ethernet only)")
QPS = ExportOption("qps", (), "", "queue pairs of a connection; default: the description's, else NCCL's")
_NAME = re.compile(r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$")
_LONGEST_VALUE = 1000
_RAILS = ("rail-optimized", "rail-only", "multi-plane")


def _write(source: ExportSource) -> Iterator[ExportedFile]:
    yield ExportedFile.of_text("nccl.conf", "\n".join(_lines(source)) + "\n")


def _lines(source: ExportSource) -> Iterator[str]:
    cluster = source.cluster
    fabric = cluster.fabrics[source.fabrics[0]]
    ports, rails = _compute_ports(cluster, source.fabrics[0])
    devices = len(ports)
    hcas = _names(source, HCAS) or tuple(interface_names(cluster, "rdma", source.parts)[ports].tolist())
    if len(hcas) != devices:
        raise InputError(
            f"--set hcas: {len(hcas)} devices are named, a server has {devices} compute ports in fabric "
            f"{printable(fabric.name)}; name one a port, with commas between them"
        )
    yield f"# {printable(cluster.name)}, fabric {printable(fabric.name)}: {devices} compute ports a server, {rails} rails."
    values = {
        "NCCL_IB_HCA": f"={','.join(hcas)}",
        "NCCL_SOCKET_IFNAME": f"={','.join(_names(source, SOCKET))}",
        # A ring that stays on its rail crosses one leaf; where leaves serve all rails it may change them (2: only if that helps).
        "NCCL_CROSS_NIC": str(0 if fabric.topology in _RAILS and rails > 1 else 2),
    }
    queue_pairs = _queue_pairs(source)
    if queue_pairs:
        values["NCCL_IB_QPS_PER_CONNECTION"] = str(queue_pairs)
    if fabric.network != "infiniband":
        values["NCCL_IB_GID_INDEX"] = str(_whole(source, GID, 0, 255))
        values["NCCL_IB_TC"] = str(ROCE_TRAFFIC_CLASS)
    # What the description says of the library goes before what we would choose.
    values |= source.spec.library.settings if source.spec else {}
    yield from (f"{printable(name)}={printable(value, _LONGEST_VALUE)}" for name, value in values.items())


def _compute_ports(cluster: Cluster, fabric: int) -> tuple[NDArray[np.int64], int]:
    """Return the ports of the first server in the fabric, by rail and plane, and how many rails there are."""
    rows = np.flatnonzero(link_fabrics(cluster) == fabric)
    ports = np.concatenate([cluster.links.port_a[rows], cluster.links.port_b[rows]])
    device = cluster.ports.device[ports]
    server = (cluster.devices.kind[device] == DeviceKind.SERVER) & (
        cluster.devices.role[device] == Role.SERVER
    )
    if not server.any():
        raise InputError(
            f"fabric {printable(cluster.fabrics[fabric].name)}: has no servers; choose another one with --fabric"
        )
    counts = np.bincount(device[server])
    kinds = np.unique(counts[counts > 0])
    if len(kinds) > 1:
        raise InputError(
            f"fabric {printable(cluster.fabrics[fabric].name)}: its servers have {', '.join(map(str, kinds.tolist()))} ports; "
            "one nccl.conf fits servers of one kind; describe each kind for itself"
        )
    first = np.unique(ports[server & (device == device[server].min())]).astype(np.int64)
    table = cluster.ports
    order = np.lexsort((table.lane[first], table.cage[first], table.plane[first], table.rail[first]))
    return first[order], len(np.unique(table.rail[ports[server]]))


def _names(source: ExportSource, option: ExportOption) -> tuple[str, ...]:
    text = chosen(source, option)
    names = tuple(text.split(",")) if text else ()
    bad = next((name for name in names if not _NAME.match(name)), None)
    if bad is not None:
        raise InputError(
            f'--set {option.key}: "{printable(bad)}" is no name of a device; letters, digits, dots and dashes are allowed, '
            "with a comma between two"
        )
    return names


def _queue_pairs(source: ExportSource) -> int:
    if chosen(source, QPS):
        return _whole(source, QPS, 1, 128)
    if source.spec is None:
        return 0
    named = {fabric.name: fabric for fabric in source.spec.fabrics}
    fabric = named.get(source.cluster.fabrics[source.fabrics[0]].name)
    return (fabric.ecmp.queue_pairs or 0) if fabric else 0


def _whole(source: ExportSource, option: ExportOption, least: int, most: int) -> int:
    text = chosen(source, option)
    if not text.isdecimal() or len(text) > 4 or not least <= int(text) <= most:
        raise InputError(
            f'--set {option.key}: "{printable(text)}" is not possible; {least} to {most} are; write a whole number'
        )
    return int(text)


TARGET = ExportTarget(
    name="nccl-conf",
    title="configuration file of NCCL and RCCL",
    files="nccl.conf",
    kept="the compute NICs of a server, whether rings may change rails, queue pairs, traffic class, settings of the description",
    lost="everything else; names of RDMA devices are the drivers' usual ones, in the order of the server's part",
    network="any",
    source="NCCL user guide, https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html, read 2026-11",
    write=_write,
    options=(HCAS, SOCKET, GID, QPS),
)
