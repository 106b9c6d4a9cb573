"""Neighbours that LLDP agents heard, device by device → rows of a found fabric."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import PurePath

from gpufabric.errors import printable
from gpufabric.formats.clean_text import CleanText
from gpufabric.formats.found_rows import FoundRows
from gpufabric.records.cluster import UNKNOWN, DeviceKind
from gpufabric.records.found_fabric import FoundFabric

_MAC = re.compile(r"(?:[0-9a-fA-F]{2}[:-]){5}[0-9a-fA-F]{2}|(?:[0-9a-fA-F]{4}\.){2}[0-9a-fA-F]{4}")
_MAX_FIELD = 512
_NOISE_WORDS = {
    "lldp", "neighbors", "neighbours", "neighbor", "table", "detail", "show", "json", "json0", "txt", "log", "gz", "out",
    "lldpctl", "lldpcli", "output", "cli",
}  # fmt: skip
_PROMPT = re.compile(
    r"\s{0,8}(?:\[?[\w-]{1,32}@)?([A-Za-z][\w.-]{0,252})(?:[:\s][^#$>]{0,60})?\]?[#$>]\s*(?:sudo\s+)?"
    r"(?:sh\w*|lldpctl|lldpcli|net|nv)\b.*\b(?:lldp\w*|nei\w*)\b"
)


@dataclass(slots=True)
class Neighbour:
    """What one port heard; texts are as the agent gave them, empty where it gave none."""

    line: int
    local: str = ""
    system: str = ""
    chassis: str = ""
    port: str = ""
    port_is_mac: bool = False
    port_note: str = ""
    model: str = ""
    is_switch: bool | None = None

    def cleaned(self) -> Neighbour:
        """Return it without blanks at the ends and of bounded length."""
        for key in ("local", "system", "chassis", "port", "port_note", "model"):
            setattr(self, key, getattr(self, key)[:_MAX_FIELD].strip().strip('"').strip())
        self.port_is_mac = self.port_is_mac or _MAC.fullmatch(self.port) is not None
        return self


class LldpRows:
    """Collects neighbours; of two that one port heard, the one with a system name is the far end of the cable."""

    def __init__(self, text: CleanText, format_name: str, device: str) -> None:
        self.rows = FoundRows("ethernet")
        self.rows.start_file(text.name, format_name)
        self._text = text
        self._device = device or device_of_file(text.name)
        self._heard: dict[tuple[str, str], Neighbour] = {}

    def prompt(self, text: str) -> str | None:
        """Return the device whose command prompt the line is, or None."""
        found = _PROMPT.match(text[:_MAX_FIELD])
        return found[1] if found else None

    def add(self, neighbour: Neighbour, device: str = "") -> None:
        """Take a neighbour of *device*; when that is empty, of the one that the file is named after."""
        heard = neighbour.cleaned()
        if not heard.local or not (heard.system or heard.chassis):
            self.rows.miss(heard.line, "a neighbour without local port or name is left out")
            return
        key = device or self._device, heard.local
        before = self._heard.get(key)
        if before is None or (heard.system and not before.system):
            self._heard[key] = heard
        if before is not None and (before.system, before.port) != (heard.system, heard.port):
            kept = self._heard[key]
            shown = printable(kept.system or kept.chassis)
            self.rows.note(
                "found-second-neighbour",
                "info",
                heard.line,
                f"port {printable(heard.local)} hears two neighbours; {shown} is taken as the far end",
                "switch the LLDP agent in the firmware of the NIC off, or look for a hub or a tap on the cable",
            )

    def miss(self, line: int) -> None:
        """Count a line that was not understood."""
        self.rows.miss(line, f"a line is not part of {self.rows.formats[-1]}")

    def finish(self) -> FoundFabric:
        """Name the far ends and return the fabric."""
        locals_by_device: dict[str, set[str]] = {}
        for device, local in self._heard:
            locals_by_device.setdefault(device_key(device), set()).add(local)
        for (device, local), heard in self._heard.items():
            near = self.rows.add_device(device_key(device), device, UNKNOWN, heard.line)
            name = heard.system or heard.chassis
            kind = (
                UNKNOWN
                if heard.is_switch is None
                else DeviceKind.SWITCH
                if heard.is_switch
                else DeviceKind.SERVER
            )
            far = self.rows.add_device(device_key(name), name, kind, heard.line, model=heard.model)
            port = far_port_name(heard, locals_by_device.get(device_key(name), set()))
            self.rows.add_end(
                self.rows.add_port(near, local),
                self.rows.add_port(far, port, note=heard.port_note),
                heard.line,
            )
        for line in self._text.cut_lines:
            self.rows.miss(line, "a line is too long; only its start was read")
        self.rows.end_file(self._text.lines_read, self._text.stopped)
        return self.rows.finish()


def far_port_name(heard: Neighbour, own_names: set[str]) -> str:
    """Return the name of the far port: one that the far end uses itself if the file has it, else what tells most."""
    for name in (heard.port, heard.port_note):
        if name in own_names:
            return name
    return heard.port_note if heard.port_is_mac and heard.port_note else heard.port or heard.port_note or "?"


def device_key(name: str) -> str:
    """Return what two spellings of a device's name have in common: lower case, without the domain."""
    low = name.lower().rstrip(".")
    return low if _MAC.fullmatch(low) or re.fullmatch(r"[\d.]+", low) else low.split(".", 1)[0]


def device_of_file(name: str) -> str:
    """Return the device that a file is named after: its name without endings and without the words of commands."""
    stem = PurePath(name).name
    kept = [
        word for word in re.split(r"[._ ]|(?<=lldp)-|-(?=lldp)", stem) if word.lower() not in _NOISE_WORDS
    ]
    return printable("_".join(word for word in kept if word) or stem or "device", 128)
