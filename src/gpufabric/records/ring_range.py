"""How far measured bus bandwidth lies from the line rate of a ring, over published measurements."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

RingLimit = Literal["scale-up", "scale-out"]
LEVELS = (0.025, 0.10, 0.50, 0.90, 0.975)
_Ratio = Annotated[float, Field(gt=0, lt=100)]


class _Strict(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class RingSource(_Strict):
    """Where measurements were read: ``place`` is the file, at ``commit``, inside the repository ``url``."""

    title: str
    url: str = ""
    commit: str = ""
    place: str = ""


class RingBand(_Strict):
    """Quantiles of measured / line-rate bus bandwidth at ``LEVELS``, for one limit and one band of sizes.

    ``max_bytes`` is the first size above the band, None for the last; ``widened`` says that there were too
    few clusters for quantiles, so that the range is a prediction interval instead.
    """

    limit: RingLimit
    min_bytes: int = Field(ge=1)
    max_bytes: int | None = None
    clusters: int = Field(ge=1)
    rows: int = Field(ge=1)
    widened: bool
    quantiles: tuple[_Ratio, _Ratio, _Ratio, _Ratio, _Ratio]

    @model_validator(mode="after")
    def _quantiles_rise(self) -> RingBand:
        if list(self.quantiles) != sorted(self.quantiles):
            raise ValueError("quantiles must rise with their level")
        return self


class RingRange(_Strict):
    """A whole calibration: class-wide, so valid for no hardware in particular."""

    name: str
    script: str
    levels: tuple[float, ...]
    clusters: int
    rows: int
    left_out: dict[str, int]
    ranges: tuple[RingBand, ...]
    sources: tuple[RingSource, ...]

    @model_validator(mode="after")
    def _levels_are_known(self) -> RingRange:
        if self.levels != LEVELS:
            raise ValueError(f"levels must be {', '.join(map(str, LEVELS))}")
        return self

    def band(self, limit: RingLimit, size_bytes: int) -> RingBand | None:
        """Return the band that holds a message size (nccl-tests meaning), None when there is none."""
        for band in self.ranges:
            if band.limit == limit and band.min_bytes <= size_bytes < (band.max_bytes or size_bytes + 1):
                return band
        return None
