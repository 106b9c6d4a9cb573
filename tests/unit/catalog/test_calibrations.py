"""The shipped calibration is whole, rising and sourced."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from gpufabric.catalog.calibrations import load_ring_range
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
