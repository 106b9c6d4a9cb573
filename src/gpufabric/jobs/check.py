"""A description and logs measured on it → verdicts: as measured against as designed.

The log of a collective test is read, each table is set beside what the wiring should deliver over as many ranks, and judged.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from gpufabric.collectives.rank_order import order_name, rank_gpus
from gpufabric.errors import InputError, UnbuildableError
from gpufabric.jobs.choose_ranks import RankChoice, choose_ranks
from gpufabric.jobs.collective import CollectiveOptions, predict_collective
from gpufabric.jobs.described_collective import with_description
from gpufabric.jobs.find_causes import WiredJob, find_causes
from gpufabric.jobs.gather_files import GatheredFiles, gather_files
from gpufabric.jobs.load_parts import catalog_for
from gpufabric.jobs.place_measured import on_so_many_servers
from gpufabric.jobs.racked_cluster import racked_cluster
from gpufabric.jobs.unused_keys import CHECK
from gpufabric.records.calibration import Calibration
from gpufabric.records.cluster import Cluster
from gpufabric.records.cluster_spec import ClusterSpec
from gpufabric.records.findings import Finding
from gpufabric.records.job_evidence import FileEvidence
from gpufabric.records.measurements import MeasuredTable
from gpufabric.records.part_set import PartSet
from gpufabric.records.parts import ServerPart
from gpufabric.records.verdicts import Expectation, Verdict
from gpufabric.rules import RULES, measured_busbw, measured_scope
from gpufabric.rules.fold_alike import fold_alike
from gpufabric.units import counted

_Expect = Callable[[str, int, int, tuple[int, ...]], tuple[dict[int, Expectation], tuple[str, ...]]]
_NOT_CHECKED = (
    "wiring as built (cables, switches, subnet manager)",
    "health of links and GPUs",
    "settings of the servers, and of NCCL beyond those described",
)


@dataclass(frozen=True, slots=True)
class CheckResult:
    """Verdicts, one a table of a log in the order given, with findings and what was taken for granted.

    ``notes`` say what of the description was not acted on; in the document they stand among the assumptions.
    """

    verdicts: tuple[Verdict, ...]
    findings: tuple[Finding, ...]
    assumptions: tuple[str, ...]
    notes: tuple[str, ...]
    coverage: dict[str, Any]

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain JSON values: ``verdicts``, ``findings``, ``repairs``, ``coverage``, ``assumptions``."""
        return {
            "verdicts": [verdict.to_dict() for verdict in self.verdicts],
            "findings": [finding.to_dict() for finding in self.findings],
            "repairs": [],
            "coverage": self.coverage,
            "assumptions": [*self.assumptions, *self.notes],
        }


@dataclass(frozen=True, slots=True)
class _Designed:
    cluster: Cluster
    parts: PartSet
    errors: tuple[Finding, ...]
    choice: RankChoice
    options: CollectiveOptions
    assumptions: tuple[str, ...]

    @property
    def server(self) -> ServerPart:
        """The part of the server that holds rank 0."""
        part = self.cluster.devices.part[self.cluster.gpus.host[0]]
        return self.parts.servers[self.cluster.parts[part]]

    def places(self, ranks: int, hosts: int) -> RankChoice:
        """Return where *ranks* ranks run; on *hosts* servers, if that is known (not 0) and they do not fill them."""
        if hosts > 1 and self.choice.places is None and self.choice.order == "fabric":
            return on_so_many_servers(self.cluster, self.choice, hosts, ranks // hosts)
        return self.choice

    def gpus(self, ranks: int, hosts: int) -> NDArray[np.int32]:
        """Return the GPU of each rank, in the order that the description asks for."""
        choice = self.places(ranks, hosts)
        return rank_gpus(
            self.cluster, ranks, choice.order, choice.seed, placement=choice.placement, places=choice.places
        )

    def inside(self, ranks: int, hosts: int) -> bool:
        """Say whether *ranks* GPUs stay inside one scale-up domain."""
        domains = self.cluster.gpus.domain[self.gpus(ranks, hosts)]
        return bool((domains == domains[0]).all())

    def wired(self, ranks: int, hosts: int) -> WiredJob:
        """Return the job as its causes are looked for in it."""
        choice = self.places(ranks, hosts)
        options = replace(self.options, ranks=ranks, places=choice.places)
        return WiredJob(self.cluster, self.parts, self.gpus(ranks, hosts), options)


@dataclass(frozen=True, slots=True)
class _Judged:
    """What was said of a table; ``several`` servers took part in it."""

    verdict: Verdict
    findings: tuple[Finding, ...] = ()
    assumptions: tuple[str, ...] = ()
    several: bool = False


def check(
    spec: ClusterSpec, files: Sequence[str | Path | BinaryIO], calibration: Calibration | None = None
) -> CheckResult:
    """Judge logs of nccl-tests by what *spec* should deliver, and name what may be the cause where they fall short.

    Parameters
    ----------
    spec
        The cluster as designed.
    files
        Logs of nccl-tests and whatever else was read of the job's servers and links: paths, ``-`` for standard input, or open
        binary streams.
    calibration
        What is expected is predicted with; None: the shipped one.

    Returns
    -------
    CheckResult
        A table that can't be judged has the verdict *cannot tell* with the reason.

    Raises
    ------
    InputError, PartError, SpecError
        If a file can't be read or the description names what does not exist.
    UnbuildableError
        If the fabric of the description can't be wired.
    """
    designed = _design(spec, calibration)
    read = gather_files(files, designed.options.library.settings if designed.options.library else None)
    # Tables of one log often have the same ranks and sizes: each pair is predicted once.
    expect = cache(partial(_expected, designed))
    tables = [(table, log.file) for log in read.tests for table in log.tables]
    rated = [_by_rate(designed, table, file, expect) for table, file in tables]
    judged = [_with_causes(designed, (*tables[i], rated), i, read.evidence) for i in range(len(tables))]
    findings = list(dict.fromkeys([*designed.errors, *read.evidence.findings]))
    findings += [f for one in judged for f in one.findings]
    assumptions = dict.fromkeys([*designed.assumptions, *(a for one in judged for a in one.assumptions)])
    verdicts = tuple(one.verdict for one in judged)
    return CheckResult(
        verdicts, tuple(findings), tuple(assumptions), designed.choice.notes, _coverage(read, verdicts)
    )


def _coverage(read: GatheredFiles, verdicts: Sequence[Verdict]) -> dict[str, Any]:
    return {
        "files": read.files,
        "lines_read": read.lines_read,
        "lines_not_understood": read.lines_not_understood,
        "other_outputs": read.others,
        "tables": len(verdicts),
        "tables_judged": sum(bool(v.sizes) for v in verdicts),
        "rows": sum(len(table.rows) for log in read.tests for table in log.tables),
        "rows_judged": sum(len(v.sizes) for v in verdicts),
        "not_checked": list(_NOT_CHECKED),
    }


def _with_causes(
    designed: _Designed, of: tuple[MeasuredTable, str, Sequence[_Judged]], row: int, evidence: FileEvidence
) -> _Judged:
    table, file, rated = of
    judged = rated[row]
    known = bool(judged.verdict.sizes) and table.ranks is not None
    wired = designed.wired(table.ranks or 0, measured_scope.even_hosts(table)) if known else None
    others = [one.verdict for i, one in enumerate(rated) if i != row and one.several]
    fine = next((v.what for v in others if v.verdict in {"healthy", "high"}), "")
    causes = find_causes(table, file, judged.verdict, wired, evidence, fine if judged.several else "")
    return replace(judged, verdict=replace(judged.verdict, causes=causes))


def _by_rate(designed: _Designed, table: MeasuredTable, file: str, expect: _Expect) -> _Judged:
    server = designed.server
    gpus = len(designed.cluster.gpus)
    ranks = "unknown ranks" if table.ranks is None else counted(table.ranks, "rank")
    what = f"{file}: {table.op or 'unknown operation'} over {ranks}, {table.dtype}"
    scope = measured_scope.check(table, server.gpu, gpus, file)
    reason = measured_scope.why_not_judged(table, gpus, len(server.gpus))
    sizes = measured_busbw.judged_sizes(table)
    if not reason and not sizes:
        reason = "no row is large enough (16 MiB) and free of contradictions"
    if not reason and any(f.rule == measured_scope.RULE_GPU for f in scope):
        reason = f"the log is of {table.gpu_name}, the description of {server.gpu}"
    expected: dict[int, Expectation] = {}
    assumptions: tuple[str, ...] = ()
    if not reason and table.ranks is not None:
        try:
            expected, assumptions = expect(
                table.op or "", table.ranks, measured_scope.even_hosts(table), tuple(sizes)
            )
        except UnbuildableError as error:
            reason = str(error)
    if reason:
        findings = scope + measured_busbw.wrong_elements(table, file)
        reason = "; ".join(filter(None, (measured_busbw.wrong_results(table), reason)))
        return _Judged(measured_busbw.cannot_tell(what, reason), tuple(findings))
    verdict, findings = measured_busbw.check(table, expected, file=file)
    several = not designed.inside(table.ranks or 0, measured_scope.even_hosts(table))
    return _Judged(replace(verdict, what=what), (*scope, *findings), assumptions, several)


def _choice(spec: ClusterSpec) -> RankChoice:
    said = spec.rank_order
    choice = choose_ranks(spec, use=CHECK)
    if said.ranks is None:
        return choice
    note = f"rank_order.ranks {said.ranks:,}: not used, because a log says how many ranks took part"
    return replace(choice, ranks=None, notes=(*choice.notes, note))


def _design(spec: ClusterSpec, calibration: Calibration | None) -> _Designed:
    choice = _choice(spec)
    racked = racked_cluster(spec, catalog_for(spec))
    cluster, parts = racked.cluster, racked.parts
    if len(cluster.gpus) == 0:
        raise InputError(
            f"{spec.name}: the description has no GPUs; nothing measured on GPUs can be judged by it"
        )
    findings = fold_alike(finding for rule in RULES.values() for finding in rule(cluster, parts, spec))
    errors = tuple(f for f in findings if f.severity == "error")
    options = with_description(
        spec,
        CollectiveOptions(
            order=choice.order,
            seed=choice.seed,
            calibration=calibration,
            placement=choice.placement,
            places=choice.places,
        ),
    )
    return _Designed(cluster, parts, errors, choice, options, racked.assumptions)


def _expected(
    designed: _Designed, op: str, ranks: int, hosts: int, sizes: tuple[int, ...]
) -> tuple[dict[int, Expectation], tuple[str, ...]]:
    choice = designed.places(ranks, hosts)
    options = replace(designed.options, ranks=ranks, places=choice.places)
    results = predict_collective(designed.cluster, designed.parts, op, sizes, options)
    servers = len(np.unique(designed.cluster.gpus.host[designed.gpus(ranks, hosts)]))
    order = "in its order" if choice.order == "fabric" else f"{choice.order} with seed {choice.seed}"
    first = f"the first {counted(servers, 'server')} of the description, {order}"
    if choice.places or choice.placement != "packed":
        name = order_name(choice.order, choice.seed, choice.placement, choice.places)
        first = f"{counted(servers, 'server')} as rank_order of the description says ({name})"
    placed = f"{counted(ranks, 'rank')} are on {first}: a log does not say where its servers stand"
    expected = {result.size_bytes: measured_busbw.expectation(result) for result in results}
    return expected, (placed, *dict.fromkeys(a for result in results for a in result.assumptions))
