"""What ports counted: errors, flaps, pauses, drops, each with the line that it stands on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from gpufabric.records.findings import Finding


@dataclass(frozen=True, slots=True)
class PortCounters:
    """Counters of one port.

    ``device`` is empty where the file does not name it. ``values`` are by our names (see :data:`COUNTERS`), as they stood when
    the file was written: they count from the last clearing, which no file but mlxlink's tells.
    """

    device: str
    port: str
    line: int
    values: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class LinkCounters:
    """All ports of a file, and how many of its lines were not understood."""

    file: str
    format: str
    ports: tuple[PortCounters, ...]
    findings: tuple[Finding, ...] = ()
    lines_read: int = 0
    lines_not_understood: int = 0


#: Our names of counters → what they count. Bytes are bytes, times seconds; ``_ber`` are ratios.
COUNTERS: dict[str, str] = {
    "symbol_errors": "symbols that could not be corrected",
    "link_recoveries": "times that the link retrained and came back",
    "link_downs": "times that the link went down",
    "receive_errors": "packets received with errors",
    "receive_drops": "packets received and thrown away",
    "transmit_errors": "packets that could not be sent",
    "transmit_drops": "packets thrown away before sending",
    "transmit_waits": "ticks in which data waited for credits",
    "receive_pauses": "pause frames received",
    "transmit_pauses": "pause frames sent",
    "no_buffer_drops": "packets thrown away because the host had no buffer",
    "integrity_errors": "times that the errors of a link passed its threshold",
    "buffer_overruns": "times that a receive buffer overflowed",
    "received_bytes": "bytes received",
    "transmitted_bytes": "bytes sent",
    "raw_ber": "share of bits in error before correction",
    "effective_ber": "share of bits in error after correction",
    "since_clear_s": "seconds since the counters were cleared",
}
