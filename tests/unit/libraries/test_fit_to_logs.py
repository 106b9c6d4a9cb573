from __future__ import annotations

import math
from dataclasses import replace

import pytest

from gpufabric.catalog.calibrations import load_collective_calibration
from gpufabric.libraries.estimate import estimate
from gpufabric.libraries.fit_to_logs import Observation, refit
from gpufabric.records.calibration import Adjustment, Calibration
from gpufabric.records.job_situation import JobSituation
from gpufabric.records.priced_algorithm import PricedAlgorithm

RING = PricedAlgorithm(
    op="all_reduce",
    algorithm="ring",
    ranks=8,
    nodes=1,
    channels=8,
    line_bytes_per_s=257e9,
    inside_bytes_per_s=257e9,
    fabric_bytes_per_s=math.inf,
    inside_steps=14,
    fabric_steps=0,
    path_latency_s=0.0,
    bottleneck="",
)
JOB = JobSituation(8, 1, 8, True, "h100-sxm", "switched", False, 1, "", "", 0, 0.0, False)
CANDIDATES = ((RING, "ll"), (RING, "simple"))
CALIBRATION = load_collective_calibration()


def measured(calibration: Calibration, sizes: list[int], situation: JobSituation = JOB) -> list[Observation]:
    """Return what a cluster shows that is exactly as *calibration* says."""
    times = [min(estimate(a, p, situation, calibration, s).time_s for a, p in CANDIDATES) for s in sizes]
    return [Observation(CANDIDATES, situation, s, t) for s, t in zip(sizes, times, strict=True)]


def with_factor(protocol: str, latency: float, rate: float) -> Calibration:
    factor = Adjustment(
        scale_up="nvlink4",
        network="",
        protocol=protocol,
        latency_factor=latency,
        rate_factor=rate,
        observations=1,
    )
    return CALIBRATION.model_copy(update={"adjustments": (factor,)})


SIZES = [8 << i for i in range(31)]


def test_a_cluster_as_published_changes_nothing():
    fitted, changes = refit(CALIBRATION, measured(CALIBRATION, SIZES))
    assert {c.protocol for c in changes} == {"ll", "simple"}
    for change in changes:
        assert change.latency_factor == pytest.approx(1)
        assert change.rate_factor == pytest.approx(1)
        assert change.error_before == pytest.approx(0)
    assert estimate(RING, "ll", JOB, fitted, 1024).time_s == pytest.approx(
        estimate(RING, "ll", JOB, CALIBRATION, 1024).time_s
    )


def test_many_measurements_bring_out_what_is_different():
    sizes = [s for s in SIZES for _ in range(10)]
    _, changes = refit(CALIBRATION, measured(with_factor("ll", 1.5, 1.0), sizes))
    assert next(c for c in changes if c.protocol == "ll").latency_factor == pytest.approx(1.5, rel=0.03)
    fitted, changes = refit(CALIBRATION, measured(with_factor("simple", 1.0, 0.8), sizes))
    change = next(c for c in changes if c.protocol == "simple")
    assert change.rate_factor == pytest.approx(0.8, rel=0.03)
    assert change.error_after < change.error_before / 3
    assert fitted.adjustments


def test_one_measurement_moves_less_than_many():
    slow = with_factor("simple", 1.0, 0.7)
    one = refit(CALIBRATION, measured(slow, [8 << 30]))[1][0].rate_factor
    many = refit(CALIBRATION, measured(slow, [8 << 30] * 30))[1][0].rate_factor
    assert 0.7 < many < one < 1.0


def test_one_wild_measurement_hardly_counts():
    sane = measured(CALIBRATION, SIZES * 5)
    wild = [replace(sane[20], time_s=sane[20].time_s * 50)]
    for change in refit(CALIBRATION, sane + wild)[1]:
        assert change.latency_factor == pytest.approx(1, abs=0.05)
        assert change.rate_factor == pytest.approx(1, abs=0.05)


def test_what_can_not_be_used_does_not_count():
    useless = [
        Observation((), JOB, 8, 1e-5),
        Observation(CANDIDATES, JOB, 0, 1e-5),
        Observation(CANDIDATES, JOB, 8, 0.0),
        Observation(CANDIDATES, JOB, 8, math.inf),
        Observation(CANDIDATES, JOB, 8, math.nan),
    ]
    fitted, changes = refit(CALIBRATION, useless)
    assert changes == ()
    assert fitted == CALIBRATION


def test_earlier_factors_of_a_measured_class_are_replaced_and_others_stay():
    other = Adjustment(
        scale_up="xgmi", network="", protocol="ll", latency_factor=3, rate_factor=1, observations=4
    )
    before = with_factor("ll", 9.0, 1.0)
    before = before.model_copy(update={"adjustments": (*before.adjustments, other)})
    fitted, _ = refit(before, measured(CALIBRATION, SIZES))
    assert other in fitted.adjustments
    own = next(a for a in fitted.adjustments if (a.scale_up, a.protocol) == ("nvlink4", "ll"))
    assert own.latency_factor == pytest.approx(1)
