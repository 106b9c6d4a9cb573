"""The name and version of a communication library → what it may choose from, from ``catalog/libraries``."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib import resources
from typing import TypeVar

from gpufabric.errors import InputError, printable
from gpufabric.records.library_model import (
    AlgorithmRule,
    ChannelLimit,
    LibraryModel,
    ProtocolRule,
    Rating,
    SettingRule,
    Tuning,
)

LIBRARIES = ("nccl", "rccl")
_Fact = TypeVar("_Fact", AlgorithmRule, ChannelLimit, ProtocolRule, Rating, SettingRule, Tuning)


def load_library(name: str, version: str | None = None) -> LibraryModel:
    """Return a library as one of its versions has it.

    Parameters
    ----------
    name : str
        One of :data:`LIBRARIES`.
    version : str, optional
        Such as ``2.27`` or ``2.27.3``; None: the newest that is modelled. A version outside of those that are takes the
        rules of the nearest one.

    Raises
    ------
    InputError
        If the library is not modelled or the version is no version.
    """
    if name not in LIBRARIES:
        raise InputError(
            f"library: {name} is not modelled; allowed: {', '.join(LIBRARIES)}; choose one of them"
        )
    model = _read(name)
    asked = _number(model.last if version is None else version)
    at = min(max(asked, _number(model.first)), _number(model.last))

    def holding(facts: tuple[_Fact, ...]) -> tuple[_Fact, ...]:
        return tuple(
            fact
            for fact in facts
            if (fact.since is None or _number(fact.since) <= at)
            and (fact.until is None or at < _number(fact.until))
        )

    return model.model_copy(
        update={
            "version": model.last if version is None else version,
            "domain_since": model.domain_since
            if model.domain_since and _number(model.domain_since) <= at
            else None,
            "lists_by_op_since": (
                model.lists_by_op_since
                if model.lists_by_op_since and _number(model.lists_by_op_since) <= at
                else None
            ),
            "algorithms": holding(model.algorithms),
            "protocols": holding(model.protocols),
            "settings": holding(model.settings),
            "channel_limits": holding(model.channel_limits),
            "tunings": holding(model.tunings),
            "ratings": holding(model.ratings),
        }
    )


def version_note(model: LibraryModel) -> str:
    """Return a sentence on a version that is not modelled itself, empty when it is."""
    if _number(model.first) <= _number(model.version) <= _number(model.last):
        return ""
    older = _number(model.version) < _number(model.first)
    nearest = model.first if older else model.last
    return (
        f"library: {model.name} {model.version} is not modelled ({model.first} to {model.last} are); it is taken to choose as"
        f" {nearest} does"
    )


def _number(version: str) -> tuple[int, int]:
    parts = version.split(".")
    if not 1 <= len(parts) <= 4 or not all(
        part.isascii() and part.isdigit() and len(part) <= 4 for part in parts
    ):
        raise InputError(
            f'library: version "{printable(version[:32])}" is no version; allowed is such as 2.27 or 2.27.3; write it so'
        )
    return int(parts[0]), int(parts[1]) if len(parts) > 1 else 0


@cache
def _read(name: str) -> LibraryModel:
    text = resources.files("gpufabric.catalog.libraries").joinpath(f"{name}.toml").read_text(encoding="utf-8")
    return LibraryModel.model_validate(tomllib.loads(text))
