"""Real all_reduces over Gloo, and a real training, on small fabrics in network namespaces, beside what is predicted."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from gpufabric.cli.run import run
from gpufabric.jobs.lab_traffic import TOLERANCE

pytestmark = [pytest.mark.real, pytest.mark.slow]
SMALL = """name: small
servers: {model: {gpus: 1, nics: 1, nic_rate: 100 Gb/s}, count: 16}
fabrics: {name: gpu, topology: leaf-spine, unit_servers: 4, switch: {ports: 8, rate: 100 Gb/s, network: ethernet}}
"""


@pytest.fixture(autouse=True)
def programs(require_program, require_torch):
    require_program("ip")
    require_program("vtysh")
    if os.geteuid() != 0:
        pytest.skip("network namespaces need root")


@pytest.fixture
def spec(tmp_path):
    place = tmp_path / "c.yaml"
    place.write_text(SMALL)
    return str(place)


def test_four_situations_run_as_predicted(spec, tmp_path, capsys):
    # A machine that others use as well may need a second try for the bound of 15 %.
    for _ in range(2):
        status = run(["lab", "traffic", spec, "--sizes", "8M", "-o", str(tmp_path / "out"), "--json"])
        body = json.loads(capsys.readouterr().out)
        if status == 0:
            break
    assert (status, body["findings"]) == (0, [])
    rows = {one["name"]: one["rows"][-1] for one in body["situations"]}
    assert list(rows) == ["healthy", "hash collisions", "oversubscribed 2:1", "link down"]
    assert all(abs(row["error"]) <= TOLERANCE for row in rows.values())
    assert {row["wrong"] for row in rows.values()} == {0}
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "hash-collisions.txt", "healthy.txt", "link-down.txt", "measured-and-predicted.html", "oversubscribed-2-1.txt",
    ]  # fmt: skip


def test_replicas_learn_and_stay_the_same(spec, tmp_path, capsys):
    curve = tmp_path / "loss.svg"
    words = ["--steps", "120", "--hash-every", "40", "-o", str(curve), "--json"]
    assert run(["lab", "train", spec, *words]) == 0
    body = json.loads(capsys.readouterr().out)
    assert (body["ranks"], len(body["loss"]), body["findings"]) == (4, 120, [])
    assert body["loss_last"] < 0.6 * body["loss_first"]
    assert [one["step"] for one in body["hashes"]] == [40, 80, 120]
    assert body["identical"]
    assert 0 < body["exchange_share"] < 1
    assert curve.read_text().startswith("<svg")


def test_killed_ranks_leave_nothing(spec, tmp_path):
    def below():
        listed = subprocess.run(["ps", "-eo", "pid,args"], capture_output=True, text=True, check=True).stdout
        lines = {line for line in listed.splitlines() if "gpufabric.lab.rank_worker /run/ranks" in line}
        return lines - others

    others = set()
    others = below()
    process = subprocess.Popen(
        [sys.executable, "-m", "gpufabric", "lab", "train", spec, "--steps=10000"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "TMPDIR": str(tmp_path)},
    )

    end = time.monotonic() + 60
    while len(below()) < 5 and time.monotonic() < end:
        time.sleep(0.2)
    assert len(below()) >= 5
    process.send_signal(signal.SIGKILL)
    process.wait(timeout=30)
    end = time.monotonic() + 20
    while below() and time.monotonic() < end:
        time.sleep(0.2)
    assert below() == set()
    assert [path.name for path in tmp_path.iterdir()] == ["c.yaml"]
