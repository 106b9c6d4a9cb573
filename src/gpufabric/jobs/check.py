"""A description and logs measured on it → verdicts: as measured against as designed.

The log of a collective test is read, each table is set beside what the wiring should deliver over as many ranks, and judged.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from gpufabric.jobs.compare_runs import compare_runs
from gpufabric.jobs.gather_files import GatheredFiles, gather_files
from gpufabric.jobs.judge_tables import Designed, design, judge_tables
from gpufabric.jobs.load_parts import catalog_for
from gpufabric.records.calibration import Calibration
from gpufabric.records.cluster_spec import ClusterSpec
from gpufabric.records.findings import Finding
from gpufabric.records.link_counters import LinkCounters
from gpufabric.records.verdicts import Verdict
from gpufabric.rules import server_as_described

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


def check(
    spec: ClusterSpec,
    files: Sequence[str | Path | BinaryIO],
    calibration: Calibration | None = None,
    counters: Sequence[LinkCounters] = (),
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
    counters
        Of links, where they were read already: evidence like that of the files.

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
    designed = design(spec, calibration)
    read = gather_files(files, designed.options.library.settings if designed.options.library else None)
    evidence = replace(read.evidence, counters=(*read.evidence.counters, *counters))
    tables = [(table, log.file) for log in read.tests for table in log.tables]
    judged, suspects = judge_tables(designed, tables, evidence)
    findings = list(dict.fromkeys([*designed.errors, *read.evidence.findings]))
    findings += [f for one in judged for f in one.findings]
    named = [(*tables[i], one.verdict) for i, one in enumerate(judged)]
    findings += [*suspects, *compare_runs(named, read.evidence)]
    findings += _other_servers(spec, designed, read)
    assumptions = dict.fromkeys([*designed.assumptions, *(a for one in judged for a in one.assumptions)])
    verdicts = tuple(one.verdict for one in judged)
    return CheckResult(
        verdicts, tuple(findings), tuple(assumptions), designed.choice.notes, _coverage(read, verdicts)
    )


def _other_servers(spec: ClusterSpec, designed: Designed, read: GatheredFiles) -> list[Finding]:
    """Return findings on files of servers that are none of the description's."""
    if not read.evidence.insides:
        return []
    used = np.unique(designed.cluster.devices.part[designed.cluster.gpus.host])
    servers = [designed.parts.servers[designed.cluster.parts[part]] for part in used.tolist()]
    catalog = catalog_for(spec)
    known = set(catalog.ids("gpu"))
    gpus = {server.gpu: catalog.gpu(server.gpu) for server in servers if server.gpu in known}
    return [
        finding
        for inside in read.evidence.insides
        for finding in server_as_described.check(inside, servers, gpus)
    ]


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
