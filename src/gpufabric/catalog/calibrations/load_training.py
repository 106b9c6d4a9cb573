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
        for table in ("classes", "libraries"):
            for name, changed in folds[without].get(table, {}).items():
                document[table][name].update(changed)
    return TrainingCalibration.model_validate(document)


def fitted_sources() -> tuple[str, ...]:
    """Return the sources that :func:`load_training_calibration` can leave out."""
    return tuple(_read("training_folds.toml")["folds"])


@cache
def load_training_constants(
    gpu: str, network: str = "infiniband", nic: str = "", library: str = "megatron", without: str = ""
) -> TrainingConstants:
    """Return the constants for one kind of cluster.

    Parameters
    ----------
    gpu, nic
        Part ids; no NIC: any.
    network
        ``infiniband`` or ``ethernet``.
    library
        Class of training libraries: ``megatron``, ``megatron-2022``, ``pytorch-compiled`` or ``pytorch-eager``.
    without
        See :func:`load_training_calibration`.
    """
    calibration = load_training_calibration(without)
    if library not in calibration.libraries:
        raise InputError(
            f'training library "{printable(library)}" is unknown; known: {", ".join(calibration.libraries)}.'
            f"{did_you_mean(library, calibration.libraries)}"
        )
    return TrainingConstants(
        compute=calibration.constants_of(gpu, library), network=load_network_constants(gpu, network, nic)
    )


def load_network_constants(gpu: str, network: str = "infiniband", nic: str = "") -> NetworkConstants:
    """Return what the calibration of collectives knows of a GPU's links and of a network; see :func:`load_training_constants`."""
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
