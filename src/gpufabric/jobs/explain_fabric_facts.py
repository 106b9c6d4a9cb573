"""A file about the wiring, or with counters of links → what it says, in short lines with a name each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np

from gpufabric.errors import printable
from gpufabric.records.cluster import DeviceKind
from gpufabric.records.found_fabric import FoundFabric, PortState
from gpufabric.records.link_counters import COUNTERS, LinkCounters
from gpufabric.records.names import device_names
from gpufabric.units import counted, format_gbps

Facts = Iterator[tuple[str, str]]
#: A server has as many neighbours, a fabric has more.
_NEIGHBOURS_SHOWN = 64
_PORTS_SHOWN = 64
_KINDS = {DeviceKind.SWITCH: "switches", DeviceKind.SERVER: "servers"}


def fabric_facts(found: FoundFabric) -> Facts:
    """Yield (name, text) of what was found: devices by kind, links by rate, and the neighbours where they are few."""
    cluster = found.cluster
    kinds = Counter(_KINDS.get(kind, "devices of unknown kind") for kind in cluster.devices.kind.tolist())
    for name in (*_KINDS.values(), "devices of unknown kind"):
        if kinds[name]:
            yield name, f"{kinds[name]:,}"
    adapters = len(np.unique(found.port_guid[found.port_guid != 0]))
    if adapters:
        yield "adapters", f"{adapters:,}"
    for name, count in found.left_out:
        yield "left out", f"{count:,} {printable(name, 80)}"
    yield "links", f"{len(cluster.links):,}{_rates(found)}"
    dark = int((found.port_state == PortState.DARK).sum())
    if dark:
        yield "ports without link", f"{dark:,}"
    if 0 < len(cluster.links) <= _NEIGHBOURS_SHOWN:
        yield from _neighbours(found)
    yield "next", "gpufabric check compares it with a design, or with what it seems to be meant as"


def _rates(found: FoundFabric) -> str:
    rate = found.cluster.links.bytes_per_s
    rates = Counter(rate[~np.isnan(rate)].tolist())
    told = ", ".join(f"{count:,} of {format_gbps(one)}" for one, count in rates.most_common(6))
    return f"; {told}" if told else "; rates not told"


def _neighbours(found: FoundFabric) -> Facts:
    cluster = found.cluster
    names, ports, links = device_names(cluster), cluster.ports.names or (), cluster.links
    for a, b in zip(links.port_a.tolist(), links.port_b.tolist(), strict=True):
        # The end that tells of itself is whose neighbour the other one is.
        near, far = (a, b) if found.port_own[a] or not found.port_own[b] else (b, a)
        ends = [f"{names[cluster.ports.device[port]]} {ports[port]}" for port in (near, far)]
        note = printable(found.port_note[far], 120) if found.port_note else ""
        yield printable(ends[0], 200), printable(ends[1], 200) + (f' (says "{note}")' if note else "")


def counter_facts(found: LinkCounters) -> Facts:
    """Yield (name, text): ports with what they counted, those that counted errors first."""
    yield "ports", f"{len(found.ports):,}"
    shown = sorted(found.ports, key=lambda port: -sum(port.values.get(key, 0) > 0 for key in _WRONG))
    for port in shown[:_PORTS_SHOWN]:
        values = [
            f"{key.replace('_', ' ')} {port.values[key]:,.6g}" for key in COUNTERS if port.values.get(key)
        ]
        yield f"{port.device} {port.port}".strip(), ", ".join(values) or "nothing counted"
    if len(shown) > _PORTS_SHOWN:
        yield "left out", f"{counted(len(shown) - _PORTS_SHOWN, 'more port')}"


_WRONG = (
    "symbol_errors",
    "link_downs",
    "link_recoveries",
    "receive_errors",
    "transmit_errors",
    "effective_ber",
)
