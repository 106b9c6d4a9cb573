"""``gpufabric parts`` and ``gpufabric parts show ID``: the catalogue, with the source of every figure."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gpufabric.cli.options import Json, command_app
from gpufabric.cli.output import print_document, print_table, print_text

app = command_app()
Folder = Annotated[
    Path | None, typer.Option("--parts-folder", help="Folder with your own parts, which come first.")
]


@app.callback(invoke_without_command=True)
def parts(
    context: typer.Context,
    kind: Annotated[
        str | None, typer.Option("--kind", help="Only gpu, server, nic, switch, cable or transceiver.")
    ] = None,
    parts_folder: Folder = None,
    as_json: Json = False,
) -> None:
    """List the parts of the catalogue, or show one with its sources."""
    if context.invoked_subcommand is not None:
        return
    from gpufabric.catalog.load import load_catalog
    from gpufabric.jobs.parts import list_parts
    from gpufabric.report.parts_table import parts_table

    result = list_parts(load_catalog(parts_folder), kind)
    if as_json:
        print_document("parts", result.to_dict())
    else:
        print_table(*parts_table(result))


@app.command()
def show(
    part_id: Annotated[str, typer.Argument(metavar="ID", help="The part, such as qm9790 or dgx-b200.")],
    parts_folder: Folder = None,
    as_json: Json = False,
) -> None:
    """Show one part: every field with its value and source, and for a server its inside."""
    from gpufabric.catalog.load import load_catalog
    from gpufabric.jobs.parts import show_part
    from gpufabric.report.part_sheet_text import part_sheet_text

    result = show_part(load_catalog(parts_folder), part_id)
    if as_json:
        print_document("parts show", result.to_dict())
    else:
        print_text(part_sheet_text(result))
