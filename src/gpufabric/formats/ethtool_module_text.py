"""``ethtool -m`` → :class:`CableModules`.

Fields by the names that ethtool prints for SFF-8636, SFF-8472 and CMIS modules (https://git.kernel.org/pub/scm/network/ethtool,
qsfp.c and cmis.c, read 2026-11). Serial numbers are not kept.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from gpufabric.errors import printable
from gpufabric.formats.clean_text import CleanText, read_clean
from gpufabric.formats.read_notes import ReadNotes, notes_on
from gpufabric.records.cable_modules import CableModule, CableModules

MAX_MODULES = 4096
_MAX_LANES = 64
_MAX_CALL = 1024
_FIELD = re.compile(r"^\s*([A-Z][\w .,()/+-]{1,80}?)\s*:\s*(.{0,200}?)\s*$")
_CALL = re.compile(
    r"(?:\s*\[?(?:[\w-]{1,32}@)?[A-Za-z][\w.-]{0,252}[^#$>]{0,60}[#$>]\s*)?(?:sudo\s+)?ethtool\s+(?:-m|--module-info)\s+([\w.@-]{1,64})\s*"
)
_METRES = re.compile(r"(\d{1,5}(?:\.\d{1,3})?)\s?(km|m)\b")
_DEGREES = re.compile(r"(-?\d{1,3}(?:\.\d{1,3})?) degrees C")
_MILLIWATTS = re.compile(r"(\d{1,4}(?:\.\d{1,6})?) mW")
_RECEIVED = re.compile(r"(?:rx power|rcvr signal avg optical power)\b(?!.*threshold)")
_LANE = re.compile(r"\s*\((?:Channel|lane) (\d{1,2})\)", re.IGNORECASE)
_ALARM = re.compile(r"\b(?:alarm|warning)\b", re.IGNORECASE)
_THRESHOLD = re.compile(r"\bthreshold\b", re.IGNORECASE)


@dataclass
class _Open:
    interface: str
    line: int
    texts: dict[str, str] = field(default_factory=dict)
    length_m: float = float("nan")
    temperature_c: float = float("nan")
    powers_w: list[float] = field(default_factory=list)
    alarms: dict[str, int] = field(default_factory=dict)


def read(source: str | Path | BinaryIO, name: str = "") -> CableModules:
    """Read the output of ``ethtool -m``, also of several interfaces one after the other.

    Raises
    ------
    InputError
        When the file can't be opened. What is in it never raises.
    """
    return read_part(read_clean(source, name))


def read_part(text: CleanText) -> CableModules:
    """Read such an output of a text; see :func:`read`."""
    notes = notes_on(text, "an ethtool -m output")
    modules: list[_Open] = []
    called, is_new = "?", True
    for line in text.lines:
        call = _CALL.fullmatch(line.text[:_MAX_CALL]) if "ethtool" in line.text else None
        found = _FIELD.match(line.text)
        if call is not None:
            called, is_new = call[1], True
        elif found is not None:
            starts = is_new or (found[1] == "Identifier" and "Identifier" in modules[-1].texts)
            if starts and len(modules) < MAX_MODULES:
                modules.append(_Open(called, line.number))
                is_new = False
            _take(modules[-1], found[1], found[2], line.number)
        elif line.text.strip():
            notes.missed(line.number, len(line.text))
    if not modules:
        notes.cut(max(text.lines_read, 1), "no field of a module was found")
    closed = tuple(_closed(one) for one in modules)
    _judge(closed, notes)
    return CableModules(
        modules=closed,
        file=notes.name,
        findings=notes.finish(),
        lines_read=len(text.lines),
        lines_not_understood=notes.missed_lines,
    )


def _take(module: _Open, name: str, value: str, line: int) -> None:
    low = name.lower()
    if _ALARM.search(low) and not _THRESHOLD.search(low):
        if value.lower() == "on" and len(module.alarms) < 256:
            module.alarms.setdefault(printable(name, 80), line)
    elif low in {"identifier", "vendor name", "vendor pn"}:
        module.texts.setdefault(name, printable(value, 80))
    elif ("cable assembly length" in low or low.startswith("length")) and (metres := _METRES.search(value)):
        length = float(metres[1]) * (1000 if metres[2] == "km" else 1)
        module.length_m = length if not module.length_m >= length else module.length_m
    elif low == "module temperature" and (degrees := _DEGREES.search(value)):
        module.temperature_c = float(degrees[1])
    elif _RECEIVED.match(low) and (power := _MILLIWATTS.search(value)) and len(module.powers_w) < _MAX_LANES:
        module.powers_w.append(float(power[1]) / 1000)


def _closed(one: _Open) -> CableModule:
    return CableModule(
        one.interface,
        one.line,
        one.texts.get("Identifier", ""),
        one.texts.get("Vendor name", ""),
        one.texts.get("Vendor PN", ""),
        one.length_m if one.length_m > 0 else float("nan"),
        one.temperature_c,
        tuple(one.powers_w),
        tuple(one.alarms.items()),
    )


def _judge(modules: tuple[CableModule, ...], notes: ReadNotes) -> None:
    for module in modules:
        for name, line in module.alarms[:8]:
            lane = _LANE.search(name)
            what = _LANE.sub("", name).strip() + (f" of lane {lane[1]}" if lane else "")
            notes.add(
                "module-alarm",
                "error" if "alarm" in name.lower() else "warning",
                line,
                f"the module of {module.interface} signals: {what}",
                fix="low light: clean and reseat both ends, then change cable or module; heat: look at the airflow",
            )
