"""Labels of cables, cords and trunks: unique, and each end names the other."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpufabric.jobs.design import Design, design
from gpufabric.records.cluster_spec import ClusterSpec
from gpufabric.report.arrow_files import write_table_csv, write_table_parquet
from gpufabric.report.labels_table import labels_table

COLUMNS = [
    "label",
    "kind",
    "assembly",
    "end",
    "fabric",
    *(f"{end}_{name}" for end in ("near", "far") for name in ("rack", "u", "device", "port", "cage")),
    "far_ends",
    "cable_part",
    "length_m",
    "near_text",
    "far_text",
]
SMALL = {"topology": "rail-optimized", "switch": "qm9790", "tiers": 2}


def rows(result: Design) -> list[dict[str, Any]]:
    return labels_table(result.cluster, result.floor_plan, result.parts.by_id).to_pylist()


def test_each_cable_has_two_labels_that_name_each_other(designed: Callable[..., Design]) -> None:
    result = designed(8, **SMALL)
    table = labels_table(result.cluster, result.floor_plan, result.parts.by_id)
    assert table.column_names == COLUMNS
    found = table.to_pylist()
    assert len(found) == 2 * len(result.cluster.assemblies)
    assert len({row["label"] for row in found}) == len(found)
    for a, b in zip(found[::2], found[1::2], strict=True):
        assert (a["label"][:-1], a["end"], b["end"]) == (b["label"][:-1], "A", "B")
        assert (a["near_text"], a["far_text"]) == (b["far_text"], b["near_text"])
        assert a["far_device"] == b["near_device"]
        assert a["length_m"] == b["length_m"]


def test_a_label_says_where_its_plug_goes(designed: Callable[..., Design]) -> None:
    result = designed(8, **SMALL)
    first = next(row for row in rows(result) if row["near_device"] == "su01-srv02")
    rack, unit = first["near_rack"], first["near_u"]
    assert first["near_text"] == f"{rack}-U{unit:02d}:{first['near_port']}"
    assert (rack, unit) == ("A01", 9)
    assert first["near_port"].startswith("osfp")
    assert first["cable_part"] == "mfp7e10"


def test_without_a_floor_plan_a_text_names_the_device(designed: Callable[..., Design]) -> None:
    result = designed(4, **SMALL)
    row = labels_table(result.cluster).to_pylist()[0]
    assert row["near_text"] == f"{row['near_device']}:{row['near_port']}"
    assert row["near_rack"] is None
    assert row["near_u"] is None


def test_a_splitter_has_a_label_for_each_plug(designed: Callable[..., Design]) -> None:
    cables = {"server_leaf": {"technology": "dac", "length": "2 m"}}
    model = {"gpus": 2, "nics": 2, "nic_rate": "400 Gb/s", "connector": "osfp-flat"}
    result = designed(4, model, topology="leaf-spine", switch="sn5600", link_rate="400 Gb/s", cables=cables)
    found = rows(result)
    split = [row for row in found if row["far_ends"] > 1]
    assert split
    for row in split:
        others = [r for r in found if r["assembly"] == row["assembly"] and r["end"][0] != row["end"][0]]
        assert len(others) == row["far_ends"]
        assert row["far_text"] == ", ".join(r["near_text"] for r in others)
        assert {r["far_text"] for r in others} == {row["near_text"]}


def test_links_over_panels_have_cords_and_trunks(designed: Callable[..., Design]) -> None:
    result = designed(32, **SMALL, cables={"leaf_spine": {"trunk_fibres": 144}})
    found = rows(result)
    cords = [row for row in found if row["kind"] == "cord"]
    trunks = [row for row in found if row["kind"] == "trunk"]
    assert len(cords) == len(result.cluster.jumpers) > 0
    assert len(trunks) == 2 * len({row["assembly"] for row in cords}) > 0
    assert len({row["label"] for row in found}) == len(found)
    assert all(row["near_device"] is None and row["near_text"].endswith(" panel") for row in trunks)
    for lower, upper in zip(cords[::2], cords[1::2], strict=True):
        assert lower["far_text"] == upper["near_text"]
        assert (lower["end"], upper["end"]) == ("A", "B")


def test_the_same_cluster_gives_the_same_files(designed: Callable[..., Design], tmp_path: Path) -> None:
    for run in ("a", "b"):
        result = designed(8, **SMALL)
        table = labels_table(result.cluster, result.floor_plan, result.parts.by_id)
        write_table_csv(table, tmp_path / f"{run}.csv")
        write_table_parquet(table, tmp_path / f"{run}.parquet")
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()
    assert (tmp_path / "a.parquet").read_bytes() == (tmp_path / "b.parquet").read_bytes()


def test_no_cell_of_the_csv_starts_a_formula(tmp_path: Path) -> None:
    names = ["=1+1", "@x", "-x", "+x", "7", "x", None]
    table = pa.table({"plain": names, "coded": pa.array(names, pa.string()).dictionary_encode()})
    write_table_csv(table, tmp_path / "x.csv")
    lines = (tmp_path / "x.csv").read_bytes().split(b"\r\n")
    assert lines[1:7] == [
        b'"\'=1+1","\'=1+1"',
        b'"\'@x","\'@x"',
        b'"\'-x","\'-x"',
        b'"\'+x","\'+x"',
        b'"7","7"',
        b'"x","x"',
    ]


@pytest.mark.slow
@settings(max_examples=15, deadline=None)
@given(st.integers(1, 40), st.sampled_from(["leaf-spine", "rail-optimized", "fat-tree"]), st.booleans())
def test_labels_are_unique_and_cover_every_link(count: int, topology: str, trunks: bool) -> None:
    fabric: dict[str, Any] = {"topology": topology, "switch": {"ports": 16, "rate": "400 Gb/s"}}
    fabric["cables"] = {"leaf_spine": {"trunk_fibres": 24}} if trunks else {}
    servers = {
        "model": {"gpus": 2, "nics": 2, "nic_rate": "400 Gb/s", "connector": "osfp-flat"},
        "count": count,
    }
    spec = ClusterSpec.model_validate({"servers": servers, "fabrics": fabric})
    result = design(spec)
    found = rows(result)
    assert len({row["label"] for row in found}) == len(found)
    devices = {(row["near_device"], row["near_cage"]) for row in found if row["kind"] != "trunk"}
    ports = result.cluster.ports
    used = {*result.cluster.links.port_a.tolist(), *result.cluster.links.port_b.tolist()}
    assert len(devices) == len({(int(ports.device[p]), int(ports.cage[p])) for p in used})
