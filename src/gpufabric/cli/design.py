"""``gpufabric design SPEC``: counts, bill of materials, cabling plan and drawings of a described cluster."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gpufabric.cli.options import Json, Spec, command_app
from gpufabric.cli.output import finish, note, print_document, print_findings, print_table
from gpufabric.cli.progress import working

app = command_app()


@app.command()
def design(
    spec: Spec,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="Folder for the plan, bill of materials and drawings."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Count switches and links, assign every port, and write what purchasing and the cabling crew need.

    With -o: design.json, bill-of-materials.csv, cabling-plan.csv and .parquet (one row a link), fabric-NAME.svg.
    """
    from gpufabric.formats.cluster_yaml import resolve_spec
    from gpufabric.jobs.design import design as run_design
    from gpufabric.jobs.design import write_design
    from gpufabric.report.design_text import design_sections

    with working("designing"):
        result = run_design(resolve_spec(spec))
        written = write_design(result, output) if output else []
    if as_json:
        print_document("design", result.document)
    else:
        for section in design_sections(result.document):
            print_table(section.columns, section.rows, section.title)
        print_findings(result.findings)
    for text in result.assumptions:
        note(f"note: {text}")
    if written:
        note(f"wrote {', '.join(path.name for path in written)} to {output}")
    finish(result.findings)
