"""A rehearsal of traffic → rows, logs and a page."""

import io
from dataclasses import replace

import pytest

from gpufabric.formats.nccl_tests_text import read_nccl_tests
from gpufabric.jobs.lab_traffic import LabTrafficResult, Situation, TrafficRow
from gpufabric.report.lab_traffic_table import situation_rows, summary_rows, traffic_files, traffic_rows


@pytest.fixture
def result():
    rows = tuple(
        TrafficRow(size, size / 14e6, 14e6, 24.5e6, 0, 24.8e6, 24.5 / 24.8 - 1) for size in (1 << 20, 1 << 24)
    )
    one = Situation("healthy", "all links <up>", "a to b", 12e6, 16e6, 24.8e6, rows)
    two = replace(one, name="link down")
    hosts = tuple(f"srv{number}" for number in range(8))
    return LabTrafficResult(
        "small", "gpu", 1, 2, ("2 of 4 leaves kept",), "all_reduce", 8, hosts, (one, two), ()
    )


def test_rows_have_measured_and_predicted_side_by_side(result):
    body = result.to_dict()
    assert list(traffic_rows(body))[1] == (
        "healthy", "16777216", "1198372.57", "0.0140", "0.0245", "0", "0.0248", "-1.2 %",
    )  # fmt: skip
    assert situation_rows(body)[0][-1] == "0.0120 … 0.0160 … 0.0248"
    assert summary_rows(body)[0] == ("fabric", "small: gpu, routing domain 1 of 2")


def test_logs_are_read_back_and_the_page_is_escaped(result):
    files = dict(traffic_files(result.to_dict(), 2))
    assert list(files) == ["healthy.txt", "link-down.txt", "measured-and-predicted.html"]
    said = read_nccl_tests(io.BytesIO(files["link-down.txt"].encode()), "log")
    (table,) = said.tables
    assert (table.op, table.ranks, said.findings) == ("all_reduce", 8, ())
    assert table.rows[2].time_s == pytest.approx((1 << 24) / 14e6)
    page = files["measured-and-predicted.html"]
    assert "all links &lt;up&gt;" in page
    assert "At 16M no situation is further than -1.2 % off" not in page
    assert "At 16M no situation is further than 1.2 % off its prediction" in page
