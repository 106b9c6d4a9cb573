"""``gpufabric acceptance`` and ``check --acceptance`` from the command line."""

from __future__ import annotations

import json

import pytest

from gpufabric.cli.run import run

SPEC = "servers: {model: dgx-h100, count: 4}\nfabrics: {topology: rail-optimized, switch: qm9700, unit_servers: 4}\n"


@pytest.fixture
def spec(tmp_path):
    (tmp_path / "c.yaml").write_text(SPEC)
    return str(tmp_path / "c.yaml")


def test_the_folder_is_written_and_read_back(spec, tmp_path, capsys):
    folder = str(tmp_path / "ladder")
    assert run(["acceptance", spec, "-o", folder, "--launcher", "srun"]) == 0
    assert "low below" in capsys.readouterr().out
    assert "srun -w ./hosts/" in (tmp_path / "ladder" / "run-2-pair.sh").read_text()
    assert run(["check", spec, "--acceptance", folder]) == 0
    assert "0 of 0 tests healthy; 7 planned" in capsys.readouterr().out


def test_json_is_one_document(spec, capsys):
    assert run(["acceptance", spec, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["format"], document["command"]) == ("gpufabric/1", "acceptance")
    assert {test["shape"] for test in document["tests"]} == set(document["expected"])


def test_thresholds_alone(spec, tmp_path):
    assert run(["acceptance", spec, "--thresholds", str(tmp_path / "limits.json")]) == 0
    assert json.loads((tmp_path / "limits.json").read_text())["format"] == "gpufabric-thresholds/1"


@pytest.mark.parametrize(
    "more",
    [
        ["--launcher", "qsub"],
        ["--op", "hypercube"],
        ["--hosts", "absent.txt"],
        ["--calibration", "absent.toml"],
    ],
)
def test_bad_input_is_one_line_and_2(spec, more, capsys):
    assert run(["acceptance", spec, *more]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_a_folder_and_files_together_are_refused(spec, tmp_path, capsys):
    assert run(["check", spec, "log.txt", "--acceptance", str(tmp_path)]) == 2
    assert "give the description alone" in capsys.readouterr().err
