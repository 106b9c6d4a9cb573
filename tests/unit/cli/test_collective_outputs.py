"""Files and sentences of ``gpufabric collective``, and what they leave alone."""

import json
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from gpufabric.cli.run import run

LOG = str(Path(__file__).parents[3] / "examples" / "logs" / "b200-128r-healthy.txt")
SPEC = """\
servers: {model: dgx-b200, count: 16}
fabrics: [{name: compute, topology: rail-optimized, switch: qm9790}]
"""


@pytest.fixture
def spec(tmp_path):
    path = tmp_path / "cluster.yaml"
    path.write_text(SPEC, encoding="utf-8")
    return str(path)


def test_files_are_written_whole_and_named(spec, tmp_path, capsys):
    names = {kind: str(tmp_path / f"new/{kind}.out") for kind in ("plot", "trace", "drawing")}
    options = [text for kind, name in names.items() for text in (f"--{kind}", name)]
    assert run(["collective", spec, "all_reduce", "--sizes", "64M..128M", "--log", LOG, *options]) == 0
    assert f"wrote {', '.join(names.values())}" in capsys.readouterr().err
    for kind in ("plot", "drawing"):
        assert ET.parse(names[kind]).getroot().tag.endswith("svg")
    trace = json.loads(Path(names["trace"]).read_text(encoding="utf-8"))
    assert trace["otherData"]["collective"] == "all_reduce of 128M over 128 GPUs"
    assert sorted(p.name for p in (tmp_path / "new").iterdir()) == ["drawing.out", "plot.out", "trace.out"]


@pytest.mark.slow
def test_json_stays_one_document(spec, tmp_path, capsys):
    def printed(*options):
        assert run(["collective", spec, "all_reduce", "--size", "8G", "--json", *options]) == 0
        return json.loads(capsys.readouterr().out)

    plain = printed()
    assert printed("--explain", "--plot", str(tmp_path / "a.svg")) == plain
    with_changes = printed("--what-if")
    assert with_changes["results"] == plain["results"]
    assert {row["op"] for row in with_changes["what_if"]} == {"all_reduce", "all_to_all"}
    assert with_changes["what_if"][0]["left"] == 1


@pytest.mark.slow
def test_explanation_and_changes_are_printed(spec, capsys):
    assert run(["collective", spec, "all_to_all", "--size", "1G", "--what-if", "--explain"]) == 0
    out = capsys.readouterr().out
    assert "one rail down" in out
    assert "\nLine rate: " in out


@pytest.mark.parametrize(
    "options",
    [
        ["--log", LOG],
        ["--log", "no-such-file", "--plot", "plot.svg"],
        ["--log", LOG, "--plot", "plot.svg", "--gpus", "64"],
        ["--plot", ""],
        ["--trace", "."],
        ["--drawing", "cluster.yaml/drawing.svg"],
    ],
)
def test_what_can_not_be_written_or_read_is_one_line(spec, tmp_path, monkeypatch, capsys, options):
    monkeypatch.chdir(tmp_path)
    assert run(["collective", spec, "all_reduce", "--size", "8G", *options]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert [p.name for p in tmp_path.iterdir()] == ["cluster.yaml"]
