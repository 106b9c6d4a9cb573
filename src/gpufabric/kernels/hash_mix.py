"""Integer keys → well mixed 64-bit numbers, the same on every machine."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def hash_mix(key: NDArray[np.int64], salt: int) -> NDArray[np.uint64]:
    """Return a hash of each key under a salt.

    Parameters
    ----------
    key : int64 array
    salt : int
        Non-negative; another salt gives another, independent hash.

    Returns
    -------
    uint64 array of the same shape

    Notes
    -----
    The finaliser of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014), applied twice so that the salt is mixed as well as the key.
    """
    return _finalise(key.astype(np.uint64) ^ _finalise(np.array([salt], np.uint64)))


def _finalise(value: NDArray[np.uint64]) -> NDArray[np.uint64]:
    value = value + np.uint64(0x9E3779B97F4A7C15)
    value = (value ^ (value >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    value = (value ^ (value >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return value ^ (value >> np.uint64(31))
