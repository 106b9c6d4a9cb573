"""Preset id → the text of its cluster description."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from gpufabric.errors import InputError, did_you_mean, printable


@cache
def preset_ids() -> tuple[str, ...]:
    """Return the ids of all presets, sorted."""
    folder = files("gpufabric.catalog") / "presets"
    return tuple(
        sorted(entry.name.removesuffix(".yaml") for entry in folder.iterdir() if entry.name.endswith(".yaml"))
    )


@cache
def preset_text(preset: str) -> str:
    """Return the YAML text of a preset.

    Raises
    ------
    InputError
        No preset has that id.
    """
    if preset not in preset_ids():
        known = ", ".join(preset_ids())
        raise InputError(
            f'preset "{printable(preset)}" is unknown; known: {known}.{did_you_mean(preset[:80], preset_ids())}'
        )
    return (files("gpufabric.catalog") / "presets" / f"{preset}.yaml").read_text(encoding="utf-8")
