"""The cabling plan as a table, CSV and Parquet."""

from __future__ import annotations

import csv
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

from gpufabric.report.arrow_files import write_table_csv, write_table_parquet
from gpufabric.report.cabling_plan import cabling_table

COLUMNS = [
    "link",
    "fabric",
    "plane",
    "rail",
    "kind",
    "a_device",
    "a_port",
    "a_cage",
    "a_lane",
    "a_rack",
    "a_u",
    "b_device",
    "b_port",
    "b_cage",
    "b_lane",
    "b_rack",
    "b_u",
    "rate_gbps",
    "assembly",
    "cable_part",
    "a_transceiver",
    "b_transceiver",
    "length_m",
]
Build = Callable[..., tuple[Any, Any]]


@pytest.fixture
def plan(built: Build) -> Any:
    return built(4, topology="rail-optimized", switch="qm9790", tiers=2, managers={"count": 1, "links": 1})


def read_csv(table: pa.Table, folder: Path) -> list[list[str]]:
    path = folder / "plan.csv"
    write_table_csv(table, path)
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.reader(file, strict=True))


def test_there_is_one_row_a_link_with_both_ends(plan: Any) -> None:
    cluster, parts = plan
    table = cabling_table(cluster, parts)
    assert table.column_names == COLUMNS
    rows = table.to_pylist()
    assert len(rows) == len(cluster.links)
    first = rows[0]
    assert (first["fabric"], first["plane"], first["rail"], first["kind"]) == ("compute", 1, 1, "server_leaf")
    assert (first["a_device"], first["b_device"], first["rate_gbps"]) == ("su01-srv01", "leaf-su01-r1", 400.0)
    assert first["a_port"] == f"osfp{first['a_cage']}/{first['a_lane']}"
    assert first["a_rack"] is None
    assert first["length_m"] is None
    assert rows[-1]["kind"] == "other"
    assert rows[-1]["a_device"] == "mgr-01"
    assert {row["kind"] for row in rows} == {"server_leaf", "leaf_spine", "other"}


def test_each_port_is_in_one_row(plan: Any) -> None:
    rows = cabling_table(*plan).to_pylist()
    ends = [(row[f"{end}_device"], row[f"{end}_port"]) for row in rows for end in "ab"]
    assert len(set(ends)) == len(ends)


def test_transceivers_are_those_of_the_cage(plan: Any) -> None:
    cluster, parts = plan
    modules = cluster.modules
    of_cage = {(d, c): p for d, c, p in zip(modules.device, modules.cage, modules.part, strict=True)}
    table = cabling_table(cluster, parts)
    for end, rows in (("a", cluster.links.port_a), ("b", cluster.links.port_b)):
        ports = [(cluster.ports.device[r], cluster.ports.cage[r]) for r in rows]
        wanted = [of_cage.get(port, -1) for port in ports]
        assert table[f"{end}_transceiver"].to_pylist() == [
            None if p < 0 else cluster.parts[p] for p in wanted
        ]
    assert sum(text is not None for text in table["a_transceiver"].to_pylist()) > 0


def test_racks_and_lengths_appear_when_they_are_known(plan: Any) -> None:
    cluster, _ = plan
    known = replace(
        cluster,
        devices=replace(cluster.devices, rack=np.arange(len(cluster.devices), dtype=np.int32)),
        assemblies=replace(cluster.assemblies, length_m=np.full(len(cluster.assemblies), 2.5)),
    )
    first = cabling_table(known).slice(0, 1).to_pylist()[0]
    assert (first["a_rack"], first["length_m"]) == ("1", 2.5)


def test_csv_is_rfc_4180_and_says_what_the_table_says(plan: Any, tmp_path: Path) -> None:
    table = cabling_table(*plan)
    rows = read_csv(table, tmp_path)
    assert rows[0] == COLUMNS
    texts = [["" if value is None else value for value in row.values()] for row in table.to_pylist()]
    found = [
        [type(value)(cell) if value != "" else cell for cell, value in zip(row, text, strict=True)]
        for row, text in zip(rows[1:], texts, strict=True)
    ]
    assert found == texts
    data = (tmp_path / "plan.csv").read_bytes()
    assert data.count(b"\r\n") == data.count(b"\n") == len(rows)


@pytest.mark.parametrize(
    "name",
    [
        "=cmd|' /C calc'!A0",
        "+1",
        "-2+3",
        "@SUM(A1)",
        "\tx",
        "\r=1",
        'a"b,c',
        "line\nend",
        "\x1b[31mred",
        "\udc80",
    ],
)
def test_hostile_names_can_not_run_break_or_colour_anything(plan: Any, tmp_path: Path, name: str) -> None:
    cluster, parts = plan
    names = (name, *(f"d{i}" for i in range(1, len(cluster.devices))))
    table = cabling_table(replace(cluster, devices=replace(cluster.devices, names=names)), parts)
    rows = read_csv(table, tmp_path)
    assert len(rows) == len(cluster.links) + 1
    assert {len(row) for row in rows} == {len(COLUMNS)}
    assert not [cell for row in rows for cell in row if cell.startswith(("=", "+", "-", "@", "\t", "\r"))]
    assert all(cell.isprintable() for row in rows for cell in row)


def test_a_gigantic_name_is_cut(plan: Any) -> None:
    cluster, parts = plan
    names = ("x" * 1_000_000, *(f"d{i}" for i in range(1, len(cluster.devices))))
    table = cabling_table(replace(cluster, devices=replace(cluster.devices, names=names)), parts)
    assert max(len(name) for name in table["a_device"].to_pylist()) <= 1000


def test_parquet_gives_the_table_back_and_equal_input_equal_bytes(plan: Any, tmp_path: Path) -> None:
    paths = [tmp_path / "one.parquet", tmp_path / "two.parquet"]
    for path in paths:
        write_table_parquet(cabling_table(*plan), path)
    assert paths[0].read_bytes() == paths[1].read_bytes()
    table = pa.parquet.read_table(paths[0])
    assert table.to_pylist() == cabling_table(*plan).to_pylist()
    assert table.schema.metadata[b"format"] == b"gpufabric/1"


def test_a_cluster_without_links_gives_a_header_only(built: Build, tmp_path: Path) -> None:
    cluster, _ = built(1, topology="single-switch", switch="qm9790")
    nothing = np.empty(0, np.int32)
    bare = replace(
        cluster,
        links=replace(
            cluster.links, port_a=nothing, port_b=nothing, bytes_per_s=np.empty(0), assembly=nothing
        ),
    )
    assert read_csv(cabling_table(bare), tmp_path) == [COLUMNS]


@pytest.mark.slow
def test_a_large_plan_is_written_in_one_piece_after_another(built: Build, tmp_path: Path) -> None:
    one = {"gpus": 1, "nics": 1, "nic_rate": "400 Gb/s"}
    cluster, _ = built(70_000, one, topology="single-switch", switch={"ports": 70_000, "rate": "400 Gb/s"})
    rows = read_csv(cabling_table(cluster), tmp_path)
    assert len(rows) == 70_001
    assert [row[0] for row in rows[1:]] == [str(i) for i in range(70_000)]
