"""The data files of this folder → calibrations."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib import resources
from typing import Any

from gpufabric.errors import InputError, did_you_mean, printable
from gpufabric.records.calibration import Calibration
from gpufabric.records.ring_range import RingRange


@cache
def load_ring_range() -> RingRange:
    """Return the class-wide range of measured / line-rate ring bus bandwidth (``ring_wide.toml``).

    Raises
    ------
    pydantic.ValidationError
        When the data file is wrong, which is a bug of this package.
    """
    return RingRange.model_validate(_read("ring_wide.toml"))


@cache
def load_collective_calibration(without: str = "") -> Calibration:
    """Return the constants of the model of time of collectives (``collectives.toml``).

    Parameters
    ----------
    without : str, optional
        Cluster of the published measurements; its rows are then left out of all constants and ranges
        (``collectives_folds.toml``).

    Raises
    ------
    InputError
        If no such cluster is in the fit.
    pydantic.ValidationError
        When a data file is wrong, which is a bug of this package.
    """
    document = _read("collectives.toml")
    if without:
        folds = _read("collectives_folds.toml")
        if without not in folds["folds"]:
            raise InputError(
                f'cluster "{printable(without)}" is not in the calibration; known: {", ".join(folds["folds"])}.'
                f"{did_you_mean(without, folds['folds'])}"
            )
        for name, value in zip(folds["constants"], folds["folds"][without], strict=True):
            _set(document, name.split("."), value)
        for known in (*document["scale_ups"].values(), *document["networks"].values()):
            known["clusters"] = [cluster for cluster in known["clusters"] if cluster != without]
    return Calibration.model_validate(document)


def fitted_clusters() -> tuple[str, ...]:
    """Return the clusters that :func:`load_collective_calibration` can leave out."""
    return tuple(_read("collectives_folds.toml")["folds"])


def _read(name: str) -> dict[str, Any]:
    return tomllib.loads(resources.files(__package__).joinpath(name).read_text(encoding="utf-8"))


def _set(document: dict[str, Any], path: list[str], value: float) -> None:
    for key in path[:-1]:
        document = document[key]
    document[path[-1]] = value
