"""Captured nccl-tests outputs of every age and damage, and what a correct reader takes from them."""

from __future__ import annotations

import gzip
import io
from pathlib import Path

import pytest

from gpufabric.errors import InputError
from gpufabric.formats.nccl_tests_text import read_nccl_tests

CAPTURED = Path(__file__).parents[2] / "captured" / "nccl-tests"
ALL = sorted(CAPTURED.glob("*.txt"))
GB = 1e9


def read(name):
    return read_nccl_tests(CAPTURED / f"{name}.txt")


def text(lines):
    return read_nccl_tests(io.BytesIO("\n".join(lines).encode()), "log")


def rules(measured):
    return {f.rule for f in measured.findings}


HEADER = "#  size  count  type  redop  root  time  algbw  busbw  #wrong  time  algbw  busbw  #wrong"
ROW = "8388608 2097152 float sum -1 100.0 83.89 157.29 0 100.0 83.89 157.29 0"


@pytest.mark.parametrize(
    ("line", "library"),
    [
        ("rccl-tests: Version develop:0c1d2e3", "rccl"),
        ("RCCL version : 2.22.3-HEAD:abc1234", "rccl"),
        ("NCCL version 2.18.3+hip5.7 HEAD:1", "rccl"),
        ("Librccl path : /opt/rocm/lib/librccl.so.1", "rccl"),
        ("n1:7:8 [0] NCCL INFO NCCL version 2.27.3+cuda12.9", "nccl"),
        ("NCCL version 2.27.3+cuda12.9", "nccl"),
        ("# nccl-tests version 2.17.4 nccl-headers=22703 nccl-library=22703", ""),
    ],
)
def test_the_library_is_told_where_a_line_names_it_beyond_doubt(line, library):
    (table,) = text([line, HEADER, ROW]).tables
    assert table.library == library


@pytest.mark.parametrize(
    ("name", "op", "ranks", "source", "rows", "largest_busbw"),
    [
        ("indented-24-ranks", "all_reduce", 24, "device lines", 14, 349.41),
        ("tagged-elided", "all_reduce", 16, "bus factor", 14, 418.31),
        ("old-error-column", "all_reduce", 8, "device lines", 8, 76.51),
        ("last-device-line", "all_reduce", 192, "device lines", 12, 771.72),
        ("device-list-cut", "all_reduce", 32, "bus factor", 6, 323.15),
        ("two-runs-put-together", "all_reduce", 48, "bus factor", 10, 313.32),
        ("wrong-elements", "all_reduce", 16, "device lines", 6, 277.40),
        ("send-recv-cut-in-a-row", "send_recv", 2, "device lines", 9, 0.32),
    ],
)
def test_facts_of_one_table(name, op, ranks, source, rows, largest_busbw):
    measured = read(name)
    (table,) = measured.tables
    assert (table.op, table.ranks, table.ranks_source, len(table.rows)) == (op, ranks, source, rows)
    out_of_place = [r for r in table.rows if not r.in_place]
    assert out_of_place[-1].busbw_bytes_per_s == pytest.approx(largest_busbw * GB)
    assert all(r.consistent for r in table.rows)


@pytest.mark.parametrize("path", ALL, ids=lambda p: p.stem)
def test_only_a_cut_row_is_not_understood(path):
    assert read_nccl_tests(path).lines_not_understood == (1 if "cut-in-a-row" in path.stem else 0)


def test_first_and_last_row_and_its_line():
    table = read("indented-24-ranks").tables[0]
    first, last = table.rows[0], table.rows[-1]
    assert (first.line, first.size_bytes, first.count, first.in_place) == (32, 1 << 26, 1 << 24, False)
    assert (last.line, last.size_bytes, last.in_place) == (38, 1 << 32, True)
    assert last.time_s == pytest.approx(23458.1e-6)
    assert table.hosts == (("rack3-n4", 8), ("rack3-n5", 8), ("rack3-n6", 8))
    assert table.gpu_name == "NVIDIA H200"
    assert table.average_busbw_bytes_per_s == pytest.approx(302.569 * GB)


def test_relative_error_of_old_tables_is_no_count_of_wrong_elements():
    table = read("old-error-column").tables[0]
    assert {r.wrong for r in table.rows} == {None}
    assert table.root is None


def test_several_tests_types_and_columns_in_one_file():
    measured = read("statistics-then-all-gather")
    assert [(t.op, t.dtype, t.redop, len(t.rows), t.cpu_time) for t in measured.tables] == [
        ("reduce_scatter", "float", "sum", 8, False),
        ("reduce_scatter", "bfloat16", "sum", 8, False),
        ("all_gather", "float", "none", 4, True),
    ]
    assert measured.tables[0].library_version == "2.29.3+cuda13.1"
    assert measured.tables[2].library_version == "2.29.3"
    assert measured.tables[0].rows[1].time_s == pytest.approx(167.76e-6)
    assert measured.findings == ()


@pytest.mark.parametrize(
    ("name", "rule", "severity"),
    [
        ("tagged-elided", "measured-runs-mixed", "info"),
        ("two-runs-put-together", "measured-runs-mixed", "warning"),
        ("device-list-cut", "measured-ranks-unknown", "warning"),
        ("without-mpi", "measured-without-mpi", "warning"),
        ("wrong-elements", "measured-wrong-elements", "error"),
        ("failed-all-gather", "measured-test-failed", "error"),
        ("send-recv-cut-in-a-row", "measured-op-unknown", "info"),
        ("send-recv-cut-in-a-row", "measured-log-lines", "info"),
    ],
)
def test_what_is_odd_is_a_finding(name, rule, severity):
    assert (rule, severity) in {(f.rule, f.severity) for f in read(name).findings}


def test_a_cut_row_keeps_its_whole_half():
    rows = read("send-recv-cut-in-a-row").tables[0].rows
    assert (rows[-1].size_bytes, rows[-1].in_place) == (16384, False)


def spoilt(data, how):
    lines = data.decode().splitlines()
    made = {
        "crlf": "\r\n".join(lines),
        "bom": "\ufeff" + "\n".join(lines),
        "colours": "\n".join(f"\x1b[32m{line}\x1b[0m" for line in lines),
        "srun": "\n".join(f"0: {line}" for line in lines),
        "date": "\n".join(f"Mon Mar  9 10:11:12 2026[1,0]<stdout>:{line}" for line in lines),
        "kubectl": "\n".join(f"[pod/mpi-launcher-x7k2p/mpi] {line}" for line in lines),
        "iso": "\n".join(f"2026-03-09T10:11:12.123456Z {line}" for line in lines),
        "compose": "\n".join(f"launcher-1  | {line}" for line in lines),
        "tabs": "\n".join(line.replace("  ", "\t") for line in lines),
        "fence": "\n".join(["```", *lines, "```"]),
        "no hash": "\n".join(line.removeprefix("#") for line in lines if line.strip() != "#"),
        "indent": "\n".join(f"        {line}" for line in lines),
        "info": "\n".join(
            f"{line}\nn1:7:9 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[1] via P2P/IPC" for line in lines
        ),
    }
    return made[how].encode()


@pytest.mark.parametrize(
    "how",
    [
        "crlf", "bom", "colours", "srun", "date", "kubectl", "iso", "compose", "tabs", "fence", "no hash", "indent", "info",
    ],
)  # fmt: skip
def test_what_copying_and_launchers_do_changes_nothing(how):
    data = (CAPTURED / "indented-24-ranks.txt").read_bytes()
    expected, found = (read_nccl_tests(io.BytesIO(d), "log").tables for d in (data, spoilt(data, how)))
    assert [(t.op, t.ranks, t.hosts, t.gpu_name, t.average_busbw_bytes_per_s) for t in found] == [
        (t.op, t.ranks, t.hosts, t.gpu_name, t.average_busbw_bytes_per_s) for t in expected
    ]
    assert [(r.size_bytes, r.busbw_bytes_per_s, r.wrong) for r in found[0].rows] == [
        (r.size_bytes, r.busbw_bytes_per_s, r.wrong) for r in expected[0].rows
    ]


def test_rows_wrapped_by_a_terminal_are_joined():
    data = (CAPTURED / "indented-24-ranks.txt").read_text()
    wrapped = "\n".join(
        line[i : i + 80] for line in data.splitlines() for i in range(0, len(line), 80) or (0,)
    )
    rows = read_nccl_tests(io.BytesIO(wrapped.encode()), "log").tables[0].rows
    assert [r.busbw_bytes_per_s for r in rows] == [
        r.busbw_bytes_per_s for r in read("indented-24-ranks").tables[0].rows
    ]


@pytest.mark.parametrize(
    ("half", "consistent"),
    [
        ("0.00 83.89 157.29 0", False),
        ("0.00 0.00 0.00 0", False),
        ("0.00 0.00 157.29 0", False),
        ("100.0 83.89 157.29 0", True),
    ],
)
def test_a_time_of_0_for_data_that_moved_contradicts_itself(half, consistent):
    measured = text(
        ["# all_reduce_perf", HEADER, f"8388608 2097152 float sum -1 {half} 100.0 83.89 157.29 0"]
    )
    assert [r.consistent for r in measured.tables[0].rows] == [consistent, True]
    said = [f.message for f in measured.findings if f.rule == "measured-row-contradiction"]
    assert said == ([] if consistent else ["time is 0 although data moved in 1 half row; it is not judged"])


def test_a_time_of_0_for_no_data_is_fine():
    measured = text(["# all_reduce_perf", HEADER, "0 0 float sum -1 0.00 0.00 0.00 0 0.00 0.00 0.00 0", ROW])
    assert all(r.consistent for r in measured.tables[0].rows)


def test_failures_and_values_out_of_bounds_reach_the_tables():
    log = [
        HEADER,
        ROW,
        "# Out of bounds values : 1 FAILED",
        HEADER,
        ROW,
        "n1: Test failure common.cu:1",
        HEADER,
        ROW,
    ]
    measured = text(["# all_reduce_perf", *log])
    assert [(t.out_of_bounds, t.failed) for t in measured.tables] == [
        (True, False),
        (False, True),
        (False, False),
    ]
    assert "nccl-tests counted 1 value out of bounds" in {f.message for f in measured.findings}


def test_one_is_singular():
    lines = [HEADER, ROW, *["odd"] * 6, "n1:1:1 [0] NCCL WARN odd"]
    messages = {f.message for f in text(lines).findings}
    assert "1 more line was not understood" in messages
    assert "NCCL printed 1 warning; read it first" in messages


def test_rows_joined_in_one_line_are_told_apart():
    assert len(text([HEADER, f"{ROW} {ROW.replace('8388608', '16777216')}"]).tables[0].rows) == 4


def test_header_lost():
    table = text([ROW]).tables[0]
    assert (table.op, table.root, len(table.rows)) == ("all_reduce", -1, 2)


def test_gzip_and_utf16_and_a_broken_gzip(tmp_path):
    data = (CAPTURED / "indented-24-ranks.txt").read_bytes()
    (tmp_path / "a.gz").write_bytes(gzip.compress(data))
    (tmp_path / "b.txt").write_bytes(data.decode().encode("utf-16"))
    (tmp_path / "c.gz").write_bytes(gzip.compress(data)[:-200])
    assert len(read_nccl_tests(tmp_path / "a.gz").tables[0].rows) == 14
    assert len(read_nccl_tests(tmp_path / "b.txt").tables[0].rows) == 14
    assert "the file ends early" in read_nccl_tests(tmp_path / "c.gz").findings[-1].message


def test_in_place_only_rows():
    blank = " " * 32
    row = f"     8388608       2097152     float     sum      -1{blank}    100.0   83.89  157.29       0"
    (only,) = text([HEADER, row, "# done"]).tables[0].rows
    assert (only.in_place, only.busbw_bytes_per_s) == (True, pytest.approx(157.29 * GB))


def test_a_row_that_contradicts_itself_is_marked():
    measured = text([HEADER, ROW, ROW.replace("100.0 83.89 157.29 0 100.0", "400.0 83.89 157.29 0 100.0")])
    assert [r.consistent for r in measured.tables[0].rows] == [True, True, False, True]
    assert "measured-row-contradiction" in rules(measured)


def test_groups_of_ranks():
    lines = [
        f"#  Rank {r} Group {r % 2} Pid {50 + r} on h{r // 8} device {r % 8} [0x1a] NVIDIA H100"
        for r in range(32)
    ]
    table = text([*lines, HEADER, ROW]).tables[0]
    assert (table.ranks, table.groups) == (16, 2)


def test_unknown_lines_are_counted_and_not_echoed():
    measured = text(["export TOKEN=hunter2", HEADER, ROW, *(f"secret-{i}" for i in range(20))])
    assert measured.lines_not_understood == 21
    assert len([f for f in measured.findings if f.rule == "measured-log-lines"]) == 6
    assert "hunter2" not in str(measured)
    assert "secret" not in str(measured)


def test_a_second_run_without_devices_does_not_inherit_them():
    first = (CAPTURED / "wrong-elements.txt").read_text().splitlines()
    second = [HEADER, "8388608 2097152 float sum -1 100.0 83.89 125.84 0 100.0 83.89 125.83 0"]
    tables = text([*first, *second]).tables
    assert [(t.ranks, t.ranks_source) for t in tables] == [(16, "device lines"), (4, "bus factor")]


def test_a_file_without_rows_says_so():
    assert (
        read_nccl_tests(io.BytesIO(b""), "log").findings[0].message == "no result row of nccl-tests was found"
    )


def test_a_missing_file_is_one_line(tmp_path):
    with pytest.raises(InputError, match="can't be read") as caught:
        read_nccl_tests(tmp_path / "none.txt")
    assert "\n" not in str(caught.value)
    with pytest.raises(InputError, match="can't be read"):
        read_nccl_tests(tmp_path)


def test_statistics_without_a_header():
    row = "8388608 2097152 float sum -1 100.0 83.89 157.29 0 99.0 104.0 103.0 1.2 101.0 83.06 155.73 0 99.5 104.1 103.2 1.1"
    table = text([row]).tables[0]
    assert [r.time_s for r in table.rows] == [pytest.approx(100e-6), pytest.approx(101e-6)]


@pytest.mark.parametrize(
    ("line", "op"),
    [
        ("mpirun -np 16 ./build/all_gather_perf -b 8", "all_gather"),
        ("+ srun /opt/nccl-tests/build/sendrecv_perf_mpi -e 8G", "send_recv"),
        ("# Collective test starting: alltoall_perf", "all_to_all"),
        ("# Collective test starting: reduce_perf", "reduce"),
        ("# Collective test starting: scatter_perf", "scatter"),
    ],
)
def test_names_of_programs(line, op):
    assert (
        text([line, HEADER, "8388608 2097152 float none -1 100.0 83.89 83.89 0 100.0 83.89 83.89 0"])
        .tables[0]
        .op
        == op
    )


@pytest.mark.parametrize(
    ("printed", "wrong"), [("0", 0), ("5e-07", None), ("12", 12), ("1e+06", 1_000_000), ("N/A", None)]
)
def test_last_column_without_a_header(printed, wrong):
    rows = (
        text([f"8388608 2097152 float sum 100.0 83.89 157.29 {printed} 100.0 83.89 157.29 {printed}"])
        .tables[0]
        .rows
    )
    assert [r.wrong for r in rows] == [wrong, wrong]
