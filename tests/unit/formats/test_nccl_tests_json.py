"""The JSON file of nccl-tests, whole and stopped."""

from pathlib import Path

import pytest

from gpufabric.formats import nccl_tests_json

CAPTURED = Path(__file__).parents[2] / "captured" / "nccl-tests-json"


def test_a_whole_file():
    read = nccl_tests_json.read(CAPTURED / "four-ranks.json")
    (table,) = read.tables
    assert (table.op, table.dtype, table.redop, table.root, table.ranks) == (
        "all_reduce",
        "float",
        "sum",
        -1,
        4,
    )
    assert (table.hosts, table.gpu_name, table.library_version) == (
        (("jn0", 2), ("jn1", 2)),
        "NVIDIA H200",
        "2.27.5",
    )
    assert [(row.size_bytes, row.in_place) for row in table.rows] == [
        (1 << 20, False),
        (1 << 24, False),
        (1 << 24, True),
        (1 << 28, False),
        (1 << 28, True),
    ]
    assert table.rows[0].time_s == pytest.approx(40e-6)
    assert [row.wrong for row in table.rows] == [0, 0, None, 0, None]
    assert all(row.consistent for row in table.rows)
    lines = (CAPTURED / "four-ranks.json").read_text().splitlines()
    assert all(f'"size": {row.size_bytes}' in lines[row.line - 1] for row in table.rows)
    assert (read.findings, read.lines_not_understood) == ((), 0)


def test_a_test_that_was_stopped_gives_its_whole_rows():
    read = nccl_tests_json.read(CAPTURED / "stopped-in-last-row.json")
    (table,) = read.tables
    assert (table.op, table.ranks, table.library_version) == ("all_reduce", 4, "2.27.5")
    assert {row.size_bytes for row in table.rows} == {1 << 20, 1 << 24}
    assert "input-cut" in {finding.rule for finding in read.findings}


@pytest.mark.parametrize("name", ["four-ranks.json", "stopped-in-last-row.json"])
def test_the_environment_is_never_shown(name):
    assert "never-show-this" not in str(nccl_tests_json.read(CAPTURED / name))


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{}", "[" * 5000, '{"results": [1, {"size": 8}, null]}', '{"results": [{"size": 1e999}]}'],
)
def test_other_json_says_so(tmp_path, text):
    path = tmp_path / "x.json"
    path.write_text(text)
    read = nccl_tests_json.read(path)
    assert read.tables == ()
    assert "input-cut" in {finding.rule for finding in read.findings}
