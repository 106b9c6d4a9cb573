"""``gpufabric design SPEC``: counts, bill of materials, cabling plan and drawings of a described cluster."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gpufabric.cli.options import Json, Spec, command_app, named_path
from gpufabric.cli.output import finish, note, print_document, print_findings, print_table
from gpufabric.cli.progress import working

app = command_app()


@app.command()
def design(
    spec: Spec,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            parser=named_path,
            metavar="<path>",
            help="Folder for the plan, bill of materials and drawings.",
        ),
    ] = None,
    prices: Annotated[
        Path | None,
        typer.Option(
            "--prices",
            parser=named_path,
            metavar="<path>",
            help="CSV price list with the columns part,price_usd and perhaps source.",
        ),
    ] = None,
    labels_for: Annotated[
        str | None,
        typer.Option("--labels-for", metavar="PLACE", help="Print labels of one rack, device or unit only."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Count switches and links, assign every port, and write what purchasing and the cabling crew need.

    With -o: report.html, design.json, bill-of-materials.csv, cabling-plan and labels (.csv and .parquet), labels.html to print,
    and the drawings fabric-NAME.svg, floor-plan.svg and racks.svg.
    """
    from gpufabric.errors import InputError
    from gpufabric.formats.cluster_yaml import resolve_spec
    from gpufabric.jobs.design import design as run_design
    from gpufabric.jobs.design_files import write_design
    from gpufabric.report.design_text import design_sections

    if labels_for is not None and output is None:
        raise InputError("--labels-for: there is no folder to write labels.html to; name one with -o")
    with working("designing"):
        result = run_design(resolve_spec(spec), prices)
        written = write_design(result, output, labels_for) if output else None
    if as_json:
        print_document("design", result.document)
    else:
        for section in design_sections(result.document):
            print_table(section.columns, section.rows, section.title)
        print_findings(result.findings)
    for text in result.assumptions:
        note(f"note: {text}")
    if written:
        for text in written.notes:
            note(f"note: {text}")
        note(f"wrote {', '.join(path.name for path in written.paths)} to {output}")
    finish(result.findings)
