"""Times of one algorithm over sizes, and how far measurements lay from such times → the range around one time.

Quantiles are known for three bands of sizes. Between the middles of bands they are interpolated, so that no range jumps; where
they narrow faster than the time grows, the limit stays where it was: more bytes are never sooner there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from gpufabric.records.calibration import BAND_CENTRES_BYTES, ResidualRange

Floats = NDArray[np.float64]
_CENTRES = np.log2(np.array(list(BAND_CENTRES_BYTES.values()), dtype=np.float64))
#: Powers of two between the outer centres: outside them quantiles are constant and a range follows its time.
_KNOTS = np.exp2(np.arange(_CENTRES[0], _CENTRES[-1] + 1))


def log_limits(bands: Sequence[ResidualRange], sizes_bytes: Floats, widened: bool) -> Floats:
    """Return logarithms of limit / time at 10, 90 and 97.5 %, linear in the logarithm of the size between bands' centres.

    Parameters
    ----------
    bands : sequence of ResidualRange
        Of small, middle and large messages.
    sizes_bytes : (n,) float64
    widened : bool
        Take the limits of clusters without another of their class.

    Returns
    -------
    (3, n) float64
    """
    places = np.log2(np.maximum(sizes_bytes, 1.0))
    names = ("new_low", "new_high", "new_slow") if widened else ("low", "high", "slow")
    return np.array([np.interp(places, _CENTRES, [getattr(band, name) for band in bands]) for name in names])


def range_of_time(
    times: Callable[[Floats], Floats], bands: Sequence[ResidualRange], widened: bool, size_bytes: int
) -> tuple[float, float, float]:
    """Return the seconds at 10, 90 and 97.5 % for one size; none of them falls as the size grows.

    Parameters
    ----------
    times : callable
        Sizes, (n,) float64 bytes → expected times, (n,) float64 seconds, that do not fall as sizes grow.
    bands, widened
        As :func:`log_limits` has them.
    size_bytes : int
    """
    sizes = np.concatenate([_KNOTS, [float(size_bytes)]])
    expected = times(sizes)
    with np.errstate(divide="ignore"):
        limits = np.log(expected) + log_limits(bands, sizes, widened)
    knots, (low, high, slow) = limits[:, :-1], limits[:, -1]
    lows = np.minimum.accumulate(knots[0, ::-1])[::-1]
    highs, slows = np.maximum.accumulate(knots[1:], axis=1)
    if _KNOTS[0] < size_bytes < _KNOTS[-1]:
        place, places = np.log2(float(size_bytes)), np.log2(_KNOTS)
        low, high, slow = (np.interp(place, places, values) for values in (lows, highs, slows))
    elif size_bytes <= _KNOTS[0]:
        low = min(low, lows[0])
    else:
        high, slow = max(high, highs[-1]), max(slow, slows[-1])
    time = float(expected[-1])
    most = max(float(np.exp(high)), time)
    return min(float(np.exp(low)), time), most, max(float(np.exp(slow)), most)
