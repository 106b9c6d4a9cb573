"""``gpufabric explain FILE…``: what outputs of a server or a job say, with no description at hand."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gpufabric.cli.options import Json, command_app, named_path
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
    drawing: Annotated[
        Path | None,
        typer.Option(
            "--drawing", parser=named_path, metavar="<path>", help="Write the server's inside as SVG."
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Say what files of a server or a job show, what is unusual, and which server of the catalogue fits.

    Formats are recognised by content, also several in one file. Exit status 1 when a finding is an error.
    """
    from gpufabric.errors import InputError
    from gpufabric.jobs.explain import explain as run_explain
    from gpufabric.report.explain_text import part_heading, part_rows
    from gpufabric.report.server_inside_svg import draw_server_inside
    from gpufabric.report.write_files import write_text

    if files.count("-") > 1:
        raise InputError("-: standard input can be read once; name files for the others")
    result = run_explain(files)
    if as_json:
        print_document("explain", result.to_dict())
    else:
        for part in result.parts:
            print_table(
                ("", ""),
                part_rows(
                    part.facts,
                    part.fits,
                    part.expect,
                    [(one.what, one.low_bytes_per_s, one.high_bytes_per_s) for one in part.predicted],
                ),
                part_heading(part.file, part.line, part.format, part.node),
            )
        print_findings(result.findings)
        if not result.findings:
            print_text("nothing unusual was found")
    if drawing is not None:
        shown = next((part for part in result.parts if part.inside is not None), None)
        if shown is None or shown.inside is None:
            raise InputError(
                "--drawing: no file shows a server's inside; give nvidia-smi topo -m or NCCL's topology XML"
            )
        write_text(
            drawing,
            draw_server_inside(
                shown.inside, shown.fits[0] if shown.fits and len(shown.fits) == 1 else "Server"
            ),
        )
        note(f"wrote {drawing}: {shown.file}:{shown.line}")
    left = result.coverage["lines_not_understood"] + result.coverage["lines_unclaimed"]
    if left:
        note(f"{left} of {result.coverage['lines_read']} lines were not understood")
    finish(result.findings)
