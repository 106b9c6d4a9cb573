"""``gpufabric check SPEC FILE…``: as measured against as designed."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gpufabric.cli.options import CalibrationFile, Json, Spec, command_app, named_path
from gpufabric.cli.output import finish, note, print_document, print_findings, print_table, print_text
from gpufabric.cli.progress import working

app = command_app()


@app.command()
def check(
    spec: Spec,
    files: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="FILE...",
            help="Logs of nccl-tests and other outputs of the job's servers, plain or gzip; - for stdin.",
        ),
    ] = None,
    acceptance: Annotated[
        Path | None,
        typer.Option(
            "--acceptance",
            parser=named_path,
            metavar="<path>",
            help="Folder that gpufabric acceptance wrote, with results.",
        ),
    ] = None,
    calibration: CalibrationFile = None,
    as_json: Json = False,
) -> None:
    """Say whether measured bandwidth is what the described cluster should deliver.

    For each size from 16 MiB: measured, expected range, ceiling, verdict; below, what may be the cause. All files are looked at
    together: NCCL's own log, nvidia-smi topo -m, lspci -vvv, counters. Exit status 1 when a log is low or has an error.
    """
    from gpufabric.errors import InputError
    from gpufabric.formats.calibration_toml import read_calibration
    from gpufabric.formats.cluster_yaml import resolve_spec
    from gpufabric.jobs.check import check as run_check
    from gpufabric.jobs.check_acceptance import check_acceptance
    from gpufabric.report.check_text import COLUMNS, assumption_text, size_rows, verdict_text

    if acceptance is not None and files:
        raise InputError("--acceptance: files are given too; name the folder alone, its results are in it")
    if acceptance is None and not files:
        raise InputError("FILE: none is given; name a log of nccl-tests, or a folder with --acceptance")
    if [spec, *(files or [])].count("-") > 1:
        raise InputError("-: standard input can be read once; name files for the others")
    known = read_calibration(calibration) if calibration else None
    with working("checking"):
        result = (
            check_acceptance(resolve_spec(spec), acceptance, known)
            if acceptance
            else run_check(resolve_spec(spec), files or [], known)
        )
    if as_json:
        print_document("check", result.to_dict())
    else:
        for verdict in result.verdicts:
            if verdict.sizes and not acceptance:
                print_table(COLUMNS, size_rows(verdict.sizes), verdict.what)
            elif not acceptance or verdict.verdict != "healthy":
                print_text(verdict.what)
            if not acceptance or verdict.verdict != "healthy":
                print_text(verdict_text(verdict))
        print_findings(result.findings)
    if result.assumptions:
        note(assumption_text(result.assumptions))
    for text in result.notes:
        note(f"note: {text}")
    finish(result.findings)
