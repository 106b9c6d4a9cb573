"""The script that fits the shipped calibration."""

from __future__ import annotations

import importlib.util
import sys
import tomllib
from collections import Counter
from pathlib import Path

import pytest

from gpufabric.records.ring_range import RingRange

SCRIPT = Path(__file__).parents[3] / "scripts" / "fit_wide_range.py"
ROW = {
    "cluster": "a", "kind": "measured", "source": "a page", "source_ref": "https://example.org/repo@abc notes.md",
    "gpus_per_node": "8", "scale_up": "NVLink4+NVSwitch", "scale_up_GBps_per_gpu_dir": "450", "nics_per_node": "8",
    "nic_Gbps": "400", "nodes": "2", "gpus": "16", "collective": "all_reduce", "bytes": "8589934592", "time_us": "",
    "busbw_GBps": "300",
}  # fmt: skip


@pytest.fixture(scope="module")
def fit():
    spec = importlib.util.spec_from_file_location("fit_wide_range", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    sys.modules["fit_wide_range"] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules["fit_wide_range"]


@pytest.mark.parametrize(
    ("changes", "limit", "gigabytes_per_s"),
    [
        ({}, "scale-out", 400),
        ({"nodes": "1", "gpus": "8"}, "scale-up", 450),
        ({"nodes": "1", "gpus": "5"}, "scale-up", 450),
        ({"nic_Gbps": "800"}, "scale-out", 450),
        ({"scale_up": "NVLink5 NVL72", "scale_up_GBps_per_gpu_dir": "900", "gpus_per_node": "4", "nodes": "18",
          "gpus": "72"}, "scale-up", 900),
        ({"scale_up": "NVLink5 NVL72", "scale_up_GBps_per_gpu_dir": "900", "gpus_per_node": "4", "nodes": "36",
          "gpus": "144", "nics_per_node": "1"}, "scale-out", 900),
    ],
)  # fmt: skip
def test_line_rate(fit, changes, limit, gigabytes_per_s):
    assert fit.line_rate({**ROW, **changes}) == (limit, pytest.approx(gigabytes_per_s * 1e9))


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"nic_Gbps": ""}, "no nic_Gbps"),
        ({"scale_up": "PCIe5 (no NVLink)"}, "no scale-up links"),
        ({"scale_up": "xGMI (7 links)", "nodes": "1", "gpus": "2"}, "part of a mesh of direct links"),
        ({"gpus": "4"}, "several servers used in part"),
        ({"kind": "vendor_expected"}, "not a measured all_reduce"),
        ({"busbw_GBps": "0"}, "busbw is zero"),
    ],
)
def test_rows_that_stay_out(fit, changes, reason):
    with pytest.raises(fit.LeftOutError, match=reason):
        fit.ratio_of({**ROW, **changes})


def test_time_is_more_exact_than_busbw(fit):
    assert fit.ratio_of({**ROW, "time_us": "40265.3184"}).ratio == pytest.approx(1.0, rel=1e-3)


def test_each_cluster_has_one_vote(fit):
    values, weights = [0.5] * 90 + [0.8] * 5 + [0.9] * 5, [1 / 90] * 90 + [1 / 5] * 10
    assert 0.8 <= fit.weighted_quantiles(values, weights)[2] < 0.9


def test_few_clusters_are_widened_and_the_document_loads(fit):
    few = [
        fit.ratio_of({**ROW, "cluster": c, "busbw_GBps": b})
        for c, b in zip("abc", ("300", "320", "340"), strict=True)
    ]
    document = tomllib.loads(fit.document(few, Counter({"no bytes": 2})))
    ring = RingRange.model_validate(document)
    (band,) = ring.ranges
    assert band.widened
    assert band.quantiles[0] < 0.75
    assert band.quantiles[4] > 0.85
    assert (ring.sources[0].url, ring.sources[0].commit, ring.sources[0].place) == (
        "https://example.org/repo",
        "abc",
        "notes.md",
    )
