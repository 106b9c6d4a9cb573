"""Files of a server, a job or a fabric → what they say, what is unusual, which server it may be, what to expect of it.

No description is needed. Several files of one server are read together: the GPU's name may stand in another one than the matrix.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any, BinaryIO

from gpufabric.catalog.load import load_catalog
from gpufabric.catalog.server_match import servers_that_fit
from gpufabric.errors import InputError, printable
from gpufabric.formats import recognise
from gpufabric.formats.fabric_readers import FABRIC_READERS
from gpufabric.formats.open_input import open_input
from gpufabric.formats.recognise import READERS, Part, RecognisedFile
from gpufabric.formats.recognise_counters import COUNTER_READERS, read_counters
from gpufabric.formats.recognise_fabric import read_fabric
from gpufabric.formats.rewindable_input import rewindable
from gpufabric.jobs.expect_of_server import ExpectedBusbw, expect_of_server
from gpufabric.jobs.explain_fabric_facts import counter_facts, fabric_facts
from gpufabric.jobs.explain_facts import facts_of
from gpufabric.records.findings import Finding
from gpufabric.records.found_fabric import FoundFabric
from gpufabric.records.gpu_links import AmdTopology, NvlinkStatus
from gpufabric.records.link_counters import LinkCounters
from gpufabric.records.measurements import Measurements
from gpufabric.records.nccl_topology import NcclTopology
from gpufabric.records.parts import GpuPart, NicPart, ServerPart
from gpufabric.records.server_inside import ServerInside
from gpufabric.records.server_topology import ServerTopology
from gpufabric.rules import link_health
from gpufabric.rules.server_inside_of import inside_of_amd, inside_of_matrix, inside_of_topology
from gpufabric.rules.server_unusual import check as unusual

#: Of more the numbers to expect would be a catalogue.
_MOST_KINDS = 6
_GPU_NAME_WORDS = ("GRAPHICS DEVICE",)


@dataclass(frozen=True, slots=True)
class ExplainedPart:
    """One output in a file: its format, its node and first line, what it says, and the servers that fit what it shows.

    ``predicted`` is of one server of each kind that fits, where these are at most six; ``inside`` is None where the output does
    not show one.
    """

    file: str
    format: str
    node: str
    line: int
    facts: tuple[tuple[str, str], ...]
    fits: tuple[str, ...] | None
    expect: tuple[tuple[str, float], ...]
    predicted: tuple[ExpectedBusbw, ...]
    inside: ServerInside | None
    lines_read: int
    lines_not_understood: int


@dataclass(frozen=True, slots=True)
class ExplainResult:
    """What all files say; ``fits`` of a part is None where it does not show a server's inside."""

    parts: tuple[ExplainedPart, ...]
    findings: tuple[Finding, ...]
    coverage: dict[str, int]

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain JSON values."""
        return {
            "parts": [
                {
                    "file": part.file,
                    "output": part.format,
                    "node": part.node,
                    "line": part.line,
                    "facts": [{"name": name, "text": text} for name, text in part.facts],
                    "fits": None if part.fits is None else list(part.fits),
                    "expect": [{"what": what, "bytes_per_s": rate} for what, rate in part.expect],
                    "predicted": [asdict(one) for one in part.predicted],
                    "lines_read": part.lines_read,
                    "lines_not_understood": part.lines_not_understood,
                }
                for part in self.parts
            ],
            "findings": [finding.to_dict() for finding in self.findings],
            "coverage": self.coverage,
        }


def explain(sources: Sequence[str | Path | BinaryIO]) -> ExplainResult:
    """Say what some files show.

    Parameters
    ----------
    sources
        Paths of plain or gzip files, ``-`` for standard input, or open binary streams.

    Raises
    ------
    InputError
        When a file can't be opened, or holds nothing of a known format.
    """
    read = [_read(source) for source in sources]
    files = [file for file, _, _ in read]
    of_fabric = [part for _, part, _ in read if part is not None]
    parts = [(file, part) for file in files for part in file.parts]
    gpu_name = _gpu_name([part for _, part in parts])
    catalog = load_catalog()
    servers = [part for part in catalog.of_kind("server") if isinstance(part, ServerPart)]
    gpus = {part.id: part for part in catalog.of_kind("gpu") if isinstance(part, GpuPart)}
    nics = {part.id: part for part in catalog.of_kind("nic") if isinstance(part, NicPart)}
    by_id = {server.id: server for server in servers}

    @cache
    def expect(server: str) -> tuple[ExpectedBusbw, ...]:
        return expect_of_server(by_id[server], nics)

    explained = list(of_fabric)
    findings = [finding for _, _, told in read for finding in told]
    for file, part in parts:
        inside = _inside(part)
        fitting = servers_that_fit(inside, servers, gpus, gpu_name) if inside is not None else ()
        findings += [*part.record.findings, *(unusual(inside) if inside is not None else ())]
        explained.append(
            ExplainedPart(
                file=file.file,
                format=part.format,
                node=part.node,
                line=part.line,
                facts=facts_of(part.record),
                fits=tuple(server.id for server in fitting) if inside is not None else None,
                expect=_expect(inside, fitting) if inside is not None else (),
                predicted=_different(one for server in _kinds(fitting, nics) for one in expect(server)),
                inside=inside,
                lines_read=part.record.lines_read,
                lines_not_understood=part.record.lines_not_understood,
            )
        )
    coverage = {
        "lines_read": sum(file.lines_read for file in files),
        "lines_not_understood": sum(part.lines_not_understood for part in explained),
        "lines_unclaimed": sum(file.lines_unclaimed for file in files if file.parts),
    }
    return ExplainResult(tuple(explained), tuple(dict.fromkeys(findings)), coverage)


def _kinds(fitting: tuple[ServerPart, ...], nics: Mapping[str, NicPart]) -> tuple[str, ...]:
    """Return one server of each kind that fits, by links between GPUs and NICs for computing; none where they are many."""
    kinds: dict[object, str] = {}
    for server in fitting:
        rates = sorted(nics[n.part].port_bytes_per_s for n in server.nics if n.purpose == "compute")
        scale_up = server.scale_up
        kinds.setdefault(
            (scale_up.kind, scale_up.gpu_bytes_per_s, scale_up.multicast, tuple(rates)), server.id
        )
    return tuple(kinds.values()) if len(kinds) <= _MOST_KINDS else ()


def _different(predicted: Iterable[ExpectedBusbw]) -> tuple[ExpectedBusbw, ...]:
    """Return the first of those that expect the same rates."""
    found: dict[tuple[float, float], ExpectedBusbw] = {}
    for one in predicted:
        found.setdefault((one.low_bytes_per_s, one.high_bytes_per_s), one)
    return tuple(found.values())


def _refused(name: str, lines: int) -> InputError:
    known = ", ".join((*READERS, *FABRIC_READERS, *COUNTER_READERS))
    return InputError(
        f"{printable(name)}: no output of a known format is in it ({lines} lines read);"
        f" known: {known}; give the text that one of these printed"
    )


def _read(source: str | Path | BinaryIO) -> tuple[RecognisedFile, ExplainedPart | None, tuple[Finding, ...]]:
    """Return the outputs of a server or a job in a file; where there are none, what it says of a fabric."""
    if not isinstance(source, str | Path):
        stream, name = source, printable(str(getattr(source, "name", "stream")))
    elif str(source) == "-":
        stream, name = rewindable(sys.stdin.buffer), "standard input"
    elif Path(source).is_file():
        file = recognise.read(source)
        return file, *((None, ()) if file.parts else _of_fabric(source, str(source), file.lines_read))
    else:
        stream, name = _opened(source), printable(str(source))
    file = recognise.read(stream, name)
    if file.parts or not stream.seekable():
        if not file.parts:
            raise _refused(name, file.lines_read)
        return file, None, ()
    stream.seek(0)
    return file, *_of_fabric(stream, name, file.lines_read)


def _opened(source: str | Path) -> BinaryIO:
    try:
        with open_input(source) as stream:
            return rewindable(stream)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "not a file name"
        raise InputError(
            f"{printable(str(source))}: can't be read ({reason}); name a readable file"
        ) from None


def _of_fabric(
    source: str | Path | BinaryIO, name: str, lines: int
) -> tuple[ExplainedPart, tuple[Finding, ...]]:
    """Return what a file says of the wiring, or of what ports counted."""
    fabric = read_fabric(source, name)
    if not isinstance(source, str | Path):
        source.seek(0)
    counters = read_counters(source, name) if fabric is None else None
    if fabric is not None:
        record: FoundFabric | LinkCounters = fabric
        facts, findings = fabric_facts(fabric), fabric.findings
        output = ", ".join(fabric.formats)
    elif counters is not None:
        record, output = counters, counters.format
        facts, findings = counter_facts(counters), (*counters.findings, *link_health.check([counters]))
    else:
        raise _refused(name, lines)
    part = ExplainedPart(
        file=printable(name),
        format=output,
        node="",
        line=1,
        facts=tuple(facts),
        fits=None,
        expect=(),
        predicted=(),
        inside=None,
        lines_read=record.lines_read,
        lines_not_understood=record.lines_not_understood,
    )
    return part, findings


def _inside(part: Part) -> ServerInside | None:
    if isinstance(part.record, ServerTopology):
        return inside_of_matrix(part.record)
    if isinstance(part.record, AmdTopology):
        return inside_of_amd(part.record)
    return inside_of_topology(part.record) if isinstance(part.record, NcclTopology) else None


def _gpu_name(parts: list[Part]) -> str:
    """Return the one name that tools give the GPUs of all files; empty when there is none or several."""
    names: set[str] = set()
    for part in parts:
        if isinstance(part.record, NvlinkStatus):
            names |= {gpu.name for gpu in part.record.gpus}
        elif isinstance(part.record, Measurements):
            names |= {table.gpu_name for table in part.record.tables if table.gpu_name}
    names = {name for name in names if not any(word in name.upper() for word in _GPU_NAME_WORDS)}
    return names.pop() if len(names) == 1 else ""


def _expect(inside: ServerInside, fitting: tuple[ServerPart, ...]) -> tuple[tuple[str, float], ...]:
    """Return upper bounds in bytes/s, one direction: of links between GPUs where all fitting servers agree, of near NICs."""
    found = []
    scale_up = {server.scale_up.gpu_bytes_per_s for server in fitting}
    if len(scale_up) == 1:
        found.append(("from one GPU to the others of its server", scale_up.pop()))
    shared = [0] * len(inside.nics)
    near = [inside.near_nics(gpu) for gpu in range(len(inside.gpus))]
    for nic in (nic for nics in near for nic in nics):
        shared[nic] += 1
    out = {sum(inside.nic_bytes_per_s[nic] / shared[nic] for nic in nics) for nics in near}
    if len(out) == 1 and (rate := out.pop()) > 0:
        found.append(("from each GPU over the NICs near it", rate))
    return tuple(found)
