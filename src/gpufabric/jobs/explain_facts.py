"""A record that was read → what it says, in short lines with a name each."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

from gpufabric.errors import printable
from gpufabric.records.cable_modules import CableModules
from gpufabric.records.gpu_links import AmdTopology, NvlinkStatus
from gpufabric.records.measurements import Measurements
from gpufabric.records.nccl_log import NcclLog
from gpufabric.records.nccl_topology import NcclGraphs, NcclTopology
from gpufabric.records.pci_functions import PciFunctions
from gpufabric.records.peer_access import PEER_CELLS, PeerAccess
from gpufabric.records.perftest import PerftestRuns
from gpufabric.records.rdma_ports import PortGids, RdmaPorts
from gpufabric.records.scheduler_topology import SchedulerTopology
from gpufabric.records.server_topology import ServerTopology
from gpufabric.units import counted, format_gbps, format_gigabytes_per_s, format_message_bytes

Facts = Iterator[tuple[str, str]]
_SHOWN = 16


def facts_of(record: object) -> tuple[tuple[str, str], ...]:
    """Return (name, text) of what a record says; nothing for a record of another kind."""
    teller = _TELLERS.get(type(record))
    return tuple(teller(record)) if teller is not None else ()


def _some(words: list[str]) -> str:
    more = len(words) - _SHOWN
    return ", ".join(words[:_SHOWN]) + (f" and {more} more" if more > 0 else "")


def _matrix(record: ServerTopology) -> Facts:
    gpus, nics = record.rows_of("gpu"), record.rows_of("nic")
    yield "GPUs", str(len(gpus))
    yield "NICs", _some([record.devices[i].real_name for i in nics]) or "none"
    kinds = Counter(record.path(a, b) for a in gpus for b in gpus if a < b)
    yield (
        "between GPUs",
        _some([f"{path or 'unknown'} ({pairs} pairs)" for path, pairs in kinds.most_common()]) or "one GPU",
    )
    if nics:
        near = {gpu: [record.devices[i].real_name for i in record.nearest_nics(gpu)] for gpu in gpus}
        yield (
            "NICs near",
            _some(
                [f"{record.devices[gpu].name}: {' '.join(names) or 'none'}" for gpu, names in near.items()]
            ),
        )
    beside = [
        f"{record.devices[a].real_name} {record.devices[b].real_name}"
        for a in nics
        for b in nics
        if a < b and record.path(a, b) == "PIX"
    ]
    if beside:
        yield "NICs side by side", _some(beside)
    if record.nics_hidden:
        yield "NICs not shown", str(record.nics_hidden)
    numa = [str(record.devices[gpu].numa_node) for gpu in gpus]
    yield "NUMA nodes", "unknown" if set(numa) == {"-1"} else " ".join(numa)
    cpus = list(dict.fromkeys(record.devices[gpu].cpu_affinity for gpu in gpus))
    if any(cpus):
        yield "CPUs of the GPUs", f"{counted(len(cpus), 'group')}: {_some([printable(c, 60) for c in cpus])}"
    own = [record.devices[gpu].gpu_numa_id for gpu in gpus]
    if max(own, default=-1) >= 0:
        yield "NUMA nodes of GPU memory", " ".join(map(str, own))


def _topology(record: NcclTopology) -> Facts:
    yield "CPUs", _some([f"NUMA {cpu.numa_node} {cpu.vendor}".strip() for cpu in record.cpus]) or "none"
    if not record.classes_known:
        yield "PCI devices", f"{len(record.pci)} of unknown class"
        return
    yield "GPUs", str(len(record.pci_of("gpu")))
    yield "NICs", str(len(record.pci_of("nic")))
    if record.nets:
        yield (
            "ports",
            _some(
                [
                    f"{n.name} {format_gbps(n.bytes_per_s) if n.bytes_per_s else 'unknown rate'}"
                    for n in record.nets
                ]
            ),
        )
    if record.gpus and record.pci_of("nic"):
        names = {net.pci: net.name for net in reversed(record.nets) if net.name}
        near = [
            f"GPU{gpu.dev}: {' '.join(names.get(n, record.pci[n].bus_id) for n in record.nearest_nics(gpu.pci)) or 'none'}"
            for gpu in sorted(record.gpus, key=lambda gpu: gpu.dev)
        ]
        yield "NICs near", _some(near)
    if record.links:
        yield "links of each GPU", " ".join(str(record.lanes_of(i)) for i in range(len(record.gpus)))


def _graphs(record: NcclGraphs) -> Facts:
    for graph in record.graphs[:_SHOWN]:
        rate = format_gigabytes_per_s(graph.inter_bytes_per_s or graph.intra_bytes_per_s)
        yield (
            graph.pattern,
            f"{counted(len(graph.channels), 'channel')} of {rate}, {graph.type_intra}/{graph.type_inter}",
        )


def _log(record: NcclLog) -> Facts:
    yield "library", f"{record.library} {record.version}".strip() or "unknown"
    for one in record.communicators[:4]:
        hosts = len({rank.host for rank in one.ranks if rank.host})
        size = one.size if one.size > 0 else len(one.ranks)
        yield (
            "communicator",
            f"{counted(size, 'rank')} on {counted(hosts, 'host')}{f' ({one.id})' if one.id else ''}",
        )
        rings = [ring for ring in one.rings if ring.complete]
        for ring in rings[:2]:
            yield (
                f"ring {ring.channel}",
                " ".join(str(rank) for rank in ring.ranks[:64]) + (" …" if len(ring.ranks) > 64 else ""),
            )
        if one.rings:
            yield "rings", f"{len(one.rings)}, {len({ring.ranks for ring in rings})} different"
        if one.trees:
            yield (
                "tree roots",
                _some([f"{tree.channel}: {' '.join(map(str, tree.roots))}" for tree in one.trees]),
            )
    if record.networks:
        yield "network", _some(list(record.networks))
    if record.nics:
        yield (
            "NICs",
            _some(
                list(dict.fromkeys(f"{nic.name}{f'/{nic.link}' if nic.link else ''}" for nic in record.nics))
            ),
        )
    if record.transports():
        yield "connections", _some([f"{name} ({count})" for name, count in record.transports()])
    if record.settings:
        yield "settings", _some([f"{name}={value}" for name, value in record.settings])
    for choice in record.choices[:_SHOWN]:
        yield (
            f"{choice.op} {format_message_bytes(choice.size_bytes)}",
            f"{choice.algorithm}, {choice.protocol}",
        )
    for call in record.calls[:_SHOWN]:
        yield (
            f"call of {call.op}",
            f"{call.count:,} elements over {counted(call.size, 'rank')}, {counted(call.times, 'time')}",
        )
    if record.tuning:
        ways = [f"{cell.algorithm} {cell.protocol}" for cell in record.tuning]
        yield "tuning table", f"{counted(len(record.tuning), 'cell')}: {_some(list(dict.fromkeys(ways)))}"
    if record.warning_count:
        yield "warnings", str(record.warning_count)


def _nvlink(record: NvlinkStatus) -> Facts:
    for gpu in record.gpus[:_SHOWN]:
        rates = {link.bytes_per_s for link in gpu.links if link.bytes_per_s > 0}
        known = [link for link in gpu.links if not math.isnan(link.bytes_per_s)]
        up = f"{gpu.active} of {len(known)} up" if known else "rates not given"
        yield (
            f"GPU {gpu.index}",
            f"{gpu.name}: {up}" + (f", {format_gigabytes_per_s(max(rates))} each" if rates else ""),
        )


def _amd(record: AmdTopology) -> Facts:
    yield "GPUs", str(len(record.gpus))
    kinds = Counter(kind for i, row in enumerate(record.link_types) for kind in row[:i])
    yield (
        "between GPUs",
        _some([f"{kind} ({pairs} pairs)" for kind, pairs in kinds.most_common()]) or "unknown",
    )
    for name, table in (("weight", record.weights), ("hops", record.hops)):
        values = Counter(value for i, row in enumerate(table) for value in row[:i])
        if values:
            yield name, _some([f"{value} ({pairs} pairs)" for value, pairs in values.most_common()])
    if record.numa_nodes:
        yield "NUMA nodes", " ".join(map(str, record.numa_nodes))


def _tests(record: Measurements) -> Facts:
    for table in record.tables[:_SHOWN]:
        if not table.rows:
            continue
        ranks = counted(table.ranks, "rank") if table.ranks else "ranks unknown"
        best = max(table.rows, key=lambda row: (row.size_bytes, row.busbw_bytes_per_s))
        rate = format_gigabytes_per_s(best.busbw_bytes_per_s)
        where = f"{ranks}, {counted(len(table.hosts), 'host')}" if table.hosts else ranks
        yield (
            table.op or "operation unknown",
            f"{where}: {rate} bus bandwidth at {format_message_bytes(best.size_bytes)}",
        )


def _perftest(record: PerftestRuns) -> Facts:
    for run in record.runs[:_SHOWN]:
        best = max((row.average_bytes_per_s for row in run.rows), default=0.0)
        pairs = f"{counted(run.queue_pairs, 'queue pair')}, " if run.queue_pairs > 0 else ""
        memory = "GPU memory" if run.gpu else "host memory"
        yield f"{run.test or 'test'} on {run.device or 'unknown'}", f"{format_gbps(best)}, {pairs}{memory}"


def _pci(record: PciFunctions) -> Facts:
    for kind in ("gpu", "nic", "nvswitch"):
        found = [one for one in record.functions if one.kind == kind]
        if found:
            widths = Counter(f"{one.transfers_per_s / 1e9:g} GT/s x{one.lanes}" for one in found if one.lanes)
            links = _some([f"{link} ({count})" for link, count in widths.most_common()])
            yield f"{kind.upper()}s", f"{len(found)}; links: {links or 'unknown'}"
    known = [one for one in record.functions if one.acs_redirects is not None]
    if known:
        yield "ACS", f"on for {sum(bool(one.acs_redirects) for one in known)} of {len(known)}"


def _ports(record: RdmaPorts) -> Facts:
    for port in record.ports[:_SHOWN]:
        rate = format_gbps(port.bytes_per_s) if port.bytes_per_s else "rate unknown"
        yield (
            f"{port.device} port {port.port}",
            f"{port.state}, {rate}, {port.link_layer or 'link layer unknown'}",
        )


def _gids(record: PortGids) -> Facts:
    for device, port in list(dict.fromkeys((gid.device, gid.port) for gid in record.gids))[:_SHOWN]:
        found = " ".join(map(str, record.roce_v2(device, port)))
        yield (
            f"{device} port {port}",
            f"RoCE v2 over IPv4 at index {found}" if found else "no RoCE v2 over IPv4",
        )


def _levels(record: SchedulerTopology) -> int:
    """Return how many switches stand above each other at most; a loop among them ends the count."""
    below = {switch.name: switch.switches for switch in record.switches}
    level = {name for names in below.values() for name in names}
    level, count = set(below) - level, 0
    while level and count < len(below):
        level = {name for above in level for name in below.get(above, ())}
        count += 1
    return count


def _scheduler(record: SchedulerTopology) -> Facts:
    if record.switches:
        leaves = [switch for switch in record.switches if switch.nodes]
        nodes = {node for switch in leaves for node in switch.nodes}
        yield "switches", f"{len(record.switches)}, {len(leaves)} of them with nodes"
        yield "levels", str(_levels(record))
        yield "nodes below switches", str(len(nodes))
        for switch in leaves[:_SHOWN]:
            yield f"switch {printable(switch.name)}", counted(len(switch.nodes), "node")
    if record.blocks:
        yield "blocks", str(len(record.blocks))
        for block in record.blocks[:_SHOWN]:
            yield f"block {printable(block.name)}", counted(len(block.nodes), "node")
    if record.block_sizes:
        yield "block sizes", _some([str(size) for size in record.block_sizes])


def _modules(record: CableModules) -> Facts:
    for one in record.modules[:_SHOWN]:
        told = [f"{one.vendor} {one.part_number}".strip() or "maker unknown"]
        told += [f"{one.length_m:g} m"] if one.length_m > 0 else []
        told += [f"{one.temperature_c:g} °C"] if not math.isnan(one.temperature_c) else []
        if one.powers_w:
            told.append(
                f"received light {min(one.powers_w) * 1000:.3g} mW and more in {len(one.powers_w)} lanes"
            )
        told += [counted(len(one.alarms), "alarm")] if one.alarms else []
        yield f"module of {one.interface}", ", ".join(told)


def _peers(record: PeerAccess) -> Facts:
    yield "GPUs", str(len(record.gpus))
    pairs = Counter(cell for i, row in enumerate(record.cells) for cell in row[:i] if cell)
    yield (
        "may reach each other",
        _some([f"{PEER_CELLS.get(cell, cell)} ({count} pairs)" for cell, count in pairs.most_common()])
        or "one GPU",
    )


_TELLERS: dict[type, Callable[[Any], Facts]] = {
    ServerTopology: _matrix,
    NcclTopology: _topology,
    NcclGraphs: _graphs,
    NcclLog: _log,
    NvlinkStatus: _nvlink,
    AmdTopology: _amd,
    Measurements: _tests,
    PerftestRuns: _perftest,
    PciFunctions: _pci,
    RdmaPorts: _ports,
    PortGids: _gids,
    SchedulerTopology: _scheduler,
    CableModules: _modules,
    PeerAccess: _peers,
}
