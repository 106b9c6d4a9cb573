"""A description's library and the GPUs of a job → the library's rules and settings for it."""

from __future__ import annotations

from fnmatch import fnmatchcase

from gpufabric.catalog.load_library import LIBRARIES, load_library, version_note
from gpufabric.errors import InputError, did_you_mean, printable
from gpufabric.libraries.read_settings import read_settings
from gpufabric.records.library_model import LibraryModel, LibrarySettings
from gpufabric.records.spec_fields import Library


def job_library(library: Library | None, gpu: str) -> tuple[LibraryModel, LibrarySettings, tuple[str, ...]]:
    """Return the library of a job, its settings, and what to say about both.

    Where the description does not name a library, it is the one that runs on the GPUs.

    Parameters
    ----------
    library : Library, optional
        As described; None: all left open.
    gpu : str
        Part id of the GPU, empty when unknown.

    Raises
    ------
    InputError
        If the library is not modelled or does not run on the GPU, or a setting is wrong.
    """
    asked = library or Library()
    fitting = fitting_libraries(gpu)
    name = asked.name if "name" in asked.model_fields_set else (fitting or ("nccl",))[0]
    model = load_library(name, asked.version)
    if fitting and name not in fitting:
        raise InputError(
            f"library.name: {name} does not run on {printable(gpu)}; allowed: {', '.join(fitting)}; choose one of them"
        )
    settings = read_settings(model, asked.settings)
    notes = [version_note(model)]
    if gpu and not fitting:
        notes.append(
            f"library: none of {', '.join(LIBRARIES)} is known for {gpu}; the rules of {name} stand for its own"
        )
    return model, settings, (*(note for note in notes if note), *settings.notes)


def fitting_libraries(gpu: str) -> tuple[str, ...]:
    """Return the names of the libraries that run on a GPU, by its part id; none when it is of no kind that they know."""
    return tuple(
        name for name in LIBRARIES if any(fnmatchcase(gpu, known) for known in load_library(name).gpus)
    )


def read_library(text: str, described: Library, settings: dict[str, str]) -> Library:
    """Return the described library with what the command line says on top.

    Parameters
    ----------
    text : str
        ``NAME``, ``NAME:VERSION``, or empty.
    described : Library
    settings : dict of str to str
        Added to the described settings.

    Raises
    ------
    InputError
        If the text names no library, or no version of it.
    """
    merged = {**described.settings, **settings}
    if not text:
        return described.model_copy(update={"settings": merged})
    name, colon, version = text.partition(":")
    if name not in LIBRARIES:
        raise InputError(
            f'library "{printable(name)}" is not modelled; known: {", ".join(LIBRARIES)}, with a version as nccl:2.27.'
            f"{did_you_mean(name, LIBRARIES)}"
        )
    asked = version if colon else None
    load_library(name, asked)
    return described.model_copy(update={"name": name, "version": asked, "settings": merged})
