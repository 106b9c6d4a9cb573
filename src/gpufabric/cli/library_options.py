"""Options that say what the communication library is, how it is set, and what to show instead of its choice."""

from __future__ import annotations

from typing import Annotated

import typer

Algorithm = Annotated[
    str | None,
    typer.Option(
        "--algorithm", help="Show this one whatever the library would run, such as ring or hierarchical."
    ),
]
Protocol = Annotated[str | None, typer.Option("--protocol", help="Show this one: ll, ll128 or simple.")]
LibraryVersion = Annotated[
    str,
    typer.Option("--library", help="Library and version, such as nccl:2.27; default: the description's."),
]
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="NAME=VALUE", help="Setting of the library, such as NCCL_ALGO=Ring; repeatable."
    ),
]
