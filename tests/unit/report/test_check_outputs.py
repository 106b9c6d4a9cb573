"""Page, JUnit XML and thresholds of a check and of an acceptance."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from gpufabric.cli.run import run
from gpufabric.report.threshold_files import thresholds_text

CASES = Path(__file__).parents[3] / "examples" / "cases"


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    folder = tmp_path_factory.mktemp("out")
    case = CASES / "a-third"
    logs = sorted(str(path) for path in case.glob("*.txt"))
    paths = {name: folder / name for name in ("page.html", "report.xml", "limits.csv", "limits.json")}
    for ending in ("limits.csv", "limits.json"):
        outputs = [
            "--html",
            paths["page.html"],
            "--junit",
            paths["report.xml"],
            "--thresholds",
            paths[ending],
        ]
        assert run(["check", str(case / "cluster.yaml"), *logs, *map(str, outputs)]) == 1
    return paths


def test_the_page_says_the_verdict_its_causes_and_loads_nothing(written):
    page = written["page.html"].read_text()
    assert 'class="verdict error"' in page
    assert "GPUDirect RDMA is off" in page
    assert "<h2>Causes</h2>" in page
    assert "http://" not in page
    assert 'src="' not in page


def test_junit_has_a_failure_for_the_low_log(written):
    suite = ET.parse(written["report.xml"]).getroot()
    failed = [case.get("name") for case in suite if case.find("failure") is not None]
    assert any("nccl-tests.txt" in name for name in failed)
    assert int(suite.get("tests")) == len(suite)


def test_limits_are_the_same_as_csv_and_json(written):
    rows = list(csv.DictReader(written["limits.csv"].read_text().splitlines()))
    told = json.loads(written["limits.json"].read_text())
    assert told["format"] == "gpufabric-thresholds/1"
    assert [float(r["limit_low_bytes_per_s"]) for r in rows] == [
        row["limit_low_bytes_per_s"] for row in told["thresholds"]
    ]
    for row in told["thresholds"]:
        assert row["limit_low_bytes_per_s"] < row["busbw_bytes_per_s"] < row["ceiling_bytes_per_s"]


def test_no_cell_is_a_formula():
    text = thresholds_text(Path("x.csv"), "c", "", [{"test": "=1+1", "size_bytes": 1}])
    assert "'=1+1" in text


def test_without_a_judged_log_there_are_no_limits(tmp_path, capsys):
    case = CASES / "swapped-rails"
    limits = tmp_path / "limits.csv"
    words = ["check", str(case / "cluster.yaml"), str(case / "lldp.txt"), "--thresholds", str(limits)]
    assert run(words) == 2
    assert not limits.exists()
    assert "no limits" in capsys.readouterr().err


def test_an_acceptance_has_a_page_and_junit(tmp_path):
    spec = str(CASES / "a-third" / "cluster.yaml")
    assert run(["acceptance", spec, "-o", str(tmp_path / "ladder")]) == 0
    result = tmp_path / "ladder" / "results" / "pair-0001.txt"
    result.write_text((CASES / "a-third" / "nccl-tests.txt").read_text())
    page, report = tmp_path / "a.html", tmp_path / "a.xml"
    words = [
        "check",
        spec,
        "--acceptance",
        str(tmp_path / "ladder"),
        "--html",
        str(page),
        "--junit",
        str(report),
    ]
    assert run(words) == 1
    assert "0 of 1 test healthy; 7 planned" in page.read_text()
    assert "pair-0001" in report.read_text()
    assert (tmp_path / "ladder" / "thresholds.csv").read_text().startswith("step,servers,ranks,op,size_bytes")
