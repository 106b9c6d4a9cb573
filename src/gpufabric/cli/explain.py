"""``gpufabric explain FILE…``: what outputs of a server or a job say, with no description at hand."""

from __future__ import annotations

from typing import Annotated

import typer

from gpufabric.cli.options import Json, command_app
from gpufabric.cli.output import finish, note, print_document, print_findings, print_table, print_text

app = command_app()


@app.command()
def explain(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE...",
            help="Outputs such as nvidia-smi topo -m or an NCCL log, plain or gzip; - for stdin.",
        ),
    ],
    as_json: Json = False,
) -> None:
    """Say what files of a server or a job show, what is unusual, and which server of the catalogue fits.

    Formats are recognised by content, also several in one file. Exit status 1 when a finding is an error.
    """
    from gpufabric.errors import InputError
    from gpufabric.jobs.explain import explain as run_explain
    from gpufabric.report.explain_text import part_heading, part_rows

    if files.count("-") > 1:
        raise InputError("-: standard input can be read once; name files for the others")
    result = run_explain(files)
    if as_json:
        print_document("explain", result.to_dict())
    else:
        for part in result.parts:
            print_table(
                ("", ""),
                part_rows(part.facts, part.fits, part.expect),
                part_heading(part.file, part.line, part.format, part.node),
            )
        print_findings(result.findings)
        if not result.findings:
            print_text("nothing unusual was found")
    left = result.coverage["lines_not_understood"] + result.coverage["lines_unclaimed"]
    if left:
        note(f"{left} of {result.coverage['lines_read']} lines were not understood")
    finish(result.findings)
