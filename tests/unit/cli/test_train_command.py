"""``gpufabric train``: what is printed and written, and how bad input ends."""

import json

import pytest

from gpufabric.cli.run import run

CLUSTER = (
    "servers: {model: dgx-h100, count: 2}\nfabrics: [{name: c, topology: single-switch, switch: qm9790}]\n"
)
JOB = "model: llama-3-8b\nglobal_batch: 16\nsequence_length: 2048\nplan: {tp: 2, pp: 2}\n"


@pytest.fixture
def files(tmp_path):
    cluster, job = tmp_path / "cluster.yaml", tmp_path / "job.yaml"
    cluster.write_text(CLUSTER, encoding="utf-8")
    job.write_text(JOB, encoding="utf-8")
    return str(cluster), str(job)


def test_tables_on_stdout_and_notes_on_stderr(files, capsys):
    assert run(["train", *files]) == 0
    out, err = capsys.readouterr()
    assert "Llama 3 8B" in out
    assert "groups on the network" not in out
    assert "assumed: the job leaves open" in err


def test_explain_adds_groups_and_gains(files, capsys):
    assert run(["train", *files, "--explain"]) == 0
    out = capsys.readouterr().out
    assert "groups on the network" in out
    assert "10 % more of" in out


def test_json_is_one_document(files, capsys):
    assert run(["train", *files, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["format"] == "gpufabric/1"
    assert document["gpus"] == 16
    assert document["days"] is None


def test_pictures_are_written_and_named(files, tmp_path, capsys):
    gantt, trace = tmp_path / "step.svg", tmp_path / "step.json"
    assert run(["train", *files, "--gantt", str(gantt), "--trace", str(trace)]) == 0
    assert gantt.read_text(encoding="utf-8").startswith("<svg")
    assert json.loads(trace.read_text(encoding="utf-8"))["traceEvents"]
    assert "step.svg" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("job", "says"),
    [
        ("model: no-such-model\nglobal_batch: 16\nsequence_length: 2048\n", "no-such-model"),
        (JOB.replace("tp: 2", "tp: 7"), "tp 7"),
        (JOB.replace("global_batch: 16", "global_batch: 15"), "global_batch: 15"),
        (JOB + "placement: {order: [tp, tp]}\n", "twice"),
        (JOB + "surprise: 1\n", "surprise"),
        (JOB + "gpus: 17\n", "17 are more than the cluster has"),
        (JOB.replace("2048", "100000000"), "a GPU has 80 GiB"),
    ],
)
def test_bad_jobs_end_with_one_line_and_status_2(files, capsys, job, says):
    with open(files[1], "w", encoding="utf-8") as file:
        file.write(job)
    assert run(["train", *files]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert says in err
    assert "Traceback" not in err
    assert len([line for line in err.splitlines() if line.startswith("gpufabric:")]) == 1


def test_an_unknown_fabric_is_named(files, capsys):
    assert run(["train", *files, "--fabric", "nope"]) == 2
    assert 'fabric "nope" is not in the cluster' in capsys.readouterr().err
