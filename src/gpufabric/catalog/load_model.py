"""The id of a model → its layers, from ``catalog/models``."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib import resources

from gpufabric.catalog.model_entry import ModelEntry, ModelFile, build_transformer
from gpufabric.errors import InputError, did_you_mean, printable
from gpufabric.records.part_facts import Source
from gpufabric.records.transformer import Transformer


def load_model(model_id: str) -> Transformer:
    """Return a model of the catalogue; upper and lower case are the same.

    Parameters
    ----------
    model_id
        Id or alias, such as ``llama-3-70b``.

    Raises
    ------
    InputError
        If there is none of that id.
    """
    entry, source = model_facts(model_id)
    return build_transformer(entry, source.url)


def model_facts(model_id: str) -> tuple[ModelEntry, Source]:
    """Return the entry of a model and where its figures were read.

    Raises
    ------
    InputError
        If there is none of that id.
    """
    entries = _entries()
    names = {alias: entry.id for entry, _ in entries.values() for alias in entry.aliases}
    wanted = model_id.strip().lower()
    known = entries.get(names.get(wanted, wanted))
    if known is None:
        hint = did_you_mean(wanted, [*entries, *names])
        raise InputError(
            f'model "{printable(model_id)}" is unknown; known: {", ".join(entries)}; '
            f"name one of them, the path of a config.json, or write the shape{'.' + hint if hint else ''}"
        )
    return known


def model_ids() -> tuple[str, ...]:
    """Return the ids of the catalogue, family by family."""
    return tuple(_entries())


@cache
def _entries() -> dict[str, tuple[ModelEntry, Source]]:
    found: dict[str, tuple[ModelEntry, Source]] = {}
    folder = resources.files("gpufabric.catalog.models")
    for file in sorted(folder.iterdir(), key=lambda file: file.name):
        if file.name.endswith(".toml"):
            family = ModelFile.model_validate(tomllib.loads(file.read_text(encoding="utf-8")))
            found.update({entry.id: (entry, family.sources[entry.source]) for entry in family.models})
    return found
