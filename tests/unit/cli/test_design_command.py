"""``gpufabric design``: prices, labels and what it writes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gpufabric.cli.run import run

SPEC = """name: small
servers: {model: dgx-h100, count: 8}
fabrics: {topology: leaf-spine, switch: sn5600}
"""


@pytest.fixture
def spec(tmp_path: Path) -> str:
    path = tmp_path / "cluster.yaml"
    path.write_text(SPEC)
    return str(path)


def test_prices_reach_the_document(spec: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "prices.csv").write_text("part,price_usd\nsn5600,100\nrack,10\n")
    assert run(["design", spec, "--prices", str(tmp_path / "prices.csv"), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    switches = sum(document["fabrics"][0]["switches"].values())
    assert document["price_usd"] == 100 * switches + 10 * document["racks"]["racks"]
    assert document["fabrics"][0]["price_usd"] == 100 * switches


def test_a_wrong_price_list_is_one_line_a_fault(
    spec: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "prices.csv").write_text("part,price_usd\nsn5601,100\nsn5600,-1\n")
    assert run(["design", spec, "--prices", str(tmp_path / "prices.csv")]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 2
    assert 'prices.csv:2: part "sn5601" is unknown' in lines[0]
    assert 'prices.csv:3: price_usd "-1" is not a price' in lines[1]


def test_the_files_are_named_and_racks_are_in_the_text(
    spec: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["design", spec, "-o", str(tmp_path / "out"), "--labels-for", "A01"]) == 0
    printed = capsys.readouterr()
    assert "report.html" in printed.err
    assert "Racks, each" in printed.out
    assert "cooling air" in printed.out
    assert (tmp_path / "out" / "labels.html").exists()


@pytest.mark.parametrize("more", [[], ["-o", "out"]])
def test_labels_for_nothing_are_refused(
    spec: str,
    more: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(["design", spec, "--labels-for", "Z99", *more]) == 2
    error = capsys.readouterr().err
    assert "labels" in error
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("option", ["-o", "--output", "--prices"])
def test_an_empty_path_is_refused(
    spec: str,
    option: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    assert run(["design", spec, option, ""]) == 2
    printed = capsys.readouterr()
    assert "the path is empty; name one, or . for the current folder" in printed.err
    assert printed.err.count("\n") == 1
    assert list(Path().iterdir()) == []


@pytest.mark.slow
def test_a_part_has_one_row_of_the_bill_and_the_csv_keeps_its_lengths(
    spec: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["design", spec, "-o", str(tmp_path / "out"), "--json"]) == 0
    bill = json.loads(capsys.readouterr().out)["bill_of_materials"]
    assert run(["design", spec]) == 0
    shown = capsys.readouterr().out.split("Bill of materials\n")[1].split("\n\n")[0].splitlines()[2:]
    assert len(shown) == len({(row["part"], row["kind"], row["note"]) for row in bill}) < len(bill)
    fibre = [row for row in bill if row["kind"] == "cable"]
    assert len({row["part"] for row in fibre}) == 1
    lengths = [row["length_m"] for row in fibre]
    row = next(line for line in shown if line.startswith(f"{fibre[0]['part']} "))
    assert row.split()[:5] == [
        fibre[0]["part"],
        "cable",
        str(sum(row["count"] for row in fibre)),
        f"{min(lengths):g}–{max(lengths):g}",
        "m",
    ]
    csv = (tmp_path / "out" / "bill-of-materials.csv").read_text().splitlines()
    assert len(csv) == 1 + len(bill)
