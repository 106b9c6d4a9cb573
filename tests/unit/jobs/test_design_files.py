"""The files that a design is written as."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet
import pytest

from gpufabric.errors import InputError
from gpufabric.jobs.design import Design, design
from gpufabric.jobs.design_files import write_design
from gpufabric.records.cluster_spec import ClusterSpec

FILES = {
    "bill-of-materials.csv",
    "cabling-plan.csv",
    "cabling-plan.parquet",
    "design.json",
    "fabric-compute.svg",
    "floor-plan.svg",
    "labels.csv",
    "labels.html",
    "labels.parquet",
    "racks.svg",
    "report.html",
}


def spec(count: int, **more: str) -> ClusterSpec:
    fabric = {"topology": "leaf-spine", "switch": "sn5600"}
    servers = {"model": "dgx-h100", "count": count}
    return ClusterSpec.model_validate({"servers": servers, "fabrics": fabric, **more})


@pytest.fixture
def small() -> Design:
    return design(spec(8))


def test_every_file_is_written_and_the_report_names_them(small: Design, tmp_path: Path) -> None:
    written = write_design(small, tmp_path / "out")
    assert {path.name for path in written.paths} == FILES == {p.name for p in (tmp_path / "out").iterdir()}
    assert written.notes == ()
    report = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert [name for name in FILES - {"report.html"} if f"<dt>{name}</dt>" not in report] == []


def test_the_json_has_racks_and_a_bill_for_each_fabric(small: Design, tmp_path: Path) -> None:
    write_design(small, tmp_path)
    document = json.loads((tmp_path / "design.json").read_text(encoding="utf-8"))
    assert document["racks"]["racks"] == len(small.floor_plan.racks)
    assert {row["kind"] for row in document["fabrics"][0]["bill_of_materials"]} <= {
        "switch",
        "cable",
        "transceiver",
    }
    assert document["fabrics"][0]["price_usd"] is None
    assert document["fabrics"][0]["unknown_price_parts"] > 0


def test_labels_of_one_place_are_printed(small: Design, tmp_path: Path) -> None:
    write_design(small, tmp_path, "A01")
    sheet = (tmp_path / "labels.html").read_text(encoding="utf-8")
    rows = pyarrow.parquet.read_table(tmp_path / "labels.parquet").to_pylist()
    for row in rows:
        assert (f">{row['label']}<" in sheet) == (row["near_rack"] == "A01")


def test_a_place_without_cables_writes_nothing(small: Design, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no cable ends there"):
        write_design(small, tmp_path / "out", "Z99")
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
def test_too_many_labels_are_left_out_with_a_note(tmp_path: Path) -> None:
    written = write_design(design(spec(200)), tmp_path)
    assert not (tmp_path / "labels.html").exists()
    assert "more than the 5,000 of one sheet; --labels-for" in written.notes[0]


def test_files_of_an_earlier_run_are_named(small: Design, tmp_path: Path) -> None:
    for name in ("labels.html", "fabric-storage.svg", "mine.svg"):
        (tmp_path / name).write_text("old")
    written = write_design(small, tmp_path)
    assert written.notes == (f"of an earlier run, not of this design: fabric-storage.svg in {tmp_path}",)
    assert (tmp_path / "fabric-storage.svg").read_text() == "old"


def test_prices_come_from_the_description_or_the_option(tmp_path: Path) -> None:
    for name, usd in (("a.csv", 10), ("b.csv", 20)):
        (tmp_path / name).write_text(f"part,price_usd\nSN5600,{usd}\n")
    switches = sum(design(spec(8)).document["fabrics"][0]["switches"].values())
    described = design(spec(8, prices=str(tmp_path / "a.csv")))
    assert described.document["price_usd"] == 10 * switches
    assert not any(text.startswith("prices") for text in described.assumptions)
    given = design(spec(8, prices=str(tmp_path / "a.csv")), tmp_path / "b.csv")
    assert given.document["price_usd"] == 20 * switches


def test_prices_of_inline_parts_are_known(tmp_path: Path) -> None:
    servers = {"model": {"gpus": 2, "nics": 2, "nic_rate": "400 Gb/s"}, "count": 4}
    described = {
        "servers": servers,
        "fabrics": {"topology": "leaf-spine", "switch": {"ports": 8, "rate": "400 Gb/s"}},
    }
    wanted = ClusterSpec.model_validate(described)
    part = next(iter(design(wanted).parts.switches))
    (tmp_path / "p.csv").write_text(f"part,price_usd\n{part},7\n")
    result = design(wanted, tmp_path / "p.csv")
    assert result.document["price_usd"] == 7 * sum(result.document["fabrics"][0]["switches"].values())
