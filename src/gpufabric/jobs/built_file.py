"""A cluster as built → the file that a discovery of it would give."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from gpufabric.errors import InputError
from gpufabric.formats.iblinkinfo_write import write_iblinkinfo
from gpufabric.formats.ibnetdiscover_write import write_ibnetdiscover
from gpufabric.formats.lldp_table_write import Neighbour, write_lldp_tables
from gpufabric.graphs.cluster_subnet import LaidSubnet, lay_subnet
from gpufabric.graphs.discovered_names import discovered_names
from gpufabric.records.cluster import Cluster, DeviceKind
from gpufabric.records.names import device_names, port_names
from gpufabric.records.port_numbers import port_numbers
from gpufabric.units import gbps

_CSV = ("from_device", "from_port", "to_device", "to_port", "speed_gbps", "cable_part")
#: Width and generation by rate in Gb/s, the widest first: one lane is 25 (EDR), 50 (HDR), 100 (NDR) or 200 (XDR) Gb/s.
_IB_RATES = {800: "4xXDR", 400: "4xNDR", 200: "4xHDR", 100: "4xEDR", 50: "2xEDR", 25: "1xEDR"}
_NO_RATE = "4xSDR"


def write_built(
    cluster: Cluster, rows: NDArray[np.int64], cables: Sequence[str], form: str, dark: Sequence[int] = ()
) -> str:
    """Return the file of some links.

    Parameters
    ----------
    cluster
        With names of its own.
    rows
        Links.
    cables
        Part of the cable of each link of the cluster; empty where it is unknown.
    form
        A key of :data:`WRITERS`.
    dark
        Ports that are down.

    Raises
    ------
    InputError
        If the form is unknown or can't tell of such a fabric.
    """
    if form not in WRITERS:
        raise InputError(f'--format: "{form}" is unknown; allowed are {", ".join(WRITERS)}')
    return WRITERS[form](cluster, rows, cables, dark)


def _subnet(cluster: Cluster, rows: NDArray[np.int64]) -> tuple[LaidSubnet, tuple[str, ...]]:
    laid = lay_subnet(cluster, rows)
    rates = tuple(
        _IB_RATES.get(round(gbps(rate)), _NO_RATE) for rate in cluster.links.bytes_per_s[rows].tolist()
    )
    return replace(laid, subnet=replace(laid.subnet, names=discovered_names(cluster, laid))), rates


def _ibnetdiscover(
    cluster: Cluster, rows: NDArray[np.int64], cables: Sequence[str], dark: Sequence[int]
) -> str:
    laid, rates = _subnet(cluster, rows)
    return write_ibnetdiscover(laid.subnet, rates)


def _iblinkinfo(cluster: Cluster, rows: NDArray[np.int64], cables: Sequence[str], dark: Sequence[int]) -> str:
    laid, rates = _subnet(cluster, rows)
    numbers, device = port_numbers(cluster), cluster.ports.device
    node_of = {
        int(device): node
        for node, device in enumerate(laid.device.tolist())
        if bool(laid.subnet.is_switch[node])
    }
    down = [(node_of[int(device[p])], int(numbers[p])) for p in dark if int(device[p]) in node_of]
    return write_iblinkinfo(laid.subnet, rates, down)


def _lldp(cluster: Cluster, rows: NDArray[np.int64], cables: Sequence[str], dark: Sequence[int]) -> str:
    names, ports = device_names(cluster).tolist(), port_names(cluster).tolist()
    device, kind = cluster.ports.device, cluster.devices.kind
    heard: dict[int, list[Neighbour]] = {}
    for a, b in zip(cluster.links.port_a[rows].tolist(), cluster.links.port_b[rows].tolist(), strict=True):
        for near, far in ((a, b), (b, a)):
            if kind[device[near]] == DeviceKind.SWITCH:
                is_switch = bool(kind[device[far]] == DeviceKind.SWITCH)
                heard.setdefault(int(device[near]), []).append(
                    (ports[near], names[device[far]], ports[far], is_switch)
                )
    return write_lldp_tables((names[row], own) for row, own in sorted(heard.items()))


def _csv(cluster: Cluster, rows: NDArray[np.int64], cables: Sequence[str], dark: Sequence[int]) -> str:
    names, ports = device_names(cluster).tolist(), port_names(cluster).tolist()
    device, out = cluster.ports.device, io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(_CSV)
    for row in rows.tolist():
        a, b = int(cluster.links.port_a[row]), int(cluster.links.port_b[row])
        rate = f"{gbps(float(cluster.links.bytes_per_s[row])):g}"
        writer.writerow((names[device[a]], ports[a], names[device[b]], ports[b], rate, cables[row]))
    return out.getvalue()


#: What each form does not show, so that it can't be found in it.
HIDDEN = {
    "ibnetdiscover": {"wrong-cable", "dark-port"},
    "iblinkinfo": {"wrong-cable"},
    "lldp": {"wrong-cable", "wrong-rate", "dark-port", "duplicate-name"},
    "csv": {"dark-port", "duplicate-name"},
}
_Writer = Callable[[Cluster, NDArray[np.int64], Sequence[str], Sequence[int]], str]
WRITERS: dict[str, _Writer] = {
    "ibnetdiscover": _ibnetdiscover,
    "iblinkinfo": _iblinkinfo,
    "lldp": _lldp,
    "csv": _csv,
}
