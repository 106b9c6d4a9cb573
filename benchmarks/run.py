"""Times the cases of ``cases.py``: a table on stdout, JSON on request.

Each case and size runs in processes of its own. *cold* is the whole life of a command's process, or the first
call of a function in a new process once its input is made; *warm* is the median of the calls that follow;
*peak* is the process's largest resident memory; *growth* is the power of the size that the time grew with.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import platform
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from cases import CASES, CommandCase, FunctionCase

RSS_UNIT = 1 if sys.platform == "darwin" else 1024  # getrusage counts bytes on macOS, KiB on Linux
ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}


def run_command(command: list[str]) -> tuple[float, int]:
    """Return seconds and peak bytes of one command; its output is dropped unless it fails.

    Raises
    ------
    subprocess.CalledProcessError
        When the command fails: a time of a failure would be worthless.
    """
    with tempfile.TemporaryFile() as notes:
        start = time.perf_counter()
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=notes, env=ENVIRONMENT)
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            notes.seek(0)
            sys.stderr.write(notes.read().decode(errors="backslashreplace"))
            raise subprocess.CalledProcessError(process.returncode, command)
    return seconds, usage.ru_maxrss * RSS_UNIT


def time_function(case: FunctionCase, size: int, repeats: int) -> dict[str, float]:
    """Time a function in this process, which must be new."""
    start = time.perf_counter()
    function = case.prepare(size)
    prepared = time.perf_counter()
    function()
    cold_s = time.perf_counter() - prepared
    warm = []
    for _ in range(repeats):
        again = time.perf_counter()
        function()
        warm.append(time.perf_counter() - again)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * RSS_UNIT
    return {"prepare_s": prepared - start, "cold_s": cold_s, "warm_s": median(warm), "peak_bytes": peak}


def measure(case: CommandCase | FunctionCase, size: int, repeats: int) -> dict[str, Any]:
    """Return what one case takes at one size."""
    if isinstance(case, CommandCase):
        runs = [run_command(case.command(size)) for _ in range(repeats)]
        return {"cold_s": median(s for s, _ in runs), "warm_s": None, "peak_bytes": max(b for _, b in runs)}
    child = [sys.executable, __file__, "--one", case.name, "--size", str(size), "--repeats", str(repeats)]
    done = subprocess.run(child, stdout=subprocess.PIPE, check=True, text=True, env=ENVIRONMENT)
    measured: dict[str, Any] = json.loads(done.stdout)
    return measured


def growth(before: dict[str, Any] | None, now: dict[str, Any]) -> float | None:
    """Return p of time ∝ sizeᵖ between two sizes; None for the first."""
    if before is None:
        return None
    key = "warm_s" if now["warm_s"] is not None else "cold_s"
    return math.log(now[key] / before[key]) / math.log(now["size"] / before["size"])


def within_budget(case: CommandCase | FunctionCase, row: dict[str, Any]) -> bool | None:
    """Tell whether the largest size keeps the budgets; None for other sizes and cases without budgets."""
    if row["size"] != max(case.sizes) or (case.budget_s is None and case.budget_bytes is None):
        return None
    seconds = row["warm_s"] if row["warm_s"] is not None else row["cold_s"]
    return seconds <= (case.budget_s or math.inf) and row["peak_bytes"] <= (case.budget_bytes or math.inf)


def rows_of(names: list[str], repeats: int) -> Iterator[dict[str, Any]]:
    """Yield one row a case and size, in order."""
    for case in CASES:
        if names and case.name not in names:
            continue
        before = None
        for size in sorted(case.sizes):
            row = {
                "case": case.name,
                "size": size,
                "size_name": case.size_name,
                **measure(case, size, repeats),
            }
            row["growth"] = growth(before, row)
            row["budget_s"], row["budget_bytes"] = case.budget_s, case.budget_bytes
            row["within_budget"] = within_budget(case, row)
            before = row
            yield row


def table_line(row: dict[str, Any]) -> str:
    """Return a row as text."""
    seconds = ["-" if row[k] is None else f"{row[k]:.3f} s" for k in ("cold_s", "warm_s")]
    size = f"{row['size']:,} {row['size_name']}" if row["size_name"] else ""
    power = "" if row["growth"] is None else f"size^{row['growth']:.2f}"
    budget = (
        "" if row["within_budget"] is None else ("within budget" if row["within_budget"] else "OVER BUDGET")
    )
    peak = f"{row['peak_bytes'] / 2**20:.0f} MiB"
    cells = f"{row['case']:<28}{size:>16}{seconds[0]:>11}{seconds[1]:>11}{peak:>13}{power:>11}"
    return f"{cells}  {budget}".rstrip()


def main() -> None:
    """Read the options and run."""
    parser = argparse.ArgumentParser(description="Time the cases of cases.py.")
    parser.add_argument("case", nargs="*", help="names of cases; default: all")
    parser.add_argument("--repeats", type=int, default=5, help="runs that the median is taken of")
    parser.add_argument("--json", type=Path, help="also write the rows here")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    parser.add_argument("--size", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        case = next(c for c in CASES if c.name == options.one)
        assert isinstance(case, FunctionCase)
        print(json.dumps(time_function(case, options.size, options.repeats)))
        return
    unknown = set(options.case) - {c.name for c in CASES}
    if unknown:
        parser.error(f"unknown case {', '.join(sorted(unknown))}; known: {', '.join(c.name for c in CASES)}")
    print(f"{'case':<28}{'size':>16}{'cold':>11}{'warm':>11}{'peak':>13}{'growth':>11}  budget")
    rows = []
    try:
        for row in rows_of(options.case, options.repeats):
            rows.append(row)
            print(table_line(row), flush=True)
    except subprocess.CalledProcessError as error:
        sys.exit(f"{' '.join(map(str, error.cmd))}: ended with status {error.returncode}")
    if options.json:
        options.json.parent.mkdir(parents=True, exist_ok=True)
        machine = {
            "python": platform.python_version(),
            "machine": platform.machine(),
            "cores": os.cpu_count(),
        }
        options.json.write_text(
            json.dumps({"machine": machine, "repeats": options.repeats, "rows": rows}, indent=2) + "\n"
        )


if __name__ == "__main__":
    main()
