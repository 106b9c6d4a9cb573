"""A file → the formats of the outputs in it, by content → their records.

A file may hold outputs of several commands, of several nodes, one after the other or interleaved. Each line that can only be the
start of one format opens a part; a part ends where the next begins. A log of NCCL takes all lines of its node.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from gpufabric.formats import (
    amd_topology,
    ibstat_text,
    lspci_text,
    nccl_debug_log,
    nccl_graph_xml,
    nccl_tests_json,
    nccl_topology_xml,
    nvidia_smi_nvlink,
    nvidia_smi_topo,
    perftest_text,
    show_gids_text,
)
from gpufabric.formats.clean_text import CleanLine, CleanText, by_node, read_clean
from gpufabric.records.file_record import FileRecord
from gpufabric.records.measurements import Measurements

MAX_PARTS = 2000
Reader = Callable[[CleanText], FileRecord | Measurements]


@dataclass(frozen=True, slots=True)
class Format:
    """A format: the reader of a part, and what the line looks like that opens one."""

    read_part: Reader
    opens: re.Pattern[str]


#: Format → how it is read, and known; the order decides between two that a line could open.
READERS: dict[str, Format] = {
    "nvidia-smi-topo": Format(
        nvidia_smi_topo.read_part,
        re.compile(
            r"^\s*GPU\d+\s+(?:GPU\d+|NIC\d+|mlx\d_\S+|CPU Affinity|X)\s|^\d+ NICs found in the topology"
        ),
    ),
    "nccl-topology-xml": Format(nccl_topology_xml.read_part, re.compile(r"^\s*<system\b")),
    "nccl-graph-xml": Format(nccl_graph_xml.read_part, re.compile(r"^\s*<graphs\b")),
    "nvlink-status": Format(
        nvidia_smi_nvlink.read_part,
        re.compile(r"^\s*GPU \d+: .{1,120}\(UUID: [\w-]+\)\s*$|^\s*Link \d+: (?:<inactive>|[\d.]+ GB/s)"),
    ),
    "amd-topology": Format(
        amd_topology.read_part,
        re.compile(
            r"^=+ ROCm System Management Interface =+|^=+ Weight between two GPUs =+|^(?:ACCESS|WEIGHT) TABLE:"
        ),
    ),
    "nccl-tests-json": Format(
        nccl_tests_json.read_part, re.compile(r'^\s*"(?:nccl_version|average_bus_bandwidth|nthreads)"\s*:')
    ),
    "amd-topology-json": Format(
        amd_topology.read_part, re.compile(r'^\s*"(?:link_status|num_hops|link_accessibility)"\s*:')
    ),
    "perftest": Format(
        perftest_text.read_part,
        re.compile(
            r"^\s*(?:RDMA_Write|RDMA_Read|Send|Atomic\w*)(?: Bidirectional)?(?: Post List)? BW Test|^\s*#bytes\s+#iterations"
        ),
    ),
    "lspci": Format(
        lspci_text.read_part,
        re.compile(
            r"^(?:[0-9a-f]{4,8}:)?[0-9a-f]{2}:[0-9a-f]{2}\.[0-7] [A-Z0-9][\w ]+(?: \[[0-9a-f]{4}\])?: "
        ),
    ),
    "ibstat": Format(ibstat_text.read_part, re.compile(r"^\s*CA '[\w.:-]+'\s*$")),
    "show-gids": Format(show_gids_text.read_part, re.compile(r"^\s*DEV\s+PORT\s+INDEX\s+GID\b")),
    "nccl-debug": Format(
        nccl_debug_log.read_part, re.compile(r"\[-?\d+\] (?:\S+ )?NCCL (?:INFO|WARN|TRACE)\b")
    ),
}
#: These are one document: what stands in front of the first line that is known belongs to it too.
_DOCUMENTS = ("nccl-topology-xml", "nccl-graph-xml", "nccl-tests-json", "amd-topology-json")
#: Lines of these stand between others; the first such line makes the whole text of a node a log.
_MIXED = "nccl-debug"


@dataclass(frozen=True, slots=True)
class Part:
    """An output in a file: its format, the node whose lines it holds (empty when not said), its first line, and its record."""

    format: str
    node: str
    line: int
    record: FileRecord | Measurements


@dataclass(frozen=True, slots=True)
class RecognisedFile:
    """All outputs of a file; ``lines_unclaimed`` belong to none of them."""

    file: str
    parts: tuple[Part, ...]
    lines_read: int
    lines_unclaimed: int


def read(source: str | Path | BinaryIO, name: str = "") -> RecognisedFile:
    """Read all outputs of a file whose formats are not known.

    Parameters
    ----------
    source
        Path of a plain or gzip file, ``-`` for standard input, or an open binary stream.
    name
        What findings call the file; default: the path.

    Raises
    ------
    InputError
        When the file can't be opened. What is in it never raises.
    """
    text = read_clean(source, name)
    parts: list[Part] = []
    unclaimed = 0
    for node, lines in by_node(text.lines).items():
        split, left = split_lines(lines)
        unclaimed += left
        for format_name, own in split[: MAX_PARTS - len(parts)]:
            part = CleanText(
                text.name, own, text.stopped if own[-1] is text.lines[-1] else "", text.cut_lines
            )
            parts.append(Part(format_name, node, own[0].number, READERS[format_name].read_part(part)))
    return RecognisedFile(text.name, tuple(parts), text.lines_read, unclaimed)


def split_lines(lines: tuple[CleanLine, ...]) -> tuple[list[tuple[str, tuple[CleanLine, ...]]], int]:
    """Return the parts of one node's lines with their formats, and how many lines in front of the first belong to none."""
    opened = [(i, name) for i, line in enumerate(lines) if (name := _opens(line.text))]
    if any(name == _MIXED for _, name in opened):
        return [(_MIXED, lines)], 0
    starts: list[tuple[int, str]] = []
    for i, name in opened:
        if not starts or _is_new(name, starts[-1][1], lines[i].text):
            starts.append((i, name))
    if not starts:
        return [], sum(bool(line.text.strip()) for line in lines)
    if starts[0][1] in _DOCUMENTS:
        starts[0] = (0, starts[0][1])
    ends = [i for i, _ in starts[1:]] + [len(lines)]
    before = sum(bool(line.text.strip()) for line in lines[: starts[0][0]])
    return [(name, lines[i:end]) for (i, name), end in zip(starts, ends, strict=True)], before


def _opens(text: str) -> str:
    return next((name for name, one in READERS.items() if one.opens.search(text)), "")


def _is_new(name: str, current: str, text: str) -> bool:
    """Say whether a line that could open a part does so within *current*: a matrix has such lines inside."""
    if name != current:
        return current not in {"nccl-tests-json", "amd-topology-json"}
    return name in {"nccl-topology-xml", "nccl-graph-xml"} or (
        name == "nvidia-smi-topo" and re.match(r"^\s*GPU0\s+(?:GPU1|NIC0|mlx|CPU)", text) is not None
    )
