"""What ports counted → findings: errors, flaps, and pauses that stand out.

How fast errors come is told by mlxlink alone, so a count is judged by whether there is any; what counts in every healthy fabric,
such as pauses and waits for credits, is judged against the other ports of the same files.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from gpufabric.records.findings import Finding
from gpufabric.records.link_counters import LinkCounters, PortCounters

RULE_ERRORS, RULE_FLAPS, RULE_PAUSES = "link-errors", "link-flaps", "link-pauses"
_ERRORS = (
    "symbol_errors",
    "receive_errors",
    "transmit_errors",
    "integrity_errors",
    "buffer_overruns",
    "receive_drops",
    "transmit_drops",
    "no_buffer_drops",
)
_FLAPS = ("link_downs", "link_recoveries")
_PAUSES = ("receive_pauses", "transmit_pauses", "transmit_waits")
MOST_BER = 1e-12
_OUTLIER, _LEAST_PORTS = 10, 4
_SPECIFICATION = (
    "InfiniBand Architecture Specification, volume 2: a link has a bit error ratio of at most 1e-12"
)


def check(files: Sequence[LinkCounters]) -> tuple[Finding, ...]:
    """Return a finding for each port that counted errors or went down, and for each whose pauses stand out.

    Parameters
    ----------
    files
        Ports of one fabric.
    """
    ports = [(file, port) for file in files for port in file.ports]
    usual = {name: _usual(port.values.get(name) for _, port in ports) for name in _PAUSES}
    found = []
    for file, port in ports:
        found += _errors(file, port)
        found += _flaps(file, port)
        found += _pauses(file, port, usual)
    return tuple(found)


def _place(file: LinkCounters, port: PortCounters) -> tuple[str, str]:
    return f"{file.file}:{port.line}", f"{port.device}:{port.port}" if port.device else port.port


def _counted(port: PortCounters, names: Sequence[str]) -> list[tuple[str, float]]:
    return [(name, port.values[name]) for name in names if port.values.get(name, 0) > 0]


def _errors(file: LinkCounters, port: PortCounters) -> list[Finding]:
    counts, ratio = _counted(port, _ERRORS), port.values.get("effective_ber", 0.0)
    if not counts and ratio <= MOST_BER:
        return []
    where, name = _place(file, port)
    found = ", ".join(f"{key.replace('_', ' ')} {value:,.0f}" for key, value in counts)
    bad = ratio > MOST_BER
    if bad:
        found = ", ".join(filter(None, (f"effective bit error ratio {ratio:.1e}", found)))
    return [
        Finding(
            RULE_ERRORS,
            "error" if bad else "warning",
            where,
            f"{name} counted errors: {found}",
            expected=f"a bit error ratio of at most {MOST_BER:.0e}" if bad else "no errors",
            found=found,
            evidence="counts since the last clearing",
            fix="clear the counters, run a test and look again; if they rise, clean and reseat both ends, then change the cable",
            source=_SPECIFICATION if bad else "",
        )
    ]


def _flaps(file: LinkCounters, port: PortCounters) -> list[Finding]:
    counts = _counted(port, _FLAPS)
    if not counts:
        return []
    where, name = _place(file, port)
    found = ", ".join(f"{key.replace('_', ' ')} {value:,.0f}" for key, value in counts)
    return [
        Finding(
            RULE_FLAPS,
            "warning",
            where,
            f"{name} went down or retrained: {found}",
            expected="0 since the fabric is in use",
            found=found,
            evidence="counts since the last clearing; reboots count too",
            fix="compare with the times of reboots; else reseat, then change the cable or transceiver",
        )
    ]


def _pauses(file: LinkCounters, port: PortCounters, usual: dict[str, float | None]) -> list[Finding]:
    high = [
        (name, value)
        for name, value in _counted(port, _PAUSES)
        if (most := usual[name]) is not None and value > _OUTLIER * max(most, 1.0)
    ]
    if not high:
        return []
    where, name = _place(file, port)
    found = ", ".join(f"{key.replace('_', ' ')} {value:,.0f}" for key, value in high)
    return [
        Finding(
            RULE_PAUSES,
            "warning",
            where,
            f"{name} waits far more than the other ports: {found}",
            expected=", ".join(f"{key.replace('_', ' ')} about {usual[key]:,.0f}" for key, _ in high),
            found=found,
            evidence=f"more than {_OUTLIER} times the median of the ports in these files",
            confidence=0.6,
            fix="look for a slow receiver or a narrow link behind this port, then for uneven paths",
        )
    ]


def _usual(values: Iterable[float | None]) -> float | None:
    """Return the median of what ports counted; None where too few tell it."""
    known = [value for value in values if value is not None]
    return float(np.median(known)) if len(known) >= _LEAST_PORTS else None
