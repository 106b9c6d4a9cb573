"""``gpufabric export SPEC --to NAME``: a design as the files of other programs."""

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
from gpufabric.cli.progress import working

app = command_app()


@app.command()
def export(
    spec: Annotated[
        str | None,
        typer.Argument(
            metavar="[SPEC]", help="Cluster description (YAML), - for stdin, or the id of a preset."
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
    """Write a design as the files of schedulers, inventories, simulators, switches and drawing programs.

    What a file keeps of the design and what it loses goes to stderr.
    """
    from gpufabric.errors import InputError
    from gpufabric.formats.cluster_yaml import resolve_spec
    from gpufabric.jobs.export import ExportOptions
    from gpufabric.jobs.export import export as run_export

    if list_targets:
        print_targets("export", to, as_json)
        return
    if spec is None:
        raise InputError("export: names no description; write gpufabric export SPEC --to NAME, or --list")
    options = ExportOptions(names_of(to), tuple(fabric or ()), lspci, tuple(settings or ()))
    with working("exporting"):
        exported = run_export(resolve_spec(spec), options)
        hand_over("export", exported, output, as_json)
