"""``gpufabric lab``: designs proved on real programs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gpufabric.cli.options import Json, Spec, command_app
from gpufabric.cli.output import finish, note, print_document, print_findings, print_table
from gpufabric.cli.progress import working

app = command_app()


@app.callback()
def lab() -> None:
    """Prove a design on real programs: routing by OpenSM.

    Each command needs its programs installed, and takes --json.
    """


@app.command()
def ib(
    spec: Spec,
    engine: Annotated[
        str, typer.Option("--engine", help="Routing engine of OpenSM: ftree, updn or minhop.")
    ] = "ftree",
    fabric: Annotated[
        str | None, typer.Option("--fabric", help="Fabric to route; default: the first InfiniBand one.")
    ] = None,
    plane: Annotated[
        int, typer.Option("--plane", min=1, help="Which of its separate subnets: a plane, or a rail.")
    ] = 1,
    roots: Annotated[
        bool, typer.Option("--roots", help="Tell OpenSM which switches are the roots of the tree.")
    ] = False,
    timeout: Annotated[
        float, typer.Option("--timeout", min=1, max=86400, help="Seconds that OpenSM may take.")
    ] = 300.0,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="Folder for ibsim.net, opensm-lfts.dump and opensm.log."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Let real OpenSM route an InfiniBand fabric on ibsim, and say how evenly its tables do it."""
    from gpufabric.formats.cluster_yaml import resolve_spec
    from gpufabric.jobs.lab_ib import LabIbOptions, lab_ib
    from gpufabric.report.lab_ib_table import (
        SHARE_COLUMNS,
        SHIFT_COLUMNS,
        share_rows,
        shift_rows,
        summary_rows,
    )

    options = LabIbOptions(engine, fabric, plane, roots, timeout)
    with working("OpenSM is routing"):
        result = lab_ib(resolve_spec(spec), options, output)
    body = result.to_dict()
    if as_json:
        print_document("lab ib", body)
    else:
        print_table(("", ""), summary_rows(body))
        print_table(SHARE_COLUMNS, share_rows(body), "End ports reached over one link")
        print_table(SHIFT_COLUMNS, shift_rows(body), "Every end port sends to the one n further on")
        print_findings(result.findings)
    if output:
        note(f"wrote ibsim.net, opensm-lfts.dump and opensm.log to {output}")
    finish(result.findings)
