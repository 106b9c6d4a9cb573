"""``gpufabric calibrate LOG…``: fit the constants of predictions to own measurements."""

from __future__ import annotations

from typing import Annotated

import typer

from gpufabric.cli.options import CalibrationFile, Json, command_app, named_path
from gpufabric.cli.output import note, print_document, print_table
from gpufabric.cli.progress import working

app = command_app()


@app.command()
def calibrate(
    logs: Annotated[
        list[str],
        typer.Argument(metavar="LOG...", help="Text output of nccl-tests, plain or gzip; - for stdin."),
    ],
    spec: Annotated[
        str,
        typer.Option(
            "--spec", metavar="SPEC", help="Description of the cluster that was measured, or a preset's id."
        ),
    ],
    calibration: CalibrationFile = None,
    output: Annotated[
        str | None,
        typer.Option(
            "-o", "--output", metavar="FILE", help="Where to write the calibration; default: nowhere."
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Fit predictions to own measurements, and say how much that changes.

    The file that -o writes is for --calibration of collective and check.
    """
    from gpufabric.catalog.calibrations import load_collective_calibration
    from gpufabric.errors import InputError
    from gpufabric.formats.calibration_toml import calibration_text, read_calibration
    from gpufabric.formats.cluster_yaml import resolve_spec
    from gpufabric.jobs.calibrate_logs import calibrate_logs
    from gpufabric.report.calibration_table import COLUMNS, calibration_notes, calibration_rows
    from gpufabric.report.write_files import write_text

    if [spec, *logs].count("-") > 1:
        raise InputError("-: standard input can be read once; name files for the others")
    target = named_path(output) if output is not None else None
    known = read_calibration(calibration) if calibration else load_collective_calibration()
    with working("fitting"):
        result = calibrate_logs(resolve_spec(spec), logs, known)
    document = result.to_dict()
    if target is not None:
        write_text(target, calibration_text(result.calibration))
    if as_json:
        print_document("calibrate", document)
    else:
        print_table(COLUMNS, calibration_rows(document))
    note(calibration_notes(document))
    if target is not None:
        note(f"wrote {target}; use it with --calibration {target}")
