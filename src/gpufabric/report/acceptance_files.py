"""An acceptance plan → the folder that people run: hostfiles, commands, what to expect, thresholds for other checkers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from gpufabric.formats.acceptance_json import PLAN_FILE, RESULTS
from gpufabric.formats.nccl_tests_write import PROGRAMS
from gpufabric.records.acceptance import STEPS, AcceptancePlan, AcceptanceTest
from gpufabric.report.threshold_files import thresholds_text
from gpufabric.report.write_files import folder_beside
from gpufabric.units import counted, format_gigabytes_per_s, format_message_bytes

THRESHOLD_FILES = ("thresholds.json", "thresholds.csv")
LAUNCHERS = ("mpirun", "srun")
_ARGUMENTS = "-b 256M -e 8G -f 2 -g 1"
_STEP_TEXT = {
    "server": "each server alone: GPUs, NVLink or PCIe",
    "pair": "two servers below the same leaves: NICs, cables, leaf ports",
    "unit": "all servers below the same leaves",
    "bisection": "servers of one half with those of the other: uplinks and spines",
    "all": "the whole cluster",
}


def write_acceptance(plan: AcceptancePlan, folder: Path, launcher: str) -> tuple[Path, ...]:
    """Write the folder, all of it or nothing, and return the paths that people start from.

    Parameters
    ----------
    plan
    folder
    launcher
        One of ``LAUNCHERS``.

    Raises
    ------
    InputError
        If the folder can't be written.
    """
    with folder_beside(folder) as beside:
        (beside / PLAN_FILE).write_text(plan.model_dump_json(indent=1) + "\n", encoding="utf-8")
        (beside / RESULTS).mkdir()
        (beside / RESULTS / "README.txt").write_text(
            "The scripts write here: one file a test, named after it.\n", encoding="utf-8"
        )
        (beside / "hosts").mkdir()
        for test in plan.tests:
            lines = hostfile_lines(test) if launcher == "mpirun" else list(test.hosts)
            (beside / "hosts" / f"{test.id}.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
        for number, step in enumerate(_steps(plan), 1):
            script = beside / f"run-{number}-{step}.sh"
            script.write_text(_script(plan, step, launcher), encoding="utf-8")
            script.chmod(0o755)
        (beside / "README.md").write_text(readme(plan, launcher), encoding="utf-8")
        for name in THRESHOLD_FILES:
            text = thresholds_text(beside / name, plan.name, plan.gpu, threshold_rows(plan))
            (beside / name).write_text(text, encoding="utf-8")
    return folder / "README.md", folder / PLAN_FILE


def hostfile_lines(test: AcceptanceTest) -> list[str]:
    """Return the lines of Open MPI's hostfile of a test."""
    return [f"{host} slots={ranks}" for host, ranks in zip(test.hosts, test.ranks, strict=True)]


def command(plan: AcceptancePlan, test: AcceptanceTest, launcher: str) -> str:
    """Return the line that runs a test from the folder."""
    program, hosts = PROGRAMS[plan.op], f"hosts/{test.id}.txt"
    ranks = sum(test.ranks)
    if launcher == "srun":
        start = f"srun -w ./{hosts} -N {len(test.hosts)} -n {ranks} --ntasks-per-node={max(test.ranks)}"
        start += f" --gpus-per-node={max(test.ranks)}"
    else:
        start = f"mpirun --hostfile {hosts} -np {ranks} -x NCCL_DEBUG=WARN"
    return f"{start} {program} {_ARGUMENTS} > {RESULTS}/{test.id}.txt 2>&1"


def step_rows(plan: AcceptancePlan) -> list[tuple[str, ...]]:
    """Return step, tests, ranks of one, range at the largest size and the limit below which it is low, one row a shape."""
    rows: list[tuple[str, ...]] = []
    for step in _steps(plan):
        for shape, tests in _shapes(plan, step).items():
            best = max(plan.expected[shape], key=lambda rate: rate.size_bytes)
            low, high = (format_gigabytes_per_s(v) for v in (best.low_bytes_per_s, best.high_bytes_per_s))
            rows.append(
                (
                    step,
                    f"{len(tests):,}",
                    f"{len(tests[0].hosts):,}",
                    f"{sum(tests[0].ranks):,}",
                    format_message_bytes(best.size_bytes),
                    f"{low} to {high}",
                    format_gigabytes_per_s(best.limit_low_bytes_per_s),
                )
            )
    return rows


STEP_COLUMNS = ("step", "tests", "servers", "ranks", "size", "expected busbw", "low below")


def threshold_rows(plan: AcceptancePlan) -> list[dict[str, object]]:
    """Return what other checkers may gate by: for each shape and size the limit, the range and the ceiling."""
    return [
        {
            "step": step,
            "servers": len(tests[0].hosts),
            "ranks": sum(tests[0].ranks),
            "op": plan.op,
            **rate.model_dump(),
        }
        for step in _steps(plan)
        for shape, tests in _shapes(plan, step).items()
        for rate in plan.expected[shape]
    ]


def readme(plan: AcceptancePlan, launcher: str) -> str:
    """Return what people read first, as Markdown."""
    lines = [
        f"# Acceptance of {plan.name}",
        "",
        f"{counted(len(plan.tests), 'test')} of nccl-tests ({PROGRAMS[plan.op]}), built with MPI, started with {launcher}",
        "from this folder. Run the scripts in order, and look at a step before the next: what is slow alone is slow in a pair,",
        "and what is slow in a pair is slow in all.",
        "",
        "| " + " | ".join(STEP_COLUMNS) + " |",
        "|" + "---|" * len(STEP_COLUMNS),
        *("| " + " | ".join(row) + " |" for row in step_rows(plan)),
        "",
        *(f"- **{step}**: {_STEP_TEXT[step]}." for step in _steps(plan)),
        "",
        "After each step: `gpufabric check SPEC --acceptance .` reads `results/`, says which tests are low, and names the",
        "server, leaf or NIC that they share. `thresholds.json` and `thresholds.csv` have the limits for other checkers.",
    ]
    return "\n".join(lines) + "\n"


def _script(plan: AcceptancePlan, step: str, launcher: str) -> str:
    tests = [test for test in plan.tests if test.step == step]
    lines = ["#!/bin/sh", f"# Step {step}: {_STEP_TEXT[step]}.", 'cd "$(dirname "$0")" || exit 2']
    lines += [command(plan, test, launcher) for test in tests]
    return "\n".join(lines) + "\n"


def _steps(plan: AcceptancePlan) -> Iterator[str]:
    there = {test.step for test in plan.tests}
    return (step for step in STEPS if step in there)


def _shapes(plan: AcceptancePlan, step: str) -> Mapping[str, Sequence[AcceptanceTest]]:
    shapes: dict[str, list[AcceptanceTest]] = {}
    for test in plan.tests:
        if test.step == step:
            shapes.setdefault(test.shape, []).append(test)
    return shapes
