"""Links that err, flap, wait or are down: what counters and adapters say outright.

They come before everything that is guessed from a rate: a link that loses packets makes a whole ring wait.
"""

from __future__ import annotations

from collections.abc import Iterator

from gpufabric.records.job_evidence import JobEvidence
from gpufabric.records.link_counters import COUNTERS, LinkCounters, PortCounters
from gpufabric.records.verdicts import Cause
from gpufabric.units import counted, format_gbps

LINK_ERRORS = "link-errors"
LINK_PAUSED = "link-paused"
PORT_DOWN = "port-down"
#: Counters that a healthy link leaves at 0, each with how sure one makes us. A single flap may be the last reboot.
_ERRORS = {
    "integrity_errors": 0.9,
    "buffer_overruns": 0.85,
    "symbol_errors": 0.8,
    "receive_errors": 0.8,
    "transmit_errors": 0.8,
    "link_recoveries": 0.75,
    "link_downs": 0.75,
}
_FEW = 2
#: InfiniBand asks for an effective ratio of bit errors below 1e-12 (InfiniBand Architecture Specification, volume 2).
_MOST_BER = 1e-12
_PAUSES = ("transmit_pauses", "receive_pauses", "no_buffer_drops", "transmit_drops", "receive_drops")


def link_errors(evidence: JobEvidence) -> Iterator[Cause]:
    """Yield the link with most errors or flaps, when counters show any."""
    found = [
        (sure, port.values[name], name, file, port)
        for file, port in _ports(evidence)
        for name, sure in _ERRORS.items()
        if port.values.get(name, 0) >= _FEW
    ]
    found += [
        (0.9, port.values["effective_ber"], "effective_ber", file, port)
        for file, port in _ports(evidence)
        if port.values.get("effective_ber", 0) > _MOST_BER
    ]
    if not found:
        return
    sure, value, name, file, port = max(found, key=lambda one: one[:2])
    several = len({(p.device, p.port) for *_, p in found})
    more = f"; {counted(several, 'port')} in all" if several > 1 else ""
    yield Cause(
        f"the link at {_port_name(port)} has errors or flaps",
        sure,
        f"{file.file}:{port.line}: {value:g} {COUNTERS[name]}{more}",
        "clear the counters, run again and read them: mlxlink -d DEVICE -c, or ibqueryerrors; then reseat or change the cable",
        LINK_ERRORS,
    )


def link_paused(evidence: JobEvidence) -> Iterator[Cause]:
    """Yield the port with most pauses and drops: a receiver or a congested switch holds the senders back."""
    found = [
        (port.values[name], name, file, port)
        for file, port in _ports(evidence)
        for name in _PAUSES
        if port.values.get(name, 0) > _FEW
    ]
    if not found:
        return
    drops = [one for one in found if "drops" in one[1]]
    value, name, file, port = max(drops or found, key=lambda one: one[0])
    yield Cause(
        f"{_port_name(port)} is held back or drops packets",
        0.7 if drops else 0.55,
        f"{file.file}:{port.line}: {value:g} {COUNTERS[name]}",
        "look at PFC and ECN thresholds on both ends (ethtool -S, show priority-flow-control), and at what shares the port",
        LINK_PAUSED,
    )


def port_down(evidence: JobEvidence) -> Iterator[Cause]:
    """Yield adapter ports that are down, or that run slower than their peers."""
    ports = [(record.file, port) for record in evidence.files.ports for port in record.ports]
    rate = max((port.bytes_per_s for _, port in ports if port.active), default=0.0)
    nic = evidence.job.nic_bytes_per_s if evidence.job else 0.0
    wanted = nic if 0 < nic <= rate else rate
    down = [(file, port) for file, port in ports if not port.active]
    slow = [(file, port) for file, port in ports if port.active and 0 < port.bytes_per_s < wanted]
    for kind, which in (("down", down), ("slow", slow)):
        if not which:
            continue
        file, port = which[0]
        said = f"is {port.state}" if kind == "down" else f"runs at {format_gbps(port.bytes_per_s)} only"
        more = f"; {counted(len(which), 'port')} in all" if len(which) > 1 else ""
        yield Cause(
            f"port {port.port} of {port.device} {said}",
            0.7 if kind == "slow" else 0.6,
            f"{file}:{port.line}: state {port.state}, {format_gbps(port.bytes_per_s)}; others {format_gbps(wanted)}{more}",
            "look at the cable and at the switch port: mlxlink -d DEVICE, or ibstat again after reseating",
            PORT_DOWN,
        )


def _ports(evidence: JobEvidence) -> Iterator[tuple[LinkCounters, PortCounters]]:
    for file in evidence.files.counters:
        for port in file.ports:
            yield file, port


def _port_name(port: PortCounters) -> str:
    return f"{port.device} port {port.port}" if port.device else f"port {port.port}"
