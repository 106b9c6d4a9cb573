"""The benchmark harness measures what it says."""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[3] / "benchmarks"


@pytest.fixture(scope="module")
def harness():
    spec = importlib.util.spec_from_file_location("benchmarks_run", BENCHMARKS / "run.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_help_is_timed_and_written_as_json(tmp_path):
    target = tmp_path / "out" / "bench.json"
    done = subprocess.run(
        [sys.executable, BENCHMARKS / "run.py", "help", "--repeats", "1", "--json", target],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert "help" in done.stdout
    row = json.loads(target.read_text())["rows"][0]
    assert row["case"] == "help"
    assert row["cold_s"] > 0
    assert row["peak_bytes"] > 2**20


def test_growth_is_the_power_of_the_size(harness):
    small = {"size": 1_000, "warm_s": 0.1, "cold_s": 9.0}
    assert harness.growth(None, small) is None
    assert harness.growth(small, {"size": 100_000, "warm_s": 10.0, "cold_s": 9.0}) == pytest.approx(1.0)
    assert harness.growth(small, {"size": 10_000, "warm_s": 10.0, "cold_s": 9.0}) == pytest.approx(2.0)


def test_a_function_is_called_once_cold_and_then_warm(harness):
    calls = []
    case = harness.FunctionCase("probe", lambda size: lambda: calls.append(size), sizes=(7,))
    measured = harness.time_function(case, 7, repeats=3)
    assert calls == [7] * 4
    assert measured["cold_s"] >= 0
    assert measured["peak_bytes"] > 2**20


def test_budgets_hold_at_the_largest_size_only(harness):
    case = harness.FunctionCase("probe", lambda _: lambda: None, sizes=(1, 2), budget_s=1.0, budget_bytes=100)
    row = {"size": 2, "warm_s": 0.5, "cold_s": 3.0, "peak_bytes": 50}
    assert harness.within_budget(case, row) is True
    assert harness.within_budget(case, {**row, "warm_s": 1.5}) is False
    assert harness.within_budget(case, {**row, "peak_bytes": 101}) is False
    assert harness.within_budget(case, {**row, "size": 1}) is None


def test_a_failing_command_is_an_error_not_a_time(harness):
    with pytest.raises(subprocess.CalledProcessError):
        harness.run_command([sys.executable, "-c", "raise SystemExit(3)"])
