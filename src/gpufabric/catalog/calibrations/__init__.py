"""Constants fitted to published measurements, by class, with their sources; never part of a part."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib import resources

from gpufabric.records.ring_range import RingRange


@cache
def load_ring_range() -> RingRange:
    """Return the class-wide range of measured / line-rate ring bus bandwidth (``ring_wide.toml``).

    Raises
    ------
    pydantic.ValidationError
        When the data file is wrong, which is a bug of this package.
    """
    text = resources.files(__name__).joinpath("ring_wide.toml").read_text(encoding="utf-8")
    return RingRange.model_validate(tomllib.loads(text))
