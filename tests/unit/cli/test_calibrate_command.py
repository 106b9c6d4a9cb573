import json
from pathlib import Path

import pytest

from gpufabric.cli.run import run

LOG = str(Path(__file__).parents[3] / "examples" / "logs" / "b200-128r-slow.txt")
SMALL = ["--size", "8G", "--gpus", "128", "--json"]


def _busbw(capsys, *more):
    assert run(["collective", "superpod-b200", "all_reduce", *SMALL, *more]) == 0
    return json.loads(capsys.readouterr().out)["results"][0]["busbw_bytes_per_s"]


@pytest.mark.slow
def test_what_is_written_is_what_other_commands_take(capsys, tmp_path):
    own = str(tmp_path / "own.toml")
    assert run(["calibrate", LOG, "--spec", "superpod-b200", "-o", own]) == 0
    printed = capsys.readouterr()
    assert "latency ×" in printed.out
    assert "28 rows of the logs: median error of the time" in printed.err
    assert _busbw(capsys, "--calibration", own) < _busbw(capsys)
    assert run(["check", "superpod-b200", LOG, "--calibration", own, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["verdicts"][0]["verdict"] != "low"
    assert run(["calibrate", LOG, "--spec", "superpod-b200", "--calibration", own, "--json"]) == 0
    again = json.loads(capsys.readouterr().out)
    assert again["command"] == "calibrate"
    assert again["rows"] == 28


def test_nothing_is_written_without_a_name(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run(["calibrate", LOG, "--spec", "superpod-b200"]) == 0
    assert list(tmp_path.iterdir()) == []


def test_a_calibration_that_is_none_is_one_line(capsys, tmp_path):
    (tmp_path / "own.toml").write_text("name = 1\n")
    for words in (
        ["collective", "superpod-b200", "all_reduce", *SMALL],
        ["check", "superpod-b200", LOG],
        ["validate", "collectives"],
        ["calibrate", LOG, "--spec", "superpod-b200"],
    ):
        assert run([*words, "--calibration", str(tmp_path / "own.toml")]) == 2
        assert "own.toml: " in capsys.readouterr().err


def test_the_standard_input_is_read_once(capsys):
    assert run(["calibrate", "-", "--spec", "-"]) == 2
    assert "standard input can be read once" in capsys.readouterr().err
