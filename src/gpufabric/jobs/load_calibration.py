"""A calibration's file, or none → the constants that predictions are made with."""

from __future__ import annotations

from gpufabric.catalog.calibrations import load_ring_range
from gpufabric.formats.calibration_toml import read_calibration
from gpufabric.records.calibration import Calibration
from gpufabric.records.ring_range import RingRange


def load_calibration(path: str | None) -> Calibration | RingRange:
    """Return the calibration in a file, or the shipped constants where none is named.

    Raises
    ------
    InputError
        If the file can't be read or is no calibration.
    """
    return read_calibration(path) if path else load_ring_range()
