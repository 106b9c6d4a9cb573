"""``gpufabric collective`` prints a table or one document, and refuses in one line."""

import json
from pathlib import Path

import pytest

from gpufabric.cli.run import run

SPEC = """\
servers: {model: dgx-h100, count: 64}
fabrics: [{name: compute, topology: rail-optimized, switch: qm9790, routing: ecmp}]
"""


@pytest.fixture
def spec(tmp_path):
    path = tmp_path / "cluster.yaml"
    path.write_text(SPEC, encoding="utf-8")
    return str(path)


@pytest.mark.slow
def test_a_table_on_stdout_and_notes_on_stderr(spec, capsys):
    assert run(["collective", spec, "all_reduce", "--size", "8G"]) == 0
    out, err = capsys.readouterr()
    assert "8G" in out
    assert "shuffled(seed=0)" in out
    assert "bottleneck: " in err
    assert "assumed:" in err


def test_json_is_one_document_with_the_names_of_the_design(spec, capsys):
    assert run(["collective", spec, "all_reduce", "--sizes", "1M..4M", "--gpus", "64", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["format"], document["command"]) == ("gpufabric/1", "collective")
    assert [r["size_bytes"] for r in document["results"]] == [1 << 20, 1 << 21, 1 << 22]
    assert set(document["results"][0]) >= {
        "op",
        "gpus",
        "rank_order",
        "time_s",
        "time_low_s",
        "time_high_s",
        "algbw_bytes_per_s",
        "busbw_bytes_per_s",
        "attainable_busbw_bytes_per_s",
        "ceiling_busbw_bytes_per_s",
        "ceiling_name",
        "algorithm",
        "protocol",
        "channels",
        "library",
        "bottleneck",
        "method",
    }


@pytest.mark.parametrize(
    "arguments",
    [
        ["all_reduce", "--size", "0"],
        ["all_reduce", "--size", "-1"],
        ["all_reduce", "--size", "9223372036854775808"],
        ["all_reduce", "--size", "8G", "--sizes", "1M..8G"],
        ["all_to_all_v", "--size", "8G"],
        ["all_to_al", "--size", "8G"],
        ["all_to_all_v", "--skew", "-1"],
        ["all_to_all_v", "--matrix", "no-such-file.csv"],
        ["all_reduce", "--algorithm", "nvls"],
        ["all_reduce", "--protocol", "LL"],
        ["all_reduce", "--library", "gloo"],
        ["all_reduce", "--library", "nccl:two"],
        ["all_reduce", "--set", "NCCL_ALGO"],
        ["all_reduce", "--set", "NCCL_ALGO=\x1b[31m"],
        ["all_reduce", "--gpus", "513"],
        ["all_reduce", "--gpus", "0"],
        ["all_reduce", "--order", "\x1b[31mred"],
        ["all_reduce", "--routing", "luck"],
    ],
)
def test_nonsense_is_one_line_and_status_2(spec, capsys, arguments):
    assert run(["collective", spec, *arguments]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert "\x1b" not in err
    assert "Traceback" not in err


def test_a_missing_file_is_one_line(capsys):
    assert run(["collective", "no-such-file.yaml", "all_reduce"]) == 2
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.slow
def test_settings_and_library_come_from_the_description_and_the_command_line(spec, capsys):
    def result(*arguments):
        assert (
            run(["collective", spec, "all_reduce", "--size", "8G", "--gpus", "16", "--json", *arguments]) == 0
        )
        return json.loads(capsys.readouterr().out)["results"][0]

    with Path(spec).open("a", encoding="utf-8") as file:
        file.write("library: {version: '2.27', settings: {NCCL_ALGO: Ring}}\n")
    assert (result()["library"], result()["algorithm"]) == ("nccl 2.27", "ring")
    assert result("--set", "NCCL_ALGO=Tree")["algorithm"] == "tree"
    assert result("--library", "nccl:2.30")["library"] == "nccl 2.30"
    assert result("--algorithm", "hierarchical")["protocol"] == "simple"


def test_a_table_of_bytes_is_read_from_a_file(spec, tmp_path, capsys):
    table = tmp_path / "pairs.csv"
    table.write_text("\n".join(",".join("1" for _ in range(16)) for _ in range(16)), encoding="utf-8")
    assert run(["collective", spec, "alltoallv", "--size", "1G", "--gpus", "16", "--matrix", str(table)]) == 0
    assert "all_to_all_v over 16 GPUs" in capsys.readouterr().err
