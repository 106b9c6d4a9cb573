"""What every command's options share: the app they hang on and ``--json``."""

from __future__ import annotations

from typing import Annotated

import typer

Spec = Annotated[
    str,
    typer.Argument(metavar="SPEC", help="Cluster description (YAML), - for stdin, or the id of a preset."),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document instead of text.")]


def command_app() -> typer.Typer:
    """Return an app for one command or a group of them: errors go to :mod:`~gpufabric.cli.run`."""
    return typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
