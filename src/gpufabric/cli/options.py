"""What the commands' arguments and options share: the app they hang on, SPEC, ``--json`` and paths."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Spec = Annotated[
    str,
    typer.Argument(metavar="SPEC", help="Cluster description (YAML), - for stdin, or the id of a preset."),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document instead of text.")]

CalibrationFile = Annotated[
    str | None,
    typer.Option(
        "--calibration",
        metavar="FILE",
        help="Constants to predict with, as gpufabric calibrate wrote them; default: the shipped ones.",
    ),
]


def named_path(text: str) -> Path:
    """Return the path that an option names; an empty text would mean the current folder.

    Raises
    ------
    typer.BadParameter
        When *text* is empty, as ``-o "$DIR"`` is without a ``DIR``.
    """
    if not text:
        raise typer.BadParameter("the path is empty; name one, or . for the current folder")
    return Path(text)


def command_app() -> typer.Typer:
    """Return an app for one command or a group of them: errors go to :mod:`~gpufabric.cli.run`."""
    return typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
