"""Hostile and damaged nccl-tests output: never an exception, bounded memory."""

from __future__ import annotations

import gzip
import io
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpufabric.formats import log_lines
from gpufabric.formats.log_lines import MAX_LINE_CHARS, LogFile
from gpufabric.formats.nccl_tests_run import MAX_TABLES
from gpufabric.formats.nccl_tests_text import read_nccl_tests

CAPTURED = [p.read_bytes() for p in sorted((Path(__file__).parents[2] / "captured/nccl-tests").glob("*.txt"))]
SPLICE = st.sampled_from(
    [b"\x00", b"\xff\xfe", b"\x1b[31m", b"\r", b"\n", b"\t", b"1e999", b"-", b"99999999999999999999", b"nan", b"N/A", b" ", b"# "]
) | st.binary(max_size=8)  # fmt: skip


class Endless(io.RawIOBase):
    """A line of *size* characters that is never in memory as a whole, then a row."""

    ROW = b"\n8388608 2097152 float sum -1 100.0 83.89 157.29 0 100.0 83.89 157.29 0\n"

    def __init__(self, size):
        self.left = size
        self.tail = self.ROW

    def readable(self):
        return True

    def readinto(self, buffer):
        take = min(len(buffer), self.left)
        if take:
            buffer[:take] = b"9" * take
            self.left -= take
            return take
        part, self.tail = self.tail[: len(buffer)], self.tail[len(buffer) :]
        buffer[: len(part)] = part
        return len(part)


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_damage_never_raises(data):
    log = data.draw(st.sampled_from(CAPTURED))
    for _ in range(data.draw(st.integers(1, 6))):
        start = data.draw(st.integers(0, len(log)))
        end = min(len(log), start + data.draw(st.integers(0, 120)))
        log = log[:start] + data.draw(SPLICE) + log[end:]
    measured = read_nccl_tests(io.BytesIO(log), "log")
    assert (
        0 <= measured.lines_not_understood <= measured.lines_read + len(measured.tables) + log.count(b"sum")
    )
    for table in measured.tables:
        assert table.ranks is None or table.ranks >= 1
        assert all(row.time_s >= 0 and row.busbw_bytes_per_s >= 0 for row in table.rows)


@settings(max_examples=80, deadline=None)
@given(st.text(max_size=400) | st.text(alphabet="0123456789 .-e#sum floatNA/\n\t", max_size=400))
def test_any_text_never_raises(log):
    measured = read_nccl_tests(io.BytesIO(log.encode("utf-8", "surrogatepass")), "log")
    assert measured.lines_read >= 0


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 4000))
def test_a_log_cut_anywhere_loses_only_its_end(cut):
    whole = CAPTURED[0]
    rows = read_nccl_tests(io.BytesIO(whole), "log").tables[0].rows
    found = read_nccl_tests(io.BytesIO(whole[:cut]), "log").tables
    sizes = [(r.size_bytes, r.time_s, r.busbw_bytes_per_s) for t in found for r in t.rows]
    assert sizes == [(r.size_bytes, r.time_s, r.busbw_bytes_per_s) for r in rows][: len(sizes)]


def test_a_line_without_end_needs_no_memory():
    tracemalloc.start()
    measured = read_nccl_tests(Endless(48 << 20), "log")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 4 << 20
    assert len(measured.tables[0].rows) == 2
    assert measured.lines_not_understood == 1


@pytest.mark.parametrize("unit", [b"1 ", b"1 1 float sum ", b"Rank 1 Pid ", b"\t", b"\x1b[", b"# Rank 9 "])
def test_no_pattern_is_slow_on_a_full_line(unit):
    line = unit * (MAX_LINE_CHARS // len(unit))
    assert read_nccl_tests(io.BytesIO(line), "log").lines_read == 1


def test_terminal_codes_and_long_names_are_harmless():
    name = "evil\x1b]0;title\x07" + "x" * 500
    log = f"#  Rank  0 Group  0 Pid 1 on host device 0 [0x1] {name}\n8 2 float sum -1 1.0 0.01 0.02 0 1.0 0.01 0.02 0"
    (table,) = read_nccl_tests(io.BytesIO(log.encode()), "log").tables
    assert table.gpu_name.isprintable()
    assert len(table.gpu_name) <= 80


def test_lines_are_numbered_and_cut():
    lines = list(LogFile(io.BytesIO(b"a\n" + b"b" * (MAX_LINE_CHARS + 5) + b"\nc")).lines())
    assert [(line.number, line.text[:1], line.cut) for line in lines] == [
        (1, "a", False),
        (2, "b", True),
        (3, "c", False),
    ]


def test_floods_are_bounded():
    rows = "".join(
        f"8388608 2097152 {t} sum -1 100.0 83.89 157.29 0 100.0 83.89 157.29 0\n"
        for t in ("float", "half") * 900
    )
    failures = "n1: Test failure common.cu:1\n" * 5000
    measured = read_nccl_tests(io.BytesIO((rows + failures + "odd\n" * 5000).encode()), "log")
    assert len(measured.tables) == MAX_TABLES
    assert len(measured.findings) < 4 * MAX_TABLES


@pytest.mark.slow
@pytest.mark.parametrize("members", [1, 12])
def test_a_gzip_bomb_stops_soon_and_says_so(members):
    bomb = gzip.compress(b"\n" * (24_000_000 // members)) * members
    measured = read_nccl_tests(io.BytesIO(bomb), "log")
    assert 0 < measured.lines_read < 4_000_000
    assert "expands to more than 200 times" in measured.findings[0].message
    assert measured.findings[-1].severity == "error"


def test_a_log_that_compresses_well_is_read_whole():
    rows = (CAPTURED[0] + b"\n" * 3000) * 60
    packed = gzip.compress(rows)
    assert len(rows) > 30 * len(packed)
    measured = read_nccl_tests(io.BytesIO(packed), "log")
    assert measured.lines_read == len(rows.splitlines())
    assert not any("ends early" in f.message for f in measured.findings)


def test_lines_beyond_the_limit_are_not_read(monkeypatch):
    monkeypatch.setattr(log_lines, "MAX_LINES", 7)
    for lines, stops in ((7, False), (8, True)):
        measured = read_nccl_tests(io.BytesIO(b"odd\n" * lines), "log")
        assert measured.lines_read == measured.lines_not_understood == 7
        assert any("longer than 7 lines" in f.message for f in measured.findings) == stops


def test_blank_lines_keep_their_numbers_and_only_the_first_of_a_run_is_looked_at():
    log = LogFile(io.BytesIO(b"a\n\n \n\t\nb\n\n\n"))
    assert [(line.number, line.text) for line in log.lines()] == [(1, "a"), (2, ""), (5, "b"), (6, "")]
    assert log.lines_read == 7


def test_a_blank_line_ends_a_row():
    half = "8388608 2097152 float sum -1 100.0 83.89 157.29 0"
    table = read_nccl_tests(io.BytesIO(f"{half}\n\n\n100.0 83.89 157.29 0\n".encode()), "log").tables[0]
    assert [row.in_place for row in table.rows] == [False]


@pytest.mark.parametrize(
    "prefix", ["", "3: ", "[1,3]<stdout>:", "2024-05-01 10:20:30 ", "worker-0  | ", "12:"]
)
def test_what_launchers_put_before_an_empty_line_is_understood(prefix):
    assert read_nccl_tests(io.BytesIO(f"{prefix}\n".encode()), "log").lines_not_understood == 0


def test_a_stream_that_was_handed_over_stays_open():
    stream = io.BytesIO(CAPTURED[0])
    read_nccl_tests(stream, "log")
    assert not stream.closed
