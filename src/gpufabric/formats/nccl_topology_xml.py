"""NCCL's or RCCL's topology XML (``NCCL_TOPO_DUMP_FILE``, ``NCCL_TOPO_FILE``) → :class:`NcclTopology`.

Static files of clouds hold PCI elements only: there GPUs and NICs are known by their class, or, in partial files, not at all.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import BinaryIO, Literal

from gpufabric.errors import InputError, printable
from gpufabric.formats.clean_text import CleanText, read_clean
from gpufabric.formats.nccl_xml_stream import Element, read_elements
from gpufabric.formats.read_notes import ReadNotes, notes_on
from gpufabric.records.nccl_topology import (
    CpuNode,
    GpuLink,
    GpuNode,
    NcclTopology,
    NetPort,
    PciDevice,
    PciKind,
)
from gpufabric.units import counted, parse_rate

# Class codes of the PCI Code and ID Assignment Specification; AMD's accelerators are 0x1200, NVSwitch shows as 0x0680.
_KINDS: dict[str, PciKind] = {
    "0x0302": "gpu",
    "0x0300": "gpu",
    "0x0380": "gpu",
    "0x1200": "gpu",
    "0x0200": "nic",
    "0x0207": "nic",
    "0x0604": "bridge",
    "0x0680": "nvswitch",
}
_GPU_VENDORS = {"0x10de", "0x1002"}
_SPEED = re.compile(r"\s*(\d{1,3}(?:\.\d{1,3})?)\s*GT/s")
_LINK_KINDS: dict[str, Literal["nvlink", "xgmi", "c2c"]] = {"nvlink": "nvlink", "xgmi": "xgmi", "c2c": "c2c"}
_KNOWN = {"system", "cpu", "pci", "gpu", "nic", "net", "nvlink", "xgmi", "c2c", "pcilink"}
#: NCCL writes Mb/s; more than this for one port is a figure in another unit.
_MOST_MBPS = 3_200_000


@dataclass
class _Seen:
    notes: ReadNotes
    version: int = -1
    cpus: list[CpuNode] = field(default_factory=list)
    pci: list[PciDevice] = field(default_factory=list)
    gpus: list[GpuNode] = field(default_factory=list)
    nets: list[NetPort] = field(default_factory=list)
    links: list[GpuLink] = field(default_factory=list)
    pci_open: list[int] = field(default_factory=list)
    cpu_open: int = -1
    gpu_open: int = -1


def read(source: str | Path | BinaryIO, name: str = "") -> NcclTopology:
    """Read a topology file.

    Raises
    ------
    InputError
        When the file can't be opened. What is in it never raises.
    """
    return read_part(read_clean(source, name))


def read_part(text: CleanText) -> NcclTopology:
    """Read the topology of a text; see :func:`read`."""
    notes = notes_on(text, "a topology file of NCCL")
    seen = _Seen(notes)
    whole = read_elements(text, notes, lambda element: _open(element, seen), lambda name: _close(name, seen))
    _check(seen)
    return NcclTopology(
        version=seen.version,
        cpus=tuple(seen.cpus),
        pci=tuple(seen.pci),
        gpus=tuple(seen.gpus),
        nets=tuple(seen.nets),
        links=tuple(seen.links),
        cut=not whole,
        file=notes.name,
        findings=notes.finish(),
        lines_read=len(text.lines),
        lines_not_understood=notes.missed_lines,
    )


def _open(element: Element, seen: _Seen) -> None:
    match element.name:
        case "system":
            seen.version = element.number("version")
        case "cpu":
            seen.cpu_open = len(seen.cpus)
            seen.cpus.append(_cpu(element))
        case "pci":
            seen.pci.append(_pci(element, seen))
            seen.pci_open.append(len(seen.pci) - 1)
        case "gpu":
            seen.gpu_open = len(seen.gpus)
            seen.gpus.append(_gpu(element, seen))
            _is(seen, "gpu")
        case "net":
            seen.nets.append(_net(element, seen))
            _is(seen, "nic")
        case "nvlink" | "xgmi" | "c2c" if seen.gpu_open >= 0:
            seen.links.append(_link(element, seen))
        case name if name not in _KNOWN:
            seen.notes.missed(element.line, 0, f"element {printable(name, 40)} is unknown")


def _close(name: str, seen: _Seen) -> None:
    if name == "pci" and seen.pci_open:
        seen.pci_open.pop()
    elif name == "cpu":
        seen.cpu_open = -1
    elif name == "gpu":
        seen.gpu_open = -1


def _cpu(element: Element) -> CpuNode:
    text = element.text
    model = f"{text('familyid')}/{text('modelid')}".strip("/")
    arch, vendor, affinity = text("arch"), text("vendor"), text("affinity")
    return CpuNode(
        element.number("numaid"),
        printable(arch, 40),
        printable(vendor, 40),
        printable(model, 40),
        printable(affinity, 400),
        element.line,
    )


def _pci(element: Element, seen: _Seen) -> PciDevice:
    bus_id = printable(element.text("busid").strip().lower(), 40)
    speed = _SPEED.match(element.text("link_speed"))
    vendor = printable(element.text("vendor").lower(), 20)
    kind = _kind(element.text("class").lower(), vendor)
    return PciDevice(
        bus_id=bus_id,
        kind=kind,
        parent=seen.pci_open[-1] if seen.pci_open else -1,
        cpu=seen.cpu_open,
        vendor=vendor,
        device=printable(element.text("device").lower(), 20),
        transfers_per_s=float(speed[1]) * 1e9 if speed else 0.0,
        lanes=max(element.number("link_width"), 0),
        made_up=bus_id.startswith("ffff:"),
        line=element.line,
    )


def _kind(code: str, vendor: str) -> PciKind:
    if not code:
        return "unknown"
    kind = _KINDS.get(code[:6], "other")
    if kind == "gpu" and code[:6] == "0x0300" and vendor not in _GPU_VENDORS:
        return "other"
    return kind


def _is(seen: _Seen, kind: PciKind) -> None:
    """Note what the innermost open PCI element is, by what it holds; NCCL itself goes by that."""
    if seen.pci_open:
        row = seen.pci_open[-1]
        seen.pci[row] = replace(seen.pci[row], kind=kind)


def _gpu(element: Element, seen: _Seen) -> GpuNode:
    return GpuNode(
        pci=seen.pci_open[-1] if seen.pci_open else -1,
        dev=element.number("dev"),
        rank=element.number("rank"),
        sm=element.number("sm"),
        arch=printable(element.text("gcn"), 20),
        gdr=element.yes("gdr"),
        line=element.line,
    )


def _net(element: Element, seen: _Seen) -> NetPort:
    mbps = element.number("speed")
    rate = 0.0
    if mbps > _MOST_MBPS:
        seen.notes.add(
            "input-contradiction",
            "warning",
            element.line,
            f"speed {mbps:,} of a port is no figure in Mb/s; its rate stays unknown",
            fix="write the speed in Mb/s: 400000 for 400 Gb/s",
        )
    elif mbps > 0:
        try:
            rate = parse_rate(f"{mbps} Mb/s")
        except InputError:
            rate = 0.0
    return NetPort(
        pci=seen.pci_open[-1] if seen.pci_open else -1,
        name=printable(element.text("name"), 64),
        dev=element.number("dev"),
        port=element.number("port"),
        bytes_per_s=rate,
        guid=printable(element.text("guid"), 40),
        gdr=element.yes("gdr"),
        line=element.line,
    )


def _link(element: Element, seen: _Seen) -> GpuLink:
    return GpuLink(
        gpu=seen.gpu_open,
        kind=_LINK_KINDS[element.name],
        target=printable(element.text("target").strip().lower(), 40),
        count=min(max(element.number("count"), 0), 1024),
        target_kind=_kind(element.text("tclass").lower(), ""),
        line=element.line,
    )


def _check(seen: _Seen) -> None:
    notes = seen.notes
    first: dict[str, int] = {}
    for device in seen.pci:
        if device.bus_id in first and device.bus_id:
            what = f"bus id {device.bus_id} stands on line {first[device.bus_id]} too"
            notes.add("input-contradiction", "warning", device.line, what)
        first.setdefault(device.bus_id, device.line)
    if seen.pci and all(device.kind == "unknown" for device in seen.pci):
        notes.add(
            "nccl-topology-partial",
            "info",
            seen.pci[0].line,
            f"no class tells which of {counted(len(seen.pci), 'PCI device')} is a GPU or a NIC; NCCL looks that up when it runs",
            fix="for a whole file run once with NCCL_TOPO_DUMP_FILE set",
        )
    lanes = [sum(link.count for link in seen.links if link.gpu == i) for i in range(len(seen.gpus))]
    most = max(lanes, default=0)
    for gpu, own in zip(seen.gpus, lanes, strict=True):
        if own < most:
            notes.add(
                "gpu-links-missing",
                "warning",
                gpu.line,
                f"GPU {gpu.dev if gpu.dev >= 0 else '?'} has {counted(own, 'link')} to GPUs or switches, its best peer {most}",
                fix="nvidia-smi nvlink -s, or amd-smi topology, on that server",
            )
