"""``gpufabric check SPEC LOG…``: as measured against as designed."""

from __future__ import annotations

from typing import Annotated

import typer

from gpufabric.cli.options import CalibrationFile, Json, Spec, command_app
from gpufabric.cli.output import finish, note, print_document, print_findings, print_table, print_text
from gpufabric.cli.progress import working

app = command_app()


@app.command()
def check(
    spec: Spec,
    logs: Annotated[
        list[str],
        typer.Argument(metavar="LOG...", help="Text output of nccl-tests, plain or gzip; - for stdin."),
    ],
    calibration: CalibrationFile = None,
    as_json: Json = False,
) -> None:
    """Say whether measured bandwidth is what the described cluster should deliver.

    For each size from 16 MiB: measured, expected range, ceiling, verdict. Exit status 1 when a log is low or has an error.
    """
    from gpufabric.errors import InputError
    from gpufabric.formats.calibration_toml import read_calibration
    from gpufabric.formats.cluster_yaml import resolve_spec
    from gpufabric.jobs.check import check as run_check
    from gpufabric.report.check_text import COLUMNS, assumption_text, size_rows, verdict_text

    if [spec, *logs].count("-") > 1:
        raise InputError("-: standard input can be read once; name files for the others")
    known = read_calibration(calibration) if calibration else None
    with working("checking"):
        result = run_check(resolve_spec(spec), logs, known)
    if as_json:
        print_document("check", result.to_dict())
    else:
        for verdict in result.verdicts:
            if verdict.sizes:
                print_table(COLUMNS, size_rows(verdict.sizes), verdict.what)
            else:
                print_text(verdict.what)
            print_text(verdict_text(verdict))
        print_findings(result.findings)
    if result.assumptions:
        note(assumption_text(result.assumptions))
    for text in result.notes:
        note(f"note: {text}")
    finish(result.findings)
