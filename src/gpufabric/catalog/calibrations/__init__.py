"""Constants fitted to published measurements, by class, with their sources; never part of a part."""

from __future__ import annotations

from gpufabric.catalog.calibrations.load_calibrations import (
    fitted_clusters,
    load_collective_calibration,
    load_ring_range,
)

__all__ = ["fitted_clusters", "load_collective_calibration", "load_ring_range"]
