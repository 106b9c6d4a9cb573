"""Which rows of a log are held against a prediction."""

from pathlib import Path

import pytest

from gpufabric.errors import InputError
from gpufabric.jobs.collective import CollectiveOptions, predict_collective
from gpufabric.jobs.measured_points import measured_points

LOG = str(Path(__file__).parents[3] / "examples" / "logs" / "b200-128r-healthy.txt")


def predicted(wire, servers):
    wired = wire("dgx-b200", servers, "rail-optimized", "qm9790")
    return predict_collective(*wired, "all_reduce", [1 << 30], CollectiveOptions())[0]


def test_rows_of_the_same_job_are_taken(wire):
    rows = measured_points(LOG, predicted(wire, 16))
    assert {row.in_place for row in rows} == {False, True}
    assert all(row.time_s > 0 and row.busbw_bytes_per_s > 0 for row in rows)


def test_a_log_of_another_job_is_refused_with_what_was_found(wire):
    with pytest.raises(
        InputError, match=r"no row of all_reduce over 64 ranks is in it \(found: all_reduce over 128 ranks\)"
    ):
        measured_points(LOG, predicted(wire, 8))


def test_a_file_without_a_table_is_refused(wire, tmp_path):
    path = tmp_path / "empty.txt"
    path.write_text("nothing here\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"found: no table"):
        measured_points(str(path), predicted(wire, 8))
