"""``gpufabric check`` from the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gpufabric.cli.run import run

LOGS = Path(__file__).parents[3] / "examples" / "logs"
HEALTHY, SLOW = (str(LOGS / f"b200-128r-{name}.txt") for name in ("healthy", "slow"))


def test_healthy_is_0_and_prints_the_table(capsys):
    assert run(["check", "superpod-b200", HEALTHY]) == 0
    out, err = capsys.readouterr()
    assert "measured GB/s" in out
    assert "verdict: healthy — 313.3 GB/s" in out
    assert "assumed: 128 ranks are on the first 16 servers" in err


@pytest.mark.slow
def test_low_is_1_and_gives_hints(capsys):
    assert run(["check", "superpod-b200", HEALTHY, SLOW]) == 1
    out = capsys.readouterr().out
    assert "verdict: low — 127.1 GB/s" in out
    assert "GPUDirect RDMA may be off" in out
    assert "measured-busbw-low" in out


def test_what_is_not_acted_on_is_a_note(tmp_path, capsys):
    (tmp_path / "c.yaml").write_text("preset: superpod-b200\nrank_order: {ranks: 64}\n")
    assert run(["check", str(tmp_path / "c.yaml"), HEALTHY]) == 0
    assert "note: rank_order.ranks 64: not used" in capsys.readouterr().err


def test_json_is_one_document(capsys):
    assert run(["check", "superpod-b200", SLOW, "--json"]) == 1
    document = json.loads(capsys.readouterr().out)
    assert (document["format"], document["command"]) == ("gpufabric/1", "check")
    assert document["verdicts"][0]["verdict"] == "low"


@pytest.mark.parametrize("arguments", [["superpod-b200", "absent.txt"], ["-", "-"], ["absent.yaml", HEALTHY]])
def test_bad_input_is_one_line_and_2(arguments, capsys):
    assert run(["check", *arguments]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_terminal_codes_of_a_log_are_not_obeyed(tmp_path, capsys):
    log = tmp_path / "evil.txt"
    log.write_text(
        "# all_reduce_perf\n#  Rank 15 Group 0 Pid 1 on h device 7 [0x1] NVIDIA \x1b]0;x\x07H100\x9b31m\n"
        "8589934592 2147483648 float sum -1 47535 180.71 338.82 0 47743 179.92 337.35 0\n"
    )
    assert run(["check", "superpod-b200", str(log)]) == 1
    out = capsys.readouterr().out
    assert all(character.isprintable() or character == "\n" for character in out)
