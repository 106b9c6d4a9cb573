"""All that files and the prediction say of one measured job: what its causes are looked for in."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from gpufabric.records.findings import Finding
from gpufabric.records.gpu_links import NvlinkStatus
from gpufabric.records.link_counters import LinkCounters
from gpufabric.records.measurements import MeasuredTable
from gpufabric.records.nccl_log import Connection, NcclLog
from gpufabric.records.pci_functions import PciFunctions
from gpufabric.records.perftest import PerftestRuns
from gpufabric.records.rdma_ports import RdmaPorts
from gpufabric.records.server_inside import ServerInside
from gpufabric.records.verdicts import Judgement, SizeVerdict


@dataclass(frozen=True, slots=True)
class FileEvidence:
    """Everything read beside the logs of tests, by kind of record, whichever files it stood in.

    ``settings`` are the library's (name → value, where it is said), of logs and of the description;
    ``file_settings`` those of each file, and of the description by its name; ``findings`` are the readers'.
    """

    logs: tuple[NcclLog, ...] = ()
    insides: tuple[ServerInside, ...] = ()
    pci: tuple[PciFunctions, ...] = ()
    counters: tuple[LinkCounters, ...] = ()
    ports: tuple[RdmaPorts, ...] = ()
    perftests: tuple[PerftestRuns, ...] = ()
    nvlinks: tuple[NvlinkStatus, ...] = ()
    settings: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    file_settings: Mapping[str, Mapping[str, tuple[str, str]]] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()

    def beside(self, file: str, tests: frozenset[str]) -> FileEvidence:
        """Return what concerns the test in *file*: without the logs and settings that stand in the files of other *tests*."""
        others = tests - {file}
        said: dict[str, tuple[str, str]] = {}
        for name, own in self.file_settings.items():
            said |= {} if name in others else own
        logs = tuple(log for log in self.logs if log.file not in others)
        return replace(self, logs=logs, settings=said)

    def connections(self) -> Iterator[tuple[str, Connection]]:
        """Yield (file, connection) of every log."""
        for log in self.logs:
            for one in log.communicators:
                for connection in one.connections:
                    yield log.file, connection

    def network_connections(self) -> list[tuple[str, Connection]]:
        """Return (file, connection) of those between servers."""
        return [(file, one) for file, one in self.connections() if one.transport == "NET"]


@dataclass(frozen=True, slots=True)
class DescribedJob:
    """What the description and the prediction say of the job, at the largest size that was judged.

    ``oversubscription`` is the worst of the tiers that the job's traffic may cross, 1 when it crosses none; ``nics_per_server``
    counts compute NICs; ``gpu_bytes_per_s`` is what one GPU reaches towards all its peers, ``gpu_pcie_bytes_per_s`` towards its
    CPU; numbers are 0 where unknown.
    """

    nodes: int
    ranks: int
    gpus_per_server: int
    nics_per_server: int
    nic_bytes_per_s: float
    network: str
    routing: str
    oversubscription: float
    switches_crossed: bool
    rank_order: str
    scale_up: str
    multicast: bool
    library: str
    algorithm: str
    protocol: str
    bottleneck: str
    attainable_bytes_per_s: float
    attainable_settings: tuple[str, ...] = ()
    gpu_bytes_per_s: float = 0.0
    gpu_pcie_bytes_per_s: float = 0.0


@dataclass(frozen=True, slots=True)
class WhatIf:
    """What the job is predicted to reach if one thing were otherwise; ``cause`` is the id of the cause that makes it so."""

    cause: str
    what: str
    busbw_bytes_per_s: float


@dataclass(frozen=True, slots=True)
class JobEvidence:
    """One table of a log, how it was judged, and what else is known.

    ``best`` is the half row that the verdict rests on; None, like ``job``, when the table could not be judged.
    ``configured_bytes_per_s`` is what the job is predicted to reach with the settings that files say, 0 when they say none that
    matters. ``reference`` names a log given beside it of several servers that are not slow: it clears what all servers have.
    ``suspects`` are the places of this job that the slow ones of several runs have in common.
    """

    table: MeasuredTable
    file: str
    verdict: Judgement
    best: SizeVerdict | None
    job: DescribedJob | None
    what_ifs: tuple[WhatIf, ...] = ()
    files: FileEvidence = FileEvidence()
    configured_bytes_per_s: float = 0.0
    reference: str = ""
    suspects: tuple[Finding, ...] = ()

    @property
    def share(self) -> float:
        """Measured / predicted bus bandwidth; 1 when nothing was judged."""
        return 1.0 if self.best is None else 1.0 + self.best.gap

    @property
    def share_unexplained(self) -> float:
        """Measured / predicted with the settings that files say: what they leave to explain."""
        if self.best is None or not self.configured_bytes_per_s:
            return self.share
        return max(self.share, self.best.measured_bytes_per_s / self.configured_bytes_per_s)

    @property
    def across(self) -> bool:
        """Whether the job runs over a network."""
        return self.job is not None and self.job.nodes > 1

    @property
    def slow(self) -> bool:
        """Whether the rate, though not told to be low for sure, asks for a cause."""
        return self.verdict == "low" or (self.verdict == "cannot tell" and self.share < 0.8)

    def setting(self, *names: str) -> tuple[str, str, str]:
        """Return (name, value, where) of the first of *names* that is set; three empty texts when none is."""
        for name in names:
            if name in self.files.settings:
                value, where = self.files.settings[name]
                return name, value, where
        return "", "", ""

    def matching(self, cause: str, within: float = 0.08) -> WhatIf | None:
        """Return the what-if of *cause* that comes nearest to the measured rate, None when none comes within *within* of it."""
        if self.best is None:
            return None
        measured = self.best.measured_bytes_per_s
        near = [
            (abs(measured / one.busbw_bytes_per_s - 1), one)
            for one in self.what_ifs
            if one.cause == cause and one.busbw_bytes_per_s > 0
        ]
        if not near:
            return None
        distance, one = min(near, key=lambda pair: pair[0])
        return one if distance <= within else None
