"""``training.toml`` → what a class of GPUs reaches in training, with what the calibration of collectives knows of its network."""

from __future__ import annotations

import tomllib
from fnmatch import fnmatchcase
from functools import cache
from importlib import resources
from typing import Any

from gpufabric.catalog.calibrations.load_calibrations import load_collective_calibration
from gpufabric.errors import InputError, did_you_mean, printable
from gpufabric.records.training_constants import NetworkConstants, TrainingCalibration, TrainingConstants


@cache
def load_training_calibration(without: str = "") -> TrainingCalibration:
    """Return the constants of the model of time of training.

    Parameters
    ----------
    without
        Source of the published measurements whose rows were left out of the fit (``training_folds.toml``); empty: none.

    Raises
    ------
    InputError
        If no such source is in the fit.
    pydantic.ValidationError
        When a data file is wrong, which is a bug of this package.
    """
    document = _read("training.toml")
    if without:
        folds = _read("training_folds.toml")["folds"]
        if without not in folds:
            raise InputError(
                f'source "{printable(without)}" is not in the calibration; known: {", ".join(folds)}.'
                f"{did_you_mean(without, folds)}"
            )
        for name, changed in folds[without].items():
            document["classes"][name].update(changed)
    return TrainingCalibration.model_validate(document)


def fitted_sources() -> tuple[str, ...]:
    """Return the sources that :func:`load_training_calibration` can leave out."""
    return tuple(_read("training_folds.toml")["folds"])


@cache
def load_training_constants(
    gpu: str, network: str = "infiniband", nic: str = "", without: str = ""
) -> TrainingConstants:
    """Return the constants for one kind of cluster.

    Parameters
    ----------
    gpu, nic
        Part ids; no NIC: any.
    network
        ``infiniband`` or ``ethernet``.
    without
        See :func:`load_training_calibration`.
    """
    calibration = load_training_calibration(without)
    return TrainingConstants(
        compute=calibration.classes[calibration.class_of(gpu)], network=_network(gpu, network, nic)
    )


def _network(gpu: str, network: str, nic: str) -> NetworkConstants:
    measured = load_collective_calibration()
    inside = next(
        known for known in measured.scale_ups.values() if any(fnmatchcase(gpu, part) for part in known.gpus)
    )
    across = next(
        (
            known
            for known in measured.networks.values()
            if network in known.networks and any(fnmatchcase(nic, part) for part in known.nics)
        ),
        list(measured.networks.values())[-1],
    )
    protocol = measured.protocols["ll128"]
    return NetworkConstants(
        base_s=protocol.base_s * inside.base_factor,
        inside_step_s=protocol.inside_step_s * inside.step_factor,
        across_step_s=protocol.fabric_step_s * across.step_factor,
        inside_share=inside.rate_share,
        across_share=across.rate_share,
    )


@cache
def _text(name: str) -> str:
    return resources.files(__package__).joinpath(name).read_text(encoding="utf-8")


def _read(name: str) -> dict[str, Any]:
    return tomllib.loads(_text(name))
