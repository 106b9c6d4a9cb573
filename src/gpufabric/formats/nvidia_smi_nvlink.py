"""``nvidia-smi nvlink -s`` and ``-e`` → :class:`NvlinkStatus`."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from gpufabric.errors import printable
from gpufabric.formats.clean_text import CleanText, read_clean
from gpufabric.formats.read_notes import ReadNotes, notes_on
from gpufabric.records.gpu_links import NvlinkGpu, NvlinkPort, NvlinkStatus
from gpufabric.units import counted, from_gigabytes

MAX_GPUS = 1024
MAX_LINKS = 256
_GPU = re.compile(r"^\s*+GPU (\d{1,4}): (.{0,120}?)\s*+(?:\(UUID: [\w-]{1,80}\)\s*+)?$")
_LINK = re.compile(
    r"\bLink (\d{1,3})\s*: (?:(\d{1,5}(?:\.\d{1,6})?) GB/s|<(inactive)>|([A-Za-z][\w /-]{1,40}): (\d{1,19}))"
)
_ALL_INACTIVE = re.compile(r"all links are in[Aa]ctive")


@dataclass
class _Gpu:
    index: int
    name: str
    line: int
    rates: dict[int, float] = field(default_factory=dict)
    errors: dict[int, dict[str, int]] = field(default_factory=dict)
    lines: dict[int, int] = field(default_factory=dict)


def read(source: str | Path | BinaryIO, name: str = "") -> NvlinkStatus:
    """Read the output of ``nvidia-smi nvlink -s`` or ``-e``, or both in one file.

    Raises
    ------
    InputError
        When the file can't be opened. What is in it never raises.
    """
    return read_part(read_clean(source, name))


def read_part(text: CleanText) -> NvlinkStatus:
    """Read such outputs of a text; see :func:`read`."""
    notes = notes_on(text, "an nvidia-smi nvlink output")
    gpus: dict[int, _Gpu] = {}
    last: _Gpu | None = None
    for line in text.lines:
        found = _GPU.match(line.text)
        if found is not None and len(gpus) < MAX_GPUS:
            index = int(found[1])
            last = gpus.setdefault(index, _Gpu(index, printable(found[2], 80), line.number))
        elif _LINK.search(line.text) is not None and last is not None:
            _links(line.text, line.number, last)
        elif _ALL_INACTIVE.search(line.text):
            name = f"GPU {last.index}" if last is not None else "a GPU"
            notes.add(
                "gpu-links-missing", "error", line.number, f"all NVLinks of {name} are inactive", fix=_FIX
            )
        elif line.text.strip() and "nvidia-smi nvlink" not in line.text:
            notes.missed(line.number, len(line.text))
    if not gpus:
        notes.cut(text.lines_read, "no line of a GPU was found")
    closed = tuple(_closed(gpu) for gpu in gpus.values())
    _judge(closed, notes)
    return NvlinkStatus(
        gpus=closed,
        file=notes.name,
        findings=notes.finish(),
        lines_read=len(text.lines),
        lines_not_understood=notes.missed_lines,
    )


_FIX = "reset the GPU; if the link stays down, the GPU or the baseboard needs service"


def _links(text: str, number: int, gpu: _Gpu) -> None:
    for link, rate, inactive, error, count in _LINK.findall(text):
        port = int(link)
        if port >= MAX_LINKS:
            continue
        gpu.lines.setdefault(port, number)
        if rate or inactive:
            gpu.rates[port] = from_gigabytes(float(rate)) if rate else 0.0
        elif error and len(gpu.errors.setdefault(port, {})) < 64:
            gpu.errors[port][printable(error.strip(), 40)] = int(count)


def _closed(gpu: _Gpu) -> NvlinkGpu:
    links = tuple(
        NvlinkPort(
            port, gpu.rates.get(port, math.nan), tuple(gpu.errors.get(port, {}).items()), gpu.lines[port]
        )
        for port in sorted(gpu.lines)
    )
    return NvlinkGpu(gpu.index, gpu.name, links, gpu.line)


def _judge(gpus: tuple[NvlinkGpu, ...], notes: ReadNotes) -> None:
    most = max((gpu.active for gpu in gpus), default=0)
    for gpu in gpus:
        if gpu.inactive:
            down = ", ".join(str(number) for number in gpu.inactive[:18])
            up = f"GPU {gpu.index} has {gpu.active} of {counted(len(gpu.links), 'NVLink')} up; down: {down}"
            line = next(link.line for link in gpu.links if link.bytes_per_s == 0)
            notes.add("gpu-links-missing", "error", line, up, fix=_FIX)
        elif gpu.active < most and all(not math.isnan(link.bytes_per_s) for link in gpu.links):
            fewer = f"GPU {gpu.index} lists {counted(gpu.active, 'NVLink')}, its best peer {most}"
            notes.add("gpu-links-missing", "warning", gpu.line, fewer, fix=_FIX)
        for link in gpu.links:
            wrong = [f"{name}: {count:,}" for name, count in link.errors if count]
            if wrong:
                notes.add(
                    "nvlink-errors",
                    "warning",
                    link.line,
                    f"GPU {gpu.index} link {link.number} counted {', '.join(wrong)}",
                    fix="read the counters again after a run: those that grow tell the bad link",
                )
