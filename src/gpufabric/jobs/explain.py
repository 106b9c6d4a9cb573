"""Files of a server or a job → what they say, what is unusual, which server of the catalogue it is, what to expect of it.

No description is needed. Several files of one server are read together: the GPU's name may stand in another one than the matrix.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any, BinaryIO

from gpufabric.catalog.load import load_catalog
from gpufabric.catalog.server_match import servers_that_fit
from gpufabric.errors import InputError, printable
from gpufabric.formats import recognise
from gpufabric.formats.recognise import READERS, Part, RecognisedFile
from gpufabric.formats.recognise_fabric import recognise_fabric
from gpufabric.jobs.expect_of_server import ExpectedBusbw, expect_of_server
from gpufabric.jobs.explain_facts import facts_of
from gpufabric.records.findings import Finding
from gpufabric.records.gpu_links import NvlinkStatus
from gpufabric.records.measurements import Measurements
from gpufabric.records.nccl_topology import NcclTopology
from gpufabric.records.parts import GpuPart, NicPart, ServerPart
from gpufabric.records.server_inside import ServerInside
from gpufabric.records.server_topology import ServerTopology
from gpufabric.rules.server_inside_of import inside_of_matrix, inside_of_topology
from gpufabric.rules.server_unusual import check as unusual

_GPU_NAME_WORDS = ("GRAPHICS DEVICE",)


@dataclass(frozen=True, slots=True)
class ExplainedPart:
    """One output in a file: its format, its node and first line, what it says, and the servers that fit what it shows.

    ``predicted`` is of the server that fits best, where all that fit are alike in what it depends on; ``inside`` is None where
    the output does not show one.
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
    files = [recognise.read(source) for source in sources]
    for source, file in zip(sources, files, strict=True):
        _known(source, file)
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

    explained: list[ExplainedPart] = []
    findings: list[Finding] = []
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
                predicted=expect(fitting[0].id) if _alike(fitting, nics) else (),
                inside=inside,
                lines_read=part.record.lines_read,
                lines_not_understood=part.record.lines_not_understood,
            )
        )
    coverage = {
        "lines_read": sum(file.lines_read for file in files),
        "lines_not_understood": sum(part.record.lines_not_understood for _, part in parts),
        "lines_unclaimed": sum(file.lines_unclaimed for file in files),
    }
    return ExplainResult(tuple(explained), tuple(dict.fromkeys(findings)), coverage)


def _alike(fitting: tuple[ServerPart, ...], nics: Mapping[str, NicPart]) -> bool:
    """Say whether there are servers that fit, all with the same links between GPUs and the same NICs for computing."""
    kinds = {
        (
            server.scale_up.kind,
            server.scale_up.gpu_bytes_per_s,
            server.scale_up.multicast,
            tuple(sorted(nics[n.part].port_bytes_per_s for n in server.nics if n.purpose == "compute")),
        )
        for server in fitting
    }
    return len(kinds) == 1


def _known(source: str | Path | BinaryIO, file: RecognisedFile) -> None:
    if not file.parts and isinstance(source, str | Path) and str(source) != "-":
        of_fabric = recognise_fabric(source)
        if of_fabric:
            raise InputError(
                f"{printable(file.file)}: tells of the wiring ({of_fabric}); explain reads outputs of a server or a job; "
                f"run: gpufabric check {printable(file.file)}"
            )
    if not file.parts:
        raise InputError(
            f"{printable(file.file)}: no output of a known format is in it ({file.lines_read} lines read);"
            f" known: {', '.join(READERS)}; give the text that one of these printed"
        )


def _inside(part: Part) -> ServerInside | None:
    if isinstance(part.record, ServerTopology):
        return inside_of_matrix(part.record)
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
