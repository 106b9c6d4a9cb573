"""Design → inputs of SimAI: topology text for its ns-3 mode, and bus bandwidths for its analytical mode."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from gpufabric.errors import InputError, printable
from gpufabric.exports.simulated_gpus import SimulatedGpus, simulated_gpus
from gpufabric.exports.text_pieces import text_pieces
from gpufabric.formats import simai_bus_bandwidth, simai_topology
from gpufabric.records.cluster import DeviceKind
from gpufabric.records.export_target import ExportedFile, ExportOption, ExportSource, ExportTarget
from gpufabric.records.simulator_inputs import SimaiTopology
from gpufabric.units import parse_rate

PROGRAM = "simai"
_Int = NDArray[np.int64]
_TYPES = ("A100", "A800", "H100", "H800")
BUS = tuple(
    ExportOption(
        f"{group}-busbw",
        (),
        "",
        f"measured or predicted bus bandwidth of {words}, such as 360 GB/s; default: line rate",
    )
    for group, words in (
        ("tp", "groups inside servers"),
        ("dp", "groups over servers"),
        ("ep", "expert groups over servers"),
        ("pp", "sends between servers"),
    )
)


def write(source: ExportSource) -> Iterator[ExportedFile]:
    """Yield the topology and the bus bandwidths.

    Raises
    ------
    InputError
        If GPUs are not alike, are not joined by switches, or have no port of their own, or there are too many nodes.
    """
    seen = simulated_gpus(source, PROGRAM)
    topology = simai_network(source, seen)
    yield ExportedFile("topology.txt", text_pieces(simai_topology.write(topology)))
    yield ExportedFile.of_text("busbw.yaml", _bus_bandwidths(source, seen))


def simai_network(source: ExportSource, seen: SimulatedGpus) -> SimaiTopology:
    """Return the network: GPUs in fabric order, one NVSwitch a scale-up domain, the switches; parallel links are one."""
    cluster, part = source.cluster, seen.server
    if part.scale_up.kind != "switched":
        raise InputError(
            f"{PROGRAM}: GPUs of {printable(part.id)} are joined by no NVSwitches; SimAI knows no other way; choose "
            "another server"
        )
    gpus = len(cluster.gpus)
    domains, domain = np.unique(cluster.gpus.domain, return_inverse=True)
    ends = np.concatenate([seen.links.lower, seen.links.upper])
    switches = np.unique(ends[cluster.devices.kind[ends] == DeviceKind.SWITCH]).astype(np.int64)
    nodes = gpus + len(domains) + len(switches)
    if nodes > simai_topology.MAX_NODES:
        raise InputError(
            f"{PROGRAM}: {nodes:,} GPUs and switches are too many; SimAI's addresses have room for {simai_topology.MAX_NODES:,}; "
            "export a part of the design"
        )
    node = np.full(len(cluster.devices), -1, np.int64)
    node[switches] = gpus + len(domains) + np.arange(len(switches))
    start, end, rate, delay = _fabric_links(source, seen, node)
    inside = np.arange(gpus)
    return SimaiTopology(
        nodes=nodes,
        gpus_per_server=seen.domain_gpus,
        nv_switches=gpus + np.arange(len(domains)),
        switches=node[switches],
        gpu_type=next((kind for kind in _TYPES if part.gpu.upper().startswith(kind)), "NONE"),
        start=np.concatenate([inside, start]),
        end=np.concatenate([gpus + domain.ravel(), end]),
        bytes_per_s=np.concatenate([np.full(gpus, part.scale_up.gpu_bytes_per_s), rate]),
        delay_s=np.concatenate([np.zeros(gpus), delay]),
    )


def _fabric_links(
    source: ExportSource, seen: SimulatedGpus, node: _Int
) -> tuple[_Int, _Int, NDArray[np.float64], NDArray[np.float64]]:
    """Return the links of the fabric between nodes, parallel ones as one of their sum."""
    cluster, links = source.cluster, seen.links
    if links.is_mesh:
        raise InputError(
            f"{PROGRAM}: servers are linked with each other; SimAI forwards at switches only; choose a fabric with switches"
        )
    low = node[links.lower]
    at_server = links.at_server
    low[at_server] = _gpu_of_ports(source, seen)[_lower_ports(source, seen)[at_server]]
    lost = int((low < 0).sum())
    with_port = np.zeros(len(cluster.gpus), bool)
    with_port[low[at_server & (low >= 0)]] = True
    if lost or not with_port.all():
        raise InputError(
            f"{PROGRAM}: {int((~with_port).sum())} GPUs have no port of their own ({lost} ports stand beside no GPU); "
            "SimAI gives every "
            "GPU a NIC; choose a server whose part says which GPU each NIC stands beside"
        )
    pairs, row = np.unique(np.stack([low, node[links.upper]], axis=1), axis=0, return_inverse=True)
    rate = np.bincount(row.ravel(), links.bytes_per_s).astype(np.float64)
    delay = np.bincount(row.ravel(), seen.latency_s.mean(axis=1)) / np.bincount(row.ravel())
    return pairs[:, 0], pairs[:, 1], rate, delay


def _lower_ports(source: ExportSource, seen: SimulatedGpus) -> _Int:
    cluster, rows = source.cluster, seen.links.row
    turned = cluster.link_device_a[rows] != seen.links.lower
    return np.where(turned, cluster.links.port_b[rows], cluster.links.port_a[rows]).astype(np.int64)


def _gpu_of_ports(source: ExportSource, seen: SimulatedGpus) -> _Int:
    """Return for each port the GPU of the cluster that its NIC stands beside; -1 for none."""
    cluster = source.cluster
    beside = np.array([-1 if nic.gpu is None else nic.gpu for nic in seen.server.nics] + [-1], np.int64)
    local = beside[np.minimum(cluster.ports.nic.astype(np.int64), len(beside) - 1)]
    gpu = np.full((len(cluster.devices), len(seen.server.gpus)), -1, np.int64)
    gpu[cluster.gpus.host, cluster.gpus.local] = np.arange(len(cluster.gpus))
    found = gpu[cluster.ports.device, np.maximum(local, 0)]
    return np.where((local >= 0) & (cluster.ports.nic >= 0), found, -1)


def _bus_bandwidths(source: ExportSource, seen: SimulatedGpus) -> str:
    links = seen.links
    injected = float(links.bytes_per_s[links.at_server].sum()) / len(source.cluster.gpus)
    inside = seen.server.scale_up.gpu_bytes_per_s
    # A ring over servers leaves and enters each by all its NICs, and passes every GPU's scale-up link.
    line = {"TP": inside, "DP": min(inside, injected * seen.domain_gpus), "EP": injected, "PP": injected}
    given = {option.key[:2].upper(): source.option(option.key) for option in BUS}
    rates = {group: parse_rate(given[group]) if given[group] else rate for group, rate in line.items()}
    default = [group for group, text in given.items() if not text]
    what = f"line rates, not predictions: {' '.join(default)}; " if default else ""
    by_key = {
        (group, key): rates[group] for group, keys in simai_bus_bandwidth.GROUPS.items() for key in keys
    }
    return simai_bus_bandwidth.write(by_key, f"{what}GB/s of 2^30 bytes, as SimAI counts")


TARGET = ExportTarget(
    name="simai",
    title="SimAI: topology of its ns-3 mode, bus bandwidths of its analytical mode",
    files="topology.txt, busbw.yaml",
    kept="every GPU, scale-up domain, switch and link of the fabric with rate and latency; parallel links are one of "
    "their sum; bus "
    "bandwidths of the four groups (SimAI's GB/s is 2^30 bytes/s; converted)",
    lost="single NVSwitches (one a domain), latency inside servers (0), ports, cables, rails and planes; bus "
    "bandwidths are line rates "
    "unless given; ECN thresholds of SimAI.conf must know every rate",
    network="any",
    source="SimAI, docs/en/technical_reference/configuration.md, gen_Topo_Template.py, common.h and AstraParamParse.hh of "
    "https://github.com/aliyun/SimAI, read 2026-12-01",
    write=write,
    from_files=False,
    options=BUS,
)
