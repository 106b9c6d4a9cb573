"""``gpufabric schema cluster|job``: the JSON Schema that editors and CI check descriptions with."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from gpufabric.cli.options import Json, command_app
from gpufabric.cli.output import print_document
from gpufabric.errors import InputError, did_you_mean, printable

app = command_app()
KINDS = ("cluster", "job")


@app.command()
def schema(
    kind: Annotated[str, typer.Argument(help="Which description: cluster or job.")] = "cluster",
    as_json: Json = False,
) -> None:
    """Print the JSON Schema of a cluster or job description.

    The schema itself is printed; with --json it stands under "schema" in the usual document.
    """
    from gpufabric.jobs.schema import schema as build_schema
    from gpufabric.report.json_text import json_text

    if kind not in KINDS:
        raise InputError(
            f'schema "{printable(kind)}" is unknown; known: {", ".join(KINDS)}.{did_you_mean(kind, KINDS)}'
        )
    if as_json:
        print_document("schema", {"kind": kind, "schema": build_schema(kind)})
    else:
        sys.stdout.write(json_text(build_schema(kind)))
