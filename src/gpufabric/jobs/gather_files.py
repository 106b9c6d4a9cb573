"""Files of a job, in whatever formats → the measured tables in them, and everything that may tell why they are as they are."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, BinaryIO, cast

from gpufabric.errors import printable
from gpufabric.formats import recognise
from gpufabric.formats.command_settings import settings_in
from gpufabric.formats.fabric_readers import FABRIC_READERS
from gpufabric.formats.log_lines import LogFile
from gpufabric.formats.nccl_tests_text import read_nccl_tests
from gpufabric.formats.recognise_counters import COUNTER_READERS, read_counters
from gpufabric.records.findings import Finding
from gpufabric.records.gpu_links import NvlinkStatus
from gpufabric.records.job_evidence import FileEvidence
from gpufabric.records.link_counters import LinkCounters
from gpufabric.records.measurements import Measurements
from gpufabric.records.nccl_log import NcclLog
from gpufabric.records.nccl_topology import NcclTopology
from gpufabric.records.pci_functions import PciFunctions
from gpufabric.records.perftest import PerftestRuns
from gpufabric.records.rdma_ports import RdmaPorts
from gpufabric.records.server_inside import ServerInside
from gpufabric.records.server_topology import ServerTopology
from gpufabric.rules.server_inside_of import inside_of_matrix, inside_of_topology
from gpufabric.rules.server_unusual import check as unusual
from gpufabric.units import counted

_KEPT_IN_MEMORY = 1 << 24
_STDIN = "standard input"
#: Where a setting is said that the description has.
DESCRIPTION = "description"
#: Records that carry the output of one kind of tool, and the field of ``FileEvidence`` that they go to.
_FIELDS: dict[type, str] = {
    NcclLog: "logs",
    PciFunctions: "pci",
    RdmaPorts: "ports",
    PerftestRuns: "perftests",
    NvlinkStatus: "nvlinks",
    LinkCounters: "counters",
}


@dataclass(frozen=True, slots=True)
class GatheredFiles:
    """All that was read: tests with their tables, and the rest as evidence.

    ``origins`` are the indices of the sources that the tests stand in; ``others`` counts outputs that are not tests.
    """

    tests: tuple[Measurements, ...]
    origins: tuple[int, ...]
    evidence: FileEvidence
    others: int
    files: int
    lines_read: int
    lines_not_understood: int


@dataclass
class _Pile:
    tests: list[Measurements] = field(default_factory=list)
    origins: list[int] = field(default_factory=list)
    now: int = 0
    kinds: dict[str, list[Any]] = field(default_factory=dict)
    insides: list[ServerInside] = field(default_factory=list)
    settings: dict[str, tuple[str, str]] = field(default_factory=dict)
    file_settings: dict[str, dict[str, tuple[str, str]]] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)
    others: int = 0
    lines_read: int = 0
    lines_not_understood: int = 0

    def say(self, file: str, settings: Mapping[str, tuple[str, str]]) -> None:
        """Take settings that a file says; what a later file says comes before."""
        self.settings.update(settings)
        if settings:
            self.file_settings.setdefault(file, {}).update(settings)

    def add(self, record: object) -> None:
        """Lay a record where it belongs."""
        if isinstance(record, Measurements):
            self.tests.append(record)
            self.origins.append(self.now)
            self.findings += record.findings
            self.lines_not_understood += record.lines_not_understood
            return
        self.others += 1
        self.findings += getattr(record, "findings", ())
        self.lines_not_understood += getattr(record, "lines_not_understood", 0)
        kind = _FIELDS.get(type(record))
        if kind:
            self.kinds.setdefault(kind, []).append(record)
        if isinstance(record, NcclLog):
            self.say(record.file, {name: (value, record.file) for name, value in record.settings})
        inside = _inside(record)
        if inside is not None:
            self.insides.append(inside)
            self.findings += unusual(inside)


def gather_files(
    sources: Sequence[str | Path | BinaryIO], settings: Mapping[str, str] | None = None
) -> GatheredFiles:
    """Read all files, each by its content.

    Parameters
    ----------
    sources
        Paths of plain or gzip files, ``-`` for standard input, or open binary streams.
    settings
        The library's settings as a description has them; what a file says comes before them.

    Returns
    -------
    GatheredFiles
        A file in which nothing is known is a test without tables, and a finding.

    Raises
    ------
    InputError
        When a file can't be opened.
    """
    pile = _Pile()
    pile.say(DESCRIPTION, {name: (value, DESCRIPTION) for name, value in (settings or {}).items()})
    for pile.now, source in enumerate(sources):
        _read_one(source, pile)
    evidence = FileEvidence(
        **{kind: tuple(records) for kind, records in pile.kinds.items()},
        insides=tuple(pile.insides),
        settings=pile.settings,
        file_settings=pile.file_settings,
        findings=tuple(pile.findings),
    )
    return GatheredFiles(
        tuple(pile.tests),
        tuple(pile.origins),
        evidence,
        pile.others,
        len(sources),
        pile.lines_read,
        pile.lines_not_understood,
    )


def _read_one(source: str | Path | BinaryIO, pile: _Pile) -> None:
    if isinstance(source, str | Path) and str(source) != "-":
        _read_rewindable(source, printable(str(source)), pile)
        return
    stream = sys.stdin.buffer if isinstance(source, str | Path) else source
    name = (
        _STDIN if isinstance(source, str | Path) else printable(str(getattr(source, "name", "") or "stream"))
    )
    with tempfile.SpooledTemporaryFile(max_size=_KEPT_IN_MEMORY) as kept:
        shutil.copyfileobj(stream, kept)
        kept.seek(0)
        _read_rewindable(cast(BinaryIO, kept), name, pile)


def _read_rewindable(source: str | Path | BinaryIO, name: str, pile: _Pile) -> None:
    counters = read_counters(source, name)
    if counters is not None:
        pile.add(counters)
        pile.lines_read += counters.lines_read
        return
    file = recognise.read(_again(source), name)
    pile.lines_read += file.lines_read
    records = [part.record for part in file.parts]
    if [part.format for part in file.parts] in ([], ["nccl-tests"]):
        # Alone in its file a log is read as it stands, with its comment marks.
        records = [read_nccl_tests(_again(source), name)]
    settings = settings_in(_numbered(_again(source)), name)
    for record in records:
        if not file.parts and isinstance(record, Measurements) and not record.tables:
            pile.add(_not_recognised(record, bool(settings)))
        else:
            pile.add(record)
    pile.say(name, settings)


def _not_recognised(record: Measurements, has_settings: bool) -> Measurements:
    """Return what was read of a file of no known format, with that said; one with settings of a library is not at fault."""
    known = ", ".join((*recognise.READERS, *FABRIC_READERS, *COUNTER_READERS))
    finding = Finding(
        "measured-log-lines",
        "error",
        f"{record.file}:1",
        f"format not recognised ({counted(record.lines_read, 'line')} read); known: {known}",
        fix="give the whole output of one of these as text; a description is the first argument",
    )
    return replace(record, findings=() if has_settings else (finding,))


def _again(source: str | Path | BinaryIO) -> str | Path | BinaryIO:
    if not isinstance(source, str | Path):
        source.seek(0)
    return source


def _numbered(source: str | Path | BinaryIO) -> Iterator[tuple[int, str]]:
    for line in LogFile(source).lines():
        yield line.number, line.text


def _inside(record: object) -> ServerInside | None:
    if isinstance(record, ServerTopology):
        return inside_of_matrix(record)
    return inside_of_topology(record) if isinstance(record, NcclTopology) else None
