"""Preset id → the text of its cluster description, one YAML file a preset beside this file."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from gpufabric.errors import InputError, did_you_mean, printable

_SUFFIX = ".yaml"


@cache
def preset_ids() -> tuple[str, ...]:
    """Return the ids of all presets, sorted."""
    names = (entry.name for entry in files(__name__).iterdir())
    return tuple(sorted(name.removesuffix(_SUFFIX) for name in names if name.endswith(_SUFFIX)))


@cache
def preset_text(preset: str) -> str:
    """Return the YAML text of a preset.

    Raises
    ------
    InputError
        No preset has that id.
    """
    if preset not in preset_ids():
        raise InputError(unknown_preset(preset))
    return (files(__name__) / f"{preset}{_SUFFIX}").read_text(encoding="utf-8")


def unknown_preset(preset: str) -> str:
    """Return the message for an id that no preset has."""
    known = ", ".join(preset_ids())
    guess = did_you_mean(preset[:80], preset_ids())
    return f'preset "{printable(preset)}" is unknown; known: {known}.{guess}'
