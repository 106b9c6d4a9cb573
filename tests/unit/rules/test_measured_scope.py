"""Which tables of a log a cluster can judge."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gpufabric.records.measurements import MeasuredTable
from gpufabric.rules.measured_scope import check, model_code, other_library, why_not_judged

TABLE = MeasuredTable("all_reduce", "float", "sum", -1, 128, (), "NVIDIA B200", ())


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({}, ""),
        ({"ranks": 8}, ""),
        ({"ranks": 4}, ""),
        ({"ranks": 1016}, ""),
        ({"ranks": 1024}, "more than the 1,016 GPUs"),
        ({"ranks": 12}, "do not fill servers"),
        ({"ranks": 1}, "one rank"),
        ({"ranks": None}, "ranks is unknown"),
        ({"op": "all_gather"}, ""),
        ({"op": "all_to_all_v"}, "operation is all_to_all_v"),
        ({"op": None}, "operation is unknown"),
        ({"groups": 4}, "4 groups"),
        ({"cpu_time": True}, "host's calls"),
    ],
)
def test_why_not_judged(changes, words):
    reason = why_not_judged(replace(TABLE, **changes), 1016, 8)
    assert words in reason
    assert bool(reason) == bool(words)


@pytest.mark.parametrize(
    ("found", "expected", "mismatch"),
    [
        ("NVIDIA B200", "B200", False),
        ("NVIDIA H100 80GB HBM3", "H100 SXM", False),
        ("NVIDIA H100 80GB HBM3", "B200", True),
        ("NVIDIA H20", "H200", True),
        ("NVIDIA Graphics Device", "GB200", False),
        ("AMD Instinct MI300X", "Instinct MI300X", False),
        ("", "B200", False),
        ("NVIDIA B200", "", False),
    ],
)
def test_gpu_of_log_and_description(found, expected, mismatch):
    findings = check(replace(TABLE, gpu_name=found), expected, 1016, "run.log")
    assert [f.rule for f in findings] == (["measured-gpu-mismatch"] if mismatch else [])


@pytest.mark.parametrize(
    ("found", "libraries", "mismatch"),
    [
        ("rccl", ("nccl",), True),
        ("nccl", ("rccl",), True),
        ("nccl", ("nccl",), False),
        ("", ("nccl",), False),
        ("rccl", (), False),
    ],
)
def test_library_of_log_and_description(found, libraries, mismatch):
    table = replace(TABLE, library=found)
    findings = check(table, "B200", 1016, "run.log", libraries)
    assert [f.rule for f in findings] == (["measured-library-mismatch"] if mismatch else [])
    assert bool(other_library(table, libraries)) == mismatch


def test_more_ranks_than_gpus_is_an_error():
    (finding,) = check(TABLE, "B200", 64, "run.log")
    assert (finding.rule, finding.severity) == ("measured-ranks-mismatch", "error")


@pytest.mark.parametrize(
    ("name", "code"),
    [("A100-SXM4-40GB", "A100"), ("NVIDIA GB200", "GB200"), ("Tesla V100-PCIE-16GB", "V100"), ("GPU", "")],
)
def test_model_code(name, code):
    assert model_code(name) == code
