"""``gpufabric parts`` and ``gpufabric parts show ID``: the catalogue, with the source of every figure."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gpufabric.cli.options import Json, command_app, named_path
from gpufabric.cli.output import note, print_document, print_table, print_text
from gpufabric.units import counted

app = command_app()
Folder = Annotated[
    Path | None,
    typer.Option(
        "--parts-folder",
        parser=named_path,
        metavar="<path>",
        help="Folder with your own parts, which come first.",
    ),
]


@app.callback(invoke_without_command=True)
def parts(
    context: typer.Context,
    kind: Annotated[
        str | None, typer.Option(help="Only gpu, server, nic, switch, cable or transceiver.")
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

    found = list_parts(load_catalog(parts_folder), kind)
    if as_json:
        print_document("parts", found.to_dict())
        return
    table = parts_table(found)
    print_table(table.columns, table.rows)
    note(f"{counted(len(table.rows), 'part')}; gpufabric parts show ID tells all that is known of one")


@app.command()
def show(
    part_id: Annotated[str, typer.Argument(metavar="ID", help="The part, such as qm9790 or dgx-b200.")],
    parts_folder: Folder = None,
    as_json: Json = False,
) -> None:
    """Show one part: every field with its value and source, and for a server its inside."""
    from gpufabric.catalog.load import load_catalog
    from gpufabric.jobs.parts import show_part
    from gpufabric.report.parts_table import sheet_table

    sheet = show_part(load_catalog(parts_folder), part_id)
    if as_json:
        print_document("parts show", sheet.to_dict())
        return
    print_text(f"{sheet.id}: {sheet.vendor} {sheet.model}, {sheet.kind}, {sheet.status}")
    for text in (sheet.description, *sheet.picture):
        if text:
            print_text(text)
    table = sheet_table(sheet)
    source, url = table.columns.index("source"), table.columns.index("url")
    numbers: dict[str, int] = {}
    rows = []
    for row in table.rows:
        reference = f"{row[source]} {row[url]}".strip()
        number = str(numbers.setdefault(reference, len(numbers) + 1)) if reference else ""
        rows.append([*row[:source], number, *row[url + 1 :]])
    print_table([*table.columns[:source], "source", *table.columns[url + 1 :]], rows)
    for reference, position in numbers.items():
        print_text(f"{position}: {reference}")
