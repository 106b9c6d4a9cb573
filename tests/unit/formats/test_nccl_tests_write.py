"""What is written is what our reader reads."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpufabric.formats.nccl_tests_text import read_nccl_tests
from gpufabric.formats.nccl_tests_write import PROGRAMS, write_nccl_tests


def read(text):
    return read_nccl_tests(io.BytesIO(text.encode()), "log")


@pytest.mark.parametrize("op", PROGRAMS)
def test_operation_ranks_and_hosts_come_back(op):
    said = read(write_nccl_tests(op, [("a", 4), ("b", 4)], "NVIDIA H100", [(1 << 28, 1e-3), (1 << 33, 4e-2)]))
    (table,) = said.tables
    assert (table.op, table.ranks, table.hosts) == (op, 8, (("a", 4), ("b", 4)))
    assert [row.size_bytes for row in table.rows if not row.in_place] == [1 << 28, 1 << 33]
    assert all(row.consistent for row in table.rows)
    assert said.lines_not_understood == 0


@given(st.integers(2, 64), st.lists(st.floats(1e-5, 50.0), min_size=1, max_size=6))
def test_times_come_back(ranks, times):
    rows = [(1 << (26 + i), time) for i, time in enumerate(times)]
    (table,) = read(write_nccl_tests("all_reduce", [("a", ranks)], "NVIDIA B200", rows)).tables
    back = [row.time_s for row in table.rows if not row.in_place]
    assert back == pytest.approx(times, rel=1e-3)
