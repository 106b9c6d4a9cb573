"""A user's part that replaces a shipped one is named by every result on a cluster with it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gpufabric.catalog import load
from gpufabric.cli.run import run

SHIPPED = Path(load.__file__).parent / "parts"
LOG = Path(__file__).parents[3] / "examples" / "logs" / "b200-128r-healthy.txt"
SAID = "part {}: figures of your parts folder, which replace those of the shipped part"
SPEC = """name: {name}
parts: own
servers: {{model: dgx-b200, count: 16}}
fabrics: {{topology: rail-optimized, switch: {switch}}}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with descriptions and own parts: a switch, the GPU of the servers, and a part that nothing uses."""
    for kind, part in (("switches", "qm9790"), ("gpus", "b200-sxm"), ("switches", "sn5600")):
        target = tmp_path / "own" / f"{part}.toml"
        target.parent.mkdir(exist_ok=True)
        target.write_bytes((SHIPPED / kind / f"{part}.toml").read_bytes())
    (tmp_path / "cluster.yaml").write_text(SPEC.format(name="own", switch="qm9790"))
    (tmp_path / "other.yaml").write_text(SPEC.format(name="other", switch="qm9700"))
    return tmp_path


def replaced(texts: list[str]) -> list[str]:
    return [text for text in texts if "parts folder" in text]


USED = [SAID.format("b200-sxm"), SAID.format("qm9790")]


def document(words: list[str], capsys: pytest.CaptureFixture[str]) -> dict:
    assert run([*words, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_design_says_so_in_json_report_and_on_the_terminal(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    spec, out = str(folder / "cluster.yaml"), folder / "out"
    assert run(["design", spec, "-o", str(out)]) == 0
    assert replaced(capsys.readouterr().err.splitlines()) == [f"note: {text}" for text in USED]
    assert replaced(json.loads((out / "design.json").read_text())["assumptions"]) == USED
    assert all(text in (out / "report.html").read_text() for text in USED)


def test_collective_and_check_say_so(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    spec = str(folder / "cluster.yaml")
    found = document(["collective", spec, "all_reduce", "--size", "1G"], capsys)["results"]
    assert [replaced(result["assumptions"]) for result in found] == [USED] * len(found)
    assert replaced(document(["check", spec, str(LOG)], capsys)["assumptions"]) == USED


def test_compare_names_the_alternative(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["compare", str(folder / "cluster.yaml"), str(folder / "other.yaml")]
    assert replaced(document(words, capsys)["assumptions"]) == [USED[0], f"own: {USED[1]}"]


@pytest.mark.slow
def test_nothing_is_said_without_such_parts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert replaced(document(["design", "superpod-b200"], capsys)["assumptions"]) == []
