"""The shipped calibration is whole, rising and sourced."""

from __future__ import annotations

from dataclasses import replace

import pytest
from pydantic import ValidationError

from gpufabric.catalog.calibrations import (
    fitted_clusters,
    load_collective_calibration,
    load_ring_range,
)
from gpufabric.errors import InputError
from gpufabric.records.job_situation import JobSituation
from gpufabric.records.ring_range import LEVELS, RingBand

BAND = {"limit": "scale-out", "min_bytes": 1, "clusters": 9, "rows": 20, "widened": False}


@pytest.mark.parametrize("limit", ["scale-up", "scale-out"])
@pytest.mark.parametrize("size", [1, 8, 2**20 - 1, 2**20, 2**24, 2**28, 2**33, 2**50])
def test_each_size_has_one_band(limit, size):
    ring = load_ring_range()
    matching = [b for b in ring.ranges if b.limit == limit and b.min_bytes <= size < (b.max_bytes or 2**63)]
    assert matching == [ring.band(limit, size)]


def test_no_band_below_one_byte():
    assert load_ring_range().band("scale-up", 0) is None


def test_bands_with_few_clusters_say_so():
    for band in load_ring_range().ranges:
        assert band.widened == (band.clusters < 5)
        assert band.clusters <= band.rows


def test_large_messages_come_near_the_line_rate():
    for limit in ("scale-up", "scale-out"):
        assert 0.7 < load_ring_range().band(limit, 2**33).quantiles[LEVELS.index(0.5)] < 1.0


def test_sources_are_public():
    ring = load_ring_range()
    assert ring.sources
    assert all(s.title for s in ring.sources)
    assert all(s.url.startswith("https://") for s in ring.sources if s.url)


def test_a_wrong_band_is_refused():
    with pytest.raises(ValidationError, match="rise"):
        RingBand.model_validate({**BAND, "quantiles": (0.5, 0.4, 0.6, 0.7, 0.8)})
    with pytest.raises(ValidationError):
        RingBand.model_validate({**BAND, "quantiles": (0.0, 0.4, 0.6, 0.7, 0.8)})


def test_every_gpu_part_has_a_class():
    calibration = load_collective_calibration()
    assert list(calibration.scale_ups)[-1] == "other"
    assert not calibration.scale_ups["other"].clusters
    for kind in ("switched", "mesh", "pcie", "none"):
        job = JobSituation(8, 2, 4, True, "no-such-gpu", kind, False, 1, "ethernet", "", 4, 50e9, False)
        assert calibration.scale_up_of(job) == ("pcie" if kind in ("pcie", "none") else "other")
        assert calibration.network_of(job) == "ethernet"
        assert calibration.network_of(replace(job, network="no-such")) == "other"
        assert calibration.network_of(replace(job, nodes=1)) == ""


def test_constants_of_collectives_are_whole_and_sourced():
    calibration = load_collective_calibration()
    assert calibration.clusters == len(fitted_clusters()) > 30
    assert calibration.rows > 1000
    assert len(calibration.sources) > 30
    assert all(s.title for s in calibration.sources)
    assert all(s.url.startswith("https://") for s in calibration.sources if s.url)
    for known in calibration.ranges.values():
        assert known.new_low <= known.low <= 0 <= known.high <= known.slow
        assert known.high <= known.new_high <= known.new_slow


@pytest.mark.slow
@pytest.mark.parametrize("cluster", fitted_clusters())
def test_a_cluster_that_is_left_out_is_nowhere_in_its_constants(cluster):
    whole, fold = load_collective_calibration(), load_collective_calibration(cluster)
    named = [c.clusters for c in (*fold.scale_ups.values(), *fold.networks.values())]
    assert all(cluster not in clusters for clusters in named)
    voted = any(cluster in c.clusters for c in (*whole.scale_ups.values(), *whole.networks.values()))
    assert (fold.protocols != whole.protocols) == voted


def test_an_unknown_cluster_is_one_line():
    with pytest.raises(InputError, match=r'cluster "nt_290" is not in the calibration.*Did you mean "nt290"'):
        load_collective_calibration("nt_290")
