"""Settings that hold a job back → the same settings with some of them left out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations

from gpufabric.libraries.read_settings import read_settings
from gpufabric.records.library_model import LibraryModel, LibrarySettings

_LIMITS = ("most-channels", "nics")


def lift_limits(
    model: LibraryModel, settings: LibrarySettings
) -> Iterator[tuple[LibrarySettings, tuple[str, ...]]]:
    """Yield the settings as they are, then without each set of those that limit channels and NICs, few first.

    Yields
    ------
    settings : LibrarySettings
    lifted : tuple of str
        What was left out, as a reader is told: ``NCCL_MAX_CTAS left out``.
    """
    yield settings, ()
    acts = {rule.name: rule.acts for rule in model.settings}
    limits = [name for name in settings.given if acts.get(name) in _LIMITS]
    for count in range(1, len(limits) + 1):
        for lifted in combinations(limits, count):
            kept = {name: text for name, text in settings.given.items() if name not in lifted}
            read = replace(read_settings(model, kept), queue_pairs=settings.queue_pairs)
            yield read, tuple(f"{name} left out" for name in lifted)


def setting_of(model: LibraryModel, acts: str) -> str:
    """Return the name of the setting that has an effect, empty when there is none."""
    return next((rule.name for rule in model.settings if rule.acts == acts), "")
