"""``gpufabric schema cluster|job``: the JSON Schema that editors and CI check descriptions with."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from gpufabric.cli.options import Json, command_app
from gpufabric.cli.output import print_document, print_text

app = command_app()


@app.command()
def schema(
    kind: Annotated[Literal["cluster", "job"], typer.Argument(help="Which description.")] = "cluster",
    as_json: Json = False,
) -> None:
    """Print the JSON Schema of a cluster or job description.

    The schema itself is printed; with --json it stands under "schema" in the usual document.
    """
    from gpufabric.jobs.schema import schema as build_schema
    from gpufabric.jobs.schema import schema_text

    if as_json:
        print_document("schema", {"kind": kind, "schema": build_schema(kind)})
    else:
        print_text(schema_text(kind).rstrip("\n"))
