"""A description and an acceptance folder with results → verdicts step by step, and the suspect."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from gpufabric.formats.acceptance_json import RESULTS, read_acceptance
from gpufabric.jobs.check import CheckResult
from gpufabric.jobs.compare_runs import leaves_of_hosts, of_job, suspects_of
from gpufabric.jobs.find_causes import find_causes
from gpufabric.jobs.gather_files import GatheredFiles, gather_files
from gpufabric.jobs.judge_tables import PriceShape, design, price_once, with_place
from gpufabric.records.acceptance import STEPS, AcceptancePlan, AcceptanceTest
from gpufabric.records.calibration import Calibration
from gpufabric.records.cluster_spec import ClusterSpec
from gpufabric.records.findings import Finding
from gpufabric.records.job_evidence import FileEvidence
from gpufabric.records.measurements import MeasuredTable
from gpufabric.records.verdicts import Verdict
from gpufabric.rules import measured_busbw, measured_scope
from gpufabric.units import counted

RULE_STEP = "acceptance-step"
RULE_MISSING = "acceptance-not-run"
_Run = tuple[AcceptanceTest, MeasuredTable, str]


def check_acceptance(spec: ClusterSpec, folder: Path, calibration: Calibration | None = None) -> CheckResult:
    """Judge the results in an acceptance folder by its own plan.

    Parameters
    ----------
    spec
        The cluster as designed: leaves and what-ifs come from it.
    folder
        As ``gpufabric acceptance`` wrote it, with results.
    calibration
        What-ifs are predicted with; None: the shipped one. What is expected stands in the plan.

    Returns
    -------
    CheckResult
        One verdict a test that was run, in the order of the plan.

    Raises
    ------
    InputError, PartError, SpecError, UnbuildableError
        If the plan can't be read or the cluster not be wired.
    """
    plan = read_acceptance(folder)
    designed = design(spec, calibration)
    runs, read = _read(plan, folder)
    price = price_once(designed)
    tests = frozenset(file for _, _, file in runs)
    leaves = leaves_of_hosts(designed.cluster)
    rated = [_by_rate(plan, run) for run in runs]
    named = [
        (_as_designed(test, table), file, verdict)
        for (test, table, file), (verdict, _) in zip(runs, rated, strict=True)
    ]
    suspects = suspects_of(named, read.evidence, leaves)
    verdicts = tuple(
        _with_causes(
            run, verdict, price, read.evidence.beside(run[2], tests), of_job(suspects, run[0].devices, leaves)
        )
        for run, (verdict, _) in zip(runs, rated, strict=True)
    )
    findings = [*designed.errors, *read.evidence.findings, *(f for _, found in rated for f in found)]
    findings += _steps(plan, [test for test, _, _ in runs], verdicts)
    findings += suspects
    coverage = {
        "tests": len(plan.tests),
        "tests_run": len(runs),
        "tables_judged": sum(bool(v.sizes) for v in verdicts),
        "lines_read": read.lines_read,
        "lines_not_understood": read.lines_not_understood,
        "not_checked": ["wiring as built (cables, switches, subnet manager)"],
    }
    return CheckResult(verdicts, tuple(dict.fromkeys(findings)), plan.assumptions, (), coverage)


def _read(plan: AcceptancePlan, folder: Path) -> tuple[list[_Run], GatheredFiles]:
    """Return the table of each test that was run: the last one that its file holds."""
    there = [test for test in plan.tests if (folder / RESULTS / f"{test.id}.txt").is_file()]
    read = gather_files([folder / RESULTS / f"{test.id}.txt" for test in there])
    found = {i: log for i, log in zip(read.origins, read.tests, strict=True) if log.tables}
    return [(there[i], log.tables[-1], log.file) for i, log in sorted(found.items())], read


def _as_designed(test: AcceptanceTest, table: MeasuredTable) -> MeasuredTable:
    return replace(table, hosts=tuple(zip(test.devices, test.ranks, strict=True)))


def _by_rate(plan: AcceptancePlan, run: _Run) -> tuple[Verdict, list[Finding]]:
    test, table, file = run
    what = f"{test.id}: {table.op or 'unknown operation'} over {', '.join(test.hosts[:4])}"
    what += f" and {len(test.hosts) - 4} more" if len(test.hosts) > 4 else ""
    reason = _why_not(plan, test, table)
    if reason:
        return measured_busbw.cannot_tell(what, reason), measured_busbw.wrong_elements(table, file)
    expected = {rate.size_bytes: rate.expectation() for rate in plan.expected[test.shape]}
    verdict, findings = measured_busbw.check(table, expected, file=file)
    return replace(verdict, what=what), findings


def _with_causes(
    run: _Run, verdict: Verdict, price: PriceShape, evidence: FileEvidence, suspects: tuple[Finding, ...]
) -> Verdict:
    test, table, file = run
    even = len(test.hosts) if len(set(test.ranks)) == 1 else 0
    known = partial(price, sum(test.ranks), even) if verdict.verdict != "healthy" and verdict.sizes else None
    causes = find_causes(_as_designed(test, table), file, verdict, known, evidence, "", suspects)
    return with_place(replace(verdict, causes=causes), suspects)


def _why_not(plan: AcceptancePlan, test: AcceptanceTest, table: MeasuredTable) -> str:
    here, there = (measured_scope.model_code(name) for name in (table.gpu_name, plan.gpu))
    if table.op != plan.op:
        return f"the file is of {table.op or 'an unknown operation'}, the plan of {plan.op}"
    if table.ranks != sum(test.ranks):
        return f"the file is of {table.ranks or 'unknown'} ranks, the test of {sum(test.ranks)}"
    if here and there and here != there:
        return f"the file is of {table.gpu_name}, the plan of {plan.gpu}"
    return ""


def _steps(plan: AcceptancePlan, run: Sequence[AcceptanceTest], verdicts: Sequence[Verdict]) -> list[Finding]:
    """Return a finding for each step with tests that are low, and one for those that were not run."""
    findings = []
    seen: Counter[str] = Counter(test.step for test in run)
    planned: Counter[str] = Counter(test.step for test in plan.tests)
    for step in STEPS:
        low = [t for t, v in zip(run, verdicts, strict=True) if t.step == step and v.verdict == "low"]
        if low:
            names = ", ".join(test.id for test in low[:6])
            findings.append(
                Finding(
                    RULE_STEP,
                    "error",
                    f"step {step}",
                    f"{len(low):,} of {counted(seen[step], 'test')} low: {names}",
                    fix="find what these share before the next step is run",
                    source="docs/rules/acceptance-step.md",
                )
            )
        if missing := planned[step] - seen[step]:
            findings.append(
                Finding(
                    RULE_MISSING,
                    "info",
                    f"step {step}",
                    f"{missing:,} of {counted(planned[step], 'test')} without a readable result",
                    fix=f"run run-*-{step}.sh",
                    source="docs/rules/acceptance-not-run.md",
                )
            )
    return findings
