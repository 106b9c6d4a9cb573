"""Where ranks ran, read from logs of nccl-tests and of NCCL."""

from pathlib import Path

import pytest

from gpufabric.errors import InputError
from gpufabric.formats import rank_log

CAPTURED = Path(__file__).parents[2] / "captured"


def test_device_lines_of_nccl_tests():
    found = rank_log.read(CAPTURED / "nccl-tests" / "indented-24-ranks.txt")
    assert found.host == tuple(f"rack3-n{node}" for node in (4, 5, 6) for _ in range(8))
    assert found.gpu == tuple(range(8)) * 3
    assert set(found.ranks) == {1}


def test_lines_of_nccl_are_taken_by_rank_and_by_the_largest_communicator():
    found = rank_log.read(CAPTURED / "ranks" / "nccl-debug.log")
    assert found.host == ("cab1", "cab1", "cab2", "cab2")
    assert found.gpu == (3, 1, 5, 4)
    assert found.source == "log nccl-debug.log"


def test_a_log_names_the_gpus(tmp_path):
    line = "#  Rank {} Group  0 Pid  1 on  h1 device  {} [0000:1a:00] NVIDIA A100-SXM4-40GB"
    assert (
        rank_log.read(_log(tmp_path, *(line.format(i, i) for i in range(2)))).gpu_name
        == "NVIDIA A100-SXM4-40GB"
    )
    assert rank_log.read(CAPTURED / "ranks" / "nccl-debug.log").gpu_name == ""


def _log(tmp_path, *lines):
    path = tmp_path / "a.log"
    path.write_text("\n".join(lines))
    return path


def test_processes_that_each_see_one_gpu_say_nothing_of_which(tmp_path):
    line = "#  Rank {} Group  0 Pid  1 on  h1 device  0 [0000:1a:00] NVIDIA H100"
    assert rank_log.read(_log(tmp_path, line.format(0), line.format(1))).gpu == (-1, -1)


def test_without_ranks_the_order_of_appearance_stands(tmp_path):
    lines = [
        f"{host}:7:8 [{gpu}] NCCL INFO NET/IB : x" for host, gpu in (("b", 1), ("a", 0), ("b", 1), ("b", 0))
    ]
    found = rank_log.read(_log(tmp_path, *lines))
    assert list(zip(found.host, found.gpu, strict=True)) == [("b", 1), ("a", 0), ("b", 0)]


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        (["nothing here"], "tells of no rank"),
        (["# Rank 0 Pid 1 on a device 0 [0x1] X", "# Rank 2 Pid 1 on a device 1 [0x1] X"], "not of rank 1"),
        (["# Rank 99999999999 Pid 1 on a device 0 [0x1] X"], "tells of no rank"),
    ],
)
def test_what_is_missing_is_said(tmp_path, lines, reason):
    with pytest.raises(InputError, match=reason):
        rank_log.read(_log(tmp_path, *lines))
