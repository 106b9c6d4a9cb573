"""A file → the formats of the outputs in it, by content → their records.

A file may hold outputs of several commands, of several nodes, one after the other or interleaved. Each line that can only be the
start of one format opens a part; a part ends where the next begins. Lines of logs of NCCL and of nccl-tests stand mixed, over
all nodes: each of the two readers gets all of them.
"""

from __future__ import annotations

import io
import itertools
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO

from gpufabric.formats import (
    amd_topology,
    ethtool_module_text,
    ibstat_text,
    lspci_text,
    nccl_debug_log,
    nccl_graph_xml,
    nccl_tests_json,
    nccl_topology_xml,
    nvidia_smi_nvlink,
    nvidia_smi_p2p,
    nvidia_smi_topo,
    perftest_text,
    show_gids_text,
    slurm_topology,
)
from gpufabric.formats.clean_text import CleanLine, CleanText, by_node, hold_text
from gpufabric.formats.log_lines import LogBlock, LogFile
from gpufabric.formats.nccl_debug_log import NcclLogReader
from gpufabric.formats.nccl_tests_text import NcclTestsReader, read_nccl_tests
from gpufabric.records.file_record import FileRecord
from gpufabric.records.measurements import Measurements
from gpufabric.records.scheduler_topology import SchedulerTopology

MAX_PARTS = 2000
Record = FileRecord | Measurements | SchedulerTopology
Reader = Callable[[CleanText], Record]


@dataclass(frozen=True, slots=True)
class Format:
    """A format: the reader of a part, and what the line looks like that opens one."""

    read_part: Reader
    opens: re.Pattern[str]


def _read_nccl_tests(text: CleanText) -> Measurements:
    # Its own reader takes a stream; blank lines stand for those of other parts, so that numbers stay right.
    at = {line.number: line.text for line in text.lines}
    whole = "\n".join(at.get(number, "") for number in range(1, text.lines_read + 1))
    return read_nccl_tests(io.BytesIO(whole.encode("utf-8", "replace")), text.name)


def _read_matrix(text: CleanText) -> Record:
    # Both have the same header.
    is_peers = nvidia_smi_p2p.is_peer_matrix(text)
    return nvidia_smi_p2p.read_part(text) if is_peers else nvidia_smi_topo.read_part(text)


#: Format → how it is read, and known; the order decides between two that a line could open.
READERS: dict[str, Format] = {
    "nvidia-smi-topo": Format(
        _read_matrix,
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
            r"^\*{30,}\s*$|^initializing (?:CUDA|HIP|ROCm)|^\s*#bytes\s+#iterations"
            r"|^\s*(?:RDMA_Write|RDMA_Read|Send|Atomic\w*)(?: Bidirectional)?(?: Post List)? BW Test"
        ),
    ),
    "lspci": Format(
        lspci_text.read_part,
        re.compile(
            r"^(?:[0-9a-f]{4,8}:)?[0-9a-f]{2}:[0-9a-f]{2}\.[0-7] [A-Z0-9][\w ]+(?: \[[0-9a-f]{4}\])?: "
        ),
    ),
    "ethtool-module": Format(
        ethtool_module_text.read_part,
        re.compile(r"^\s*Identifier\s+: 0x[0-9a-f]{2} \(|\bethtool\s+(?:-m|--module-info)\s+\S"),
    ),
    "ibstat": Format(ibstat_text.read_part, re.compile(r"^\s*CA '[\w.:-]+'\s*$")),
    "show-gids": Format(show_gids_text.read_part, re.compile(r"^\s*DEV\s+PORT\s+INDEX\s+GID\b")),
    "slurm-topology": Format(
        slurm_topology.read_part,
        re.compile(
            r"^\s*(?:SwitchName|BlockName|RingName|BlockSizes)\s*=\s*\S|^\s*- (?:switch|block):\s*\S",
            re.IGNORECASE,
        ),
    ),
    "nccl-tests": Format(
        _read_nccl_tests,
        re.compile(
            r"(?:^|#)\s*nThread\s+\d|\b(?:nccl|rccl)-tests:? [vV]ersion\b|\bRank\s+\d+\s+(?:Group\s+\d+\s+)?Pid\s+\d"
            r"|\bsize\s+count\s+(?:\(elements\)\s+)?type\s+redop\b|\bAvg bus bandwidth\s*:"
        ),
    ),
    "nccl-debug": Format(
        nccl_debug_log.read_part, re.compile(r"\[-?\d+\] (?:\S+ )?NCCL (?:INFO|WARN|TRACE)\b")
    ),
}
#: These are one document: what stands in front of the first line that is known belongs to it, as with logs.
_DOCUMENTS = ("nccl-topology-xml", "nccl-graph-xml", "nccl-tests-json", "amd-topology-json", "slurm-topology")
#: Lines of these stand mixed, and of all nodes together they make one log.
_LOGS = ("nccl-debug", "nccl-tests")
_XML = ("nccl-topology-xml", "nccl-graph-xml")
_PROLOGUE = re.compile(r"^\s*(?:<\?xml\b|<!)")
_MATRIX = re.compile(r"^\s*GPU0\s+(?:GPU1|NIC0|mlx|CPU)")
_NVIDIA = re.compile(r"\bAffinity\b|\s(?:X|NV\d+|PIX|PXB|PHB|NODE|SYS)\s")


@dataclass(frozen=True, slots=True)
class Part:
    """An output in a file: its format, the node whose lines it holds (empty when not said), its first line, and its record."""

    format: str
    node: str
    line: int
    record: Record


@dataclass(frozen=True, slots=True)
class RecognisedFile:
    """All outputs of a file; ``lines_unclaimed`` belong to none of them, ``stopped`` says why it was not read to its end."""

    file: str
    parts: tuple[Part, ...]
    lines_read: int
    lines_unclaimed: int
    stopped: str


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
    log_file = LogFile(source)
    blocks = log_file.blocks()
    text, held = hold_text(log_file, blocks, name)
    parts: list[Part] = []
    log: list[CleanLine] = []
    log_formats: set[str] = set()
    unclaimed = 0
    for node, lines in by_node(text.lines).items():
        split, left = split_lines(lines)
        unclaimed += left
        for format_name, own in split:
            if format_name in _LOGS:
                log += own
                log_formats |= {found for line in own if (found := _opens(line.text)) in _LOGS}
            elif len(parts) < MAX_PARTS:
                parts.append(_part(format_name, node, own, text))
    log.sort(key=lambda line: line.number)
    if text.stopped and log_formats:
        # Too long to be held: the readers of logs take what was held and then the rest.
        parts += _streamed(text.name, itertools.chain(held, blocks), log_file, log_formats)
        text = text._replace(stopped=log_file.stopped)
    else:
        parts += [
            _part(format_name, "", tuple(log), text) for format_name in _LOGS if format_name in log_formats
        ]
    parts = [_without_rows(part) if log_formats == set(_LOGS) else part for part in parts]
    parts.sort(key=lambda part: part.line)
    return RecognisedFile(text.name, tuple(parts), log_file.lines_read, unclaimed, text.stopped)


def _without_rows(part: Part) -> Part:
    """Return *part* with the lack of results said, not reproached: a log of the library is often cut before them."""
    record = part.record
    if not isinstance(record, Measurements) or record.tables:
        return part
    findings = tuple(
        replace(one, severity="info", fix="")
        if one.severity == "error" and one.rule == "measured-log-lines"
        else one
        for one in record.findings
    )
    return replace(part, record=replace(record, findings=findings))


def _streamed(name: str, blocks: Iterator[LogBlock], log_file: LogFile, formats: set[str]) -> Iterator[Part]:
    """Yield the logs of a file of any length, read in one pass."""
    tests, log = NcclTestsReader(name), NcclLogReader(name)
    reading_tests, reading_log = "nccl-tests" in formats, "nccl-debug" in formats
    for block in blocks:
        reading_tests = reading_tests and tests.take_block(block)
        if reading_log:
            log.take_block(block)
    if reading_log:
        yield Part("nccl-debug", "", 1, log.finish(log_file.lines_read, log_file.stopped))
    if "nccl-tests" in formats:
        yield Part("nccl-tests", "", 1, tests.finish(log_file.lines_read, log_file.stopped))


def _part(format_name: str, node: str, lines: tuple[CleanLine, ...], text: CleanText) -> Part:
    numbers = {line.number for line in lines}
    stopped = text.stopped if text.lines[-1].number in numbers else ""
    part = CleanText(
        text.name, lines, stopped, tuple(number for number in text.cut_lines if number in numbers)
    )
    return Part(format_name, node, lines[0].number, READERS[format_name].read_part(part))


def split_lines(lines: tuple[CleanLine, ...]) -> tuple[list[tuple[str, tuple[CleanLine, ...]]], int]:
    """Return the parts of one node's lines with their formats, and how many lines in front of the first belong to none."""
    starts: list[tuple[int, str]] = []
    for i, line in enumerate(lines):
        name = _opens(line.text)
        if name and (not starts or _is_new(name, starts[-1], i, line.text)):
            starts.append((_with_prologue(lines, i, name), name))
    if not starts:
        return [], sum(bool(line.text.strip()) for line in lines)
    if starts[0][1] in (*_DOCUMENTS, *_LOGS):
        starts[0] = (0, starts[0][1])
    ends = [i for i, _ in starts[1:]] + [len(lines)]
    before = sum(bool(line.text.strip()) for line in lines[: starts[0][0]])
    return [(name, lines[i:end]) for (i, name), end in zip(starts, ends, strict=True)], before


def _with_prologue(lines: tuple[CleanLine, ...], i: int, name: str) -> int:
    """Return where a part begins: the declaration and comments in front of an XML element belong to it."""
    while name in _XML and i > 0 and _PROLOGUE.match(lines[i - 1].text):
        i -= 1
    return i


def _opens(text: str) -> str:
    if " NCCL INFO " in text and READERS["nccl-debug"].opens.search(text):
        return "nccl-debug"
    return next((name for name, one in READERS.items() if one.opens.search(text)), "")


def _is_new(name: str, current: tuple[int, str], i: int, text: str) -> bool:
    """Say whether a line that could open a part does so within *current*: outputs have such lines inside."""
    start, inside = current
    if inside in {"nccl-tests-json", "amd-topology-json"} or (name in _LOGS and inside in _LOGS):
        return False
    if name == "nvidia-smi-topo" and inside == "amd-topology":
        return _NVIDIA.search(text) is not None
    if name != inside:
        return True
    if name == "nvidia-smi-topo":
        return i > start + 1 and _MATRIX.match(text) is not None
    return name in _XML
