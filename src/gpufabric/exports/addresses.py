"""Cluster → the table of all addresses, as CSV: one row an interface, loopbacks first."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from gpufabric.exports.routed_interfaces import routed_interfaces
from gpufabric.exports.routed_switches import ASN, POOL, RoutedSwitch, host_names, plan_of, routed_switches
from gpufabric.records.address_plan import AddressPlan, ipv4_texts
from gpufabric.records.cluster import Cluster
from gpufabric.records.export_target import ExportedFile, ExportSource, ExportTarget

COLUMNS = (
    "device", "interface", "address", "peer", "peer_interface", "peer_address", "asn", "domain", "domain_prefix", "rail_prefix",
)  # fmt: skip


def _write(source: ExportSource) -> Iterator[ExportedFile]:
    plan, names = plan_of(source), host_names(source.cluster)
    interfaces = routed_interfaces(source.cluster)
    switches = routed_switches(source.cluster, plan, names, interfaces)
    yield ExportedFile("addresses.csv", _pieces(source.cluster, plan, names.tolist(), interfaces, switches))


def _pieces(
    cluster: Cluster,
    plan: AddressPlan,
    names: list[str],
    interfaces: NDArray[np.object_],
    switches: Iterator[RoutedSwitch],
) -> Iterator[bytes]:
    yield _lines([COLUMNS])
    for switch in switches:
        prefix = str(plan.domains[switch.domain])
        block = str(switch.block or "")
        rows: list[tuple[str, ...]] = [
            (switch.name, "lo", f"{switch.loopback}/32", "", "", "", str(switch.asn), str(switch.domain + 1), prefix, block)
        ]  # fmt: skip
        for one in switch.interfaces:
            ends = (one.peer, one.peer_port, f"{one.peer_address}/31")
            rows.append(
                (switch.name, one.name, f"{one.address}/31", *ends, str(switch.asn), str(switch.domain + 1), prefix, block)
            )  # fmt: skip
        yield _lines(rows)
    yield from _host_pieces(cluster, plan, names, interfaces)


def _host_pieces(
    cluster: Cluster, plan: AddressPlan, names: list[str], interfaces: NDArray[np.object_]
) -> Iterator[bytes]:
    hosts = plan.hosts
    order = np.argsort(hosts.lower_port, kind="stable")
    lower, upper = hosts.lower_port[order], hosts.upper_port[order]
    place = np.zeros(len(cluster.devices), np.int64)
    place[plan.switches.device] = np.arange(len(plan.switches))
    switch = place[cluster.ports.device[upper]]
    columns = (
        [names[device] for device in cluster.ports.device[lower].tolist()],
        interfaces[lower].tolist(),
        ipv4_texts(hosts.upper_address[order] + 1),
        [names[device] for device in cluster.ports.device[upper].tolist()],
        interfaces[upper].tolist(),
        ipv4_texts(hosts.upper_address[order]),
        plan.switches.domain[switch].tolist(),
        plan.host_rail[order].tolist(),
    )
    domains, rails = [str(one) for one in plan.domains], [str(one) for one in plan.rails]
    rows = (
        (device, interface, f"{address}/31", leaf, port, f"{gateway}/31", "", str(domain + 1), domains[domain], rails[rail])
        for device, interface, address, leaf, port, gateway, domain, rail in zip(*columns, strict=True)
    )  # fmt: skip
    batch: list[tuple[str, ...]] = []
    for row in rows:
        batch.append(row)
        if len(batch) == 4096:
            yield _lines(batch)
            batch = []
    yield _lines(batch)


def _lines(rows: list[tuple[str, ...]]) -> bytes:
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(rows)
    return out.getvalue().encode()


TARGET = ExportTarget(
    name="addresses",
    title="table of addresses, CSV",
    files="addresses.csv",
    kept="every loopback, autonomous system, interface and address, with the prefixes of rails and routing domains",
    lost="rates, lengths and parts; bonds (their ports have an address each)",
    network="ethernet",
    source="RFC 4180 (CSV), RFC 7938 (layout), RFC 3021 (/31), read 2026-11",
    write=_write,
    options=(POOL, ASN),
)
