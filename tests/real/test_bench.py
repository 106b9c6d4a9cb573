"""Real collectives of torch.distributed over Gloo on this machine, started by torchrun."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys

import pytest

from gpufabric.cli.run import run
from gpufabric.formats.nccl_tests_text import read_nccl_tests
from gpufabric.lab.bench_worker import EXCHANGES, NOT_IN_PLACE

pytestmark = [pytest.mark.real, pytest.mark.slow]


@pytest.fixture(autouse=True)
def torch(require_torch):
    pass


def measured(*words, ranks=3):
    """Run the command on some ranks and return what it printed on stdout."""
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={ranks}"]
    done = subprocess.run(
        [*command, "-m", "gpufabric", "bench", *words],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


@pytest.mark.parametrize("op", EXCHANGES)
def test_every_operation_is_right_and_reads_back(op):
    said = read_nccl_tests(
        io.BytesIO(measured(op, "-b", "30K", "-e", "60K", "-n", "2", "-w", "1").encode()), "log"
    )
    (table,) = said.tables
    assert (table.op, table.ranks, said.lines_not_understood) == (op, 3, 0)
    assert all(row.consistent and row.time_s > 0 for row in table.rows)
    assert len(table.rows) == 4
    assert {row.wrong for row in table.rows if not row.in_place} == {0}
    assert {row.wrong for row in table.rows if row.in_place} == {None if op in NOT_IN_PLACE else 0}


def test_json_says_the_same_and_check_takes_the_log(tmp_path, capsys):
    document = json.loads(measured("all_reduce", "-b", "1M", "-e", "1M", "-n", "2", "--json", ranks=2))
    assert (document["command"], document["gpus"], document["library"]) == ("bench", 2, "gloo")
    row = document["results"][0]
    assert row["busbw_bytes_per_s"] == pytest.approx(row["size_bytes"] / row["time_s"])
    log = tmp_path / "bench.txt"
    log.write_text(measured("all_reduce", "-b", "1M", "-e", "2M", "-n", "2", ranks=2))
    assert run(["check", "superpod-b200", str(log), "--json"]) in (0, 1)
    assert json.loads(capsys.readouterr().out)["verdicts"][0]["verdict"] in ("low", "cannot tell")


def test_a_backend_that_is_missing_is_said_in_one_line():
    command = [sys.executable, "-m", "gpufabric", "bench", "--backend", "mpi"]
    settings = {
        "RANK": "0",
        "WORLD_SIZE": "2",
        "PATH": os.environ["PATH"],
        "PYTHONPATH": os.environ.get("PYTHONPATH", ""),
    }
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, env=settings)
    assert done.returncode == 2
    assert "--backend mpi: this PyTorch has none; allowed here: gloo" in done.stderr
