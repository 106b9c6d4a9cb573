"""Counters by the names of tools → rows of :class:`LinkCounters` by ours."""

from __future__ import annotations

from gpufabric.errors import printable
from gpufabric.formats.clean_text import CleanText
from gpufabric.records.findings import Finding, Severity
from gpufabric.records.link_counters import COUNTERS, LinkCounters, PortCounters

MAX_PORTS = 1 << 18
_SHOWN = 20
#: Names of tools, in lower case without blanks and underscores.
_NAMES = {
    "symbolerrorcounter": "symbol_errors",
    "symbolerrors": "symbol_errors",
    "rxsymbolerrphy": "symbol_errors",
    "linkerrorrecoverycounter": "link_recoveries",
    "linkdownedcounter": "link_downs",
    "linkdowncounter": "link_downs",
    "linkdowneventsphy": "link_downs",
    "linkdownevents": "link_downs",
    "portrcverrors": "receive_errors",
    "rxcrcerrorsphy": "receive_errors",
    "rxerr": "receive_errors",
    "rxerrors": "receive_errors",
    "portrcvdiscards": "receive_drops",
    "rxdrp": "receive_drops",
    "rxdropped": "receive_drops",
    "rxdiscardsphy": "receive_drops",
    "txerr": "transmit_errors",
    "txerrors": "transmit_errors",
    "txerrorsphy": "transmit_errors",
    "portxmitdiscards": "transmit_drops",
    "txdrp": "transmit_drops",
    "txdropped": "transmit_drops",
    "txdiscardsphy": "transmit_drops",
    "portxmitwait": "transmit_waits",
    "rxpausectrlphy": "receive_pauses",
    "txpausectrlphy": "transmit_pauses",
    "rxoutofbuffer": "no_buffer_drops",
    "rxovr": "buffer_overruns",
    "locallinkintegrityerrors": "integrity_errors",
    "excessivebufferoverrunerrors": "buffer_overruns",
    "rxbytesphy": "received_bytes",
    "txbytesphy": "transmitted_bytes",
    "rawphysicalber": "raw_ber",
    "effectivephysicalber": "effective_ber",
}


def counter_name(text: str) -> str:
    """Return our name of a tool's counter; an empty text where it is none of ours."""
    return _NAMES.get(text.lower().replace("_", "").replace(" ", ""), "")


class CounterRows:
    """Collects counters port by port."""

    def __init__(self, text: CleanText, format_name: str) -> None:
        self._text, self._format = text, format_name
        self._rows: dict[tuple[str, str], tuple[int, dict[str, float]]] = {}
        self._findings: list[Finding] = []
        self._missed = 0

    @property
    def full(self) -> bool:
        """Whether no more ports are taken."""
        return len(self._rows) >= MAX_PORTS

    def port(self, device: str, port: str, line: int) -> dict[str, float]:
        """Return the counters of a port, to be filled in."""
        key = printable(device.strip(), 128), printable(port.strip(), 128)
        return self._rows.setdefault(key, (line, {}))[1]

    def put(self, values: dict[str, float], name: str, text: str) -> bool:
        """Note a counter by the tool's name; False when the number is none. Counters that are not ours are passed over."""
        own = counter_name(name)
        number = text.strip().replace(",", "")
        try:
            value = float(number)
        except ValueError:
            return False
        if not 0 <= value < 1e30 or len(number) > 40:
            return False
        if own:
            values[own] = value
        return True

    def miss(self, line: int) -> None:
        """Count a line that was not understood."""
        self._missed += 1
        if self._missed <= _SHOWN:
            self._note("info", line, f"a line is not part of the output of {self._format}")

    def _note(self, severity: Severity, line: int, message: str) -> None:
        rule = "found-lines" if severity == "info" else "found-no-counters"
        self._findings.append(Finding(rule, severity, f"{self._text.name}:{line}", message))

    def finish(self) -> LinkCounters:
        """Return all ports that have a counter."""
        ports = tuple(
            PortCounters(device, port, line, {name: values[name] for name in COUNTERS if name in values})
            for (device, port), (line, values) in self._rows.items()
            if values
        )
        if not ports:
            self._note(
                "error",
                max(self._text.lines_read, 1),
                f"no counter of a port was found in this output of {self._format}",
            )
        return LinkCounters(
            self._text.name, self._format, ports, tuple(self._findings), self._text.lines_read, self._missed
        )
