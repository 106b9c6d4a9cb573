"""``gpufabric convert FILE… --to NAME``: what files tell of a fabric's wiring, as the files of other programs."""

from __future__ import annotations

from typing import Annotated

import typer

from gpufabric.cli.export_options import (
    FabricNames,
    List,
    Lspci,
    Output,
    Settings,
    To,
    hand_over,
    names_of,
    print_targets,
)
from gpufabric.cli.options import Json, command_app
from gpufabric.cli.output import finish
from gpufabric.cli.progress import working

app = command_app()


@app.command()
def convert(
    files: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="FILE...",
            help="ibnetdiscover, iblinkinfo, LLDP, cable lists, containerlab, Air, DOT; known by content, - for stdin.",
        ),
    ] = None,
    to: To = "",
    output: Output = None,
    fabric: FabricNames = None,
    lspci: Lspci = None,
    settings: Settings = None,
    list_targets: List = False,
    as_json: Json = False,
) -> None:
    """Write what files tell of a fabric's wiring as the files of other programs.

    What is kept and lost goes to stderr. Exit status 1 when the files contradict themselves.
    """
    from gpufabric.errors import InputError
    from gpufabric.jobs.export import ExportOptions
    from gpufabric.jobs.export import convert as run_convert

    if list_targets:
        print_targets("convert", to, as_json)
        return
    if not files:
        raise InputError("convert: names no file; write gpufabric convert FILE --to NAME, or --list")
    options = ExportOptions(names_of(to), tuple(fabric or ()), lspci, tuple(settings or ()))
    with working("converting"):
        exported = run_convert(files, options)
        hand_over("convert", exported, output, as_json)
    finish(exported.findings)
