"""``lspci -vvv`` → :class:`PciFunctions`: link speed and width, ACS, NUMA node."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from gpufabric.errors import printable
from gpufabric.formats.clean_text import CleanText, read_clean
from gpufabric.formats.read_notes import ReadNotes, notes_on
from gpufabric.records.pci_functions import FunctionKind, PciFunction, PciFunctions
from gpufabric.units import counted

MAX_FUNCTIONS = 20_000
_HEAD = re.compile(
    r"^((?:[0-9a-fA-F]{4,8}:)?[0-9a-fA-F]{2}:[0-9a-fA-F]{2}\.[0-7]) ([^:\[]{1,80}?)(?: \[[0-9a-fA-F]{4}\])?: (.{0,300})$"
)
_LINK = re.compile(r"\b(LnkCap|LnkSta):.*?\bSpeed (\d{1,3}(?:\.\d)?)GT/s[^,]{0,30}, Width x(\d{1,2})")
_ACS = re.compile(r"\bACSCtl:.*?\bReqRedir([+-]) CmpltRedir([+-])")
_NUMA = re.compile(r"^\s+NUMA node: (-?\d{1,4})\s*$")
_DENIED = re.compile(r"<access denied>")
_WORDS: tuple[tuple[str, FunctionKind], ...] = (
    ("3D controller", "gpu"),
    ("VGA compatible controller", "gpu"),
    ("Display controller", "gpu"),
    ("Processing accelerators", "gpu"),
    ("Infiniband controller", "nic"),
    ("InfiniBand controller", "nic"),
    ("Ethernet controller", "nic"),
    ("Network controller", "nic"),
    ("PCI bridge", "bridge"),
)
_GPU_MAKERS = ("NVIDIA", "Advanced Micro Devices", "AMD")


@dataclass
class _Function:
    bus_id: str
    kind: FunctionKind
    name: str
    line: int
    capable: tuple[float, int] = (0.0, 0)
    now: tuple[float, int] = (0.0, 0)
    acs: bool | None = None
    numa: int = -1


def read(source: str | Path | BinaryIO, name: str = "") -> PciFunctions:
    """Read the output of ``lspci -vvv``, best run as root.

    Raises
    ------
    InputError
        When the file can't be opened. What is in it never raises.
    """
    return read_part(read_clean(source, name))


def read_part(text: CleanText) -> PciFunctions:
    """Read such an output of a text; see :func:`read`."""
    notes = notes_on(text, "an lspci output")
    functions: list[_Function] = []
    denied = 0
    for line in text.lines:
        head = _HEAD.match(line.text)
        if head is not None and len(functions) < MAX_FUNCTIONS:
            kind = _kind(head[2], head[3])
            functions.append(_Function(head[1].lower(), kind, printable(head[3].strip(), 120), line.number))
        elif functions and line.text[:1] in {"\t", " "}:
            # What is indented belongs to the function above; most of it is of no use here.
            denied = denied or (line.number if _DENIED.search(line.text) else 0)
            _detail(line.text, functions[-1])
        elif line.text.strip() and "lspci" not in line.text:
            notes.missed(line.number, len(line.text))
    closed = tuple(_closed(function) for function in functions)
    if not closed:
        notes.cut(text.lines_read, "no PCI function was found")
    if denied:
        notes.cut(denied, "capabilities are hidden (access denied)", fix="run lspci -vvv as root")
    _judge(closed, notes)
    return PciFunctions(
        functions=closed,
        access_denied=bool(denied),
        file=notes.name,
        findings=notes.finish(),
        lines_read=len(text.lines),
        lines_not_understood=notes.missed_lines,
    )


def _kind(words: str, name: str) -> FunctionKind:
    kind: FunctionKind = next((kind for known, kind in _WORDS if words.startswith(known)), "other")
    if kind == "gpu" and not any(maker in name for maker in _GPU_MAKERS):
        return "other"
    if words.startswith("Bridge") and "NVIDIA" in name:
        return "nvswitch"
    return kind


def _detail(text: str, function: _Function) -> None:
    link, acs, numa = _LINK.search(text), _ACS.search(text), _NUMA.match(text)
    if link is not None:
        value = (float(link[2]) * 1e9, int(link[3]))
        if link[1] == "LnkCap":
            function.capable = value
        else:
            function.now = value
    elif acs is not None:
        function.acs = "+" in acs[1] + acs[2]
    elif numa is not None:
        function.numa = int(numa[1])


def _closed(function: _Function) -> PciFunction:
    return PciFunction(
        function.bus_id,
        function.kind,
        function.name,
        *function.capable,
        *function.now,
        function.acs,
        function.numa,
        function.line,
    )


def _judge(functions: tuple[PciFunction, ...], notes: ReadNotes) -> None:
    for one in functions:
        if one.kind not in {"gpu", "nic"} or not one.lanes or not one.capable_lanes:
            continue
        said = f"{one.kind.upper()} {one.bus_id} runs"
        if one.lanes < one.capable_lanes:
            wide = f"{said} at width x{one.lanes} of x{one.capable_lanes}"
            fix = "reseat the card or its riser; compare with the same slot of another server"
            notes.add("pcie-link-reduced", "warning", one.line, wide, fix=fix)
        elif one.transfers_per_s < one.capable_transfers_per_s:
            slow = (
                f"{said} at {one.transfers_per_s / 1e9:g} GT/s of {one.capable_transfers_per_s / 1e9:g} GT/s"
            )
            # An idle GPU lowers its link's speed to save power.
            idle = one.kind == "gpu"
            fix = "look again under load" if idle else "look at the slot's generation and the BIOS"
            notes.add("pcie-link-reduced", "info" if idle else "warning", one.line, slow, fix=fix)
    redirecting = [one for one in functions if one.acs_redirects]
    if redirecting:
        notes.add(
            "acs-on",
            "warning",
            redirecting[0].line,
            f"ACS sends traffic of {counted(len(redirecting), 'function')} up to the root, first {redirecting[0].bus_id}",
            fix="on bare metal turn ACS off in the BIOS or with setpci; in a virtual machine use ATS",
        )
