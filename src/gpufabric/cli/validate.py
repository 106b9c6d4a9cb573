"""``gpufabric validate``: how far predictions lie from published measurements."""

from __future__ import annotations

from typing import Annotated

import typer

from gpufabric.cli.options import CalibrationFile, Json, command_app
from gpufabric.cli.output import note, print_document, print_table
from gpufabric.cli.progress import working

app = command_app()


@app.callback()
def validate() -> None:
    """Say how far predictions lie from published measurements, one vote a cluster.

    Each command takes --json.
    """


@app.command()
def collectives(
    data: Annotated[
        str | None,
        typer.Argument(
            metavar="[DATA.csv]",
            help="Table of measurements with the columns of the shipped one; default: the shipped one.",
        ),
    ] = None,
    in_sample: Annotated[
        bool,
        typer.Option(
            "--in-sample",
            help="Predict each cluster with constants that were fitted to it too; default: without it.",
        ),
    ] = False,
    calibration: CalibrationFile = None,
    rows: Annotated[
        bool, typer.Option("--rows", help="Show every measurement with its prediction too.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Predict every measured collective of a table and say how far off the predictions are.

    A cluster that the shipped constants were fitted to is predicted with constants that were fitted without it.
    """
    from gpufabric.formats.calibration_toml import read_calibration
    from gpufabric.jobs.validate_collectives import validate_collectives
    from gpufabric.report.validate_table import (
        BAR_COLUMNS,
        GROUP_COLUMNS,
        ROW_COLUMNS,
        TITLES,
        bar_rows,
        group_rows,
        validated_rows,
        validation_notes,
    )

    own = read_calibration(calibration) if calibration else None
    with working("predicting"):
        result = validate_collectives(data, in_sample=in_sample, calibration=own)
    if as_json:
        print_document("validate collectives", result.to_dict())
    else:
        if rows:
            print_table(ROW_COLUMNS, validated_rows(result.rows))
        print_table(BAR_COLUMNS, bar_rows(result.bars))
        for what, groups in result.groups.items():
            print_table(GROUP_COLUMNS, group_rows(groups), TITLES[what])
        print_table(GROUP_COLUMNS, group_rows({"all that count": result.summary}))
    note(validation_notes(result))


@app.command()
def training(
    data: Annotated[
        str | None,
        typer.Argument(
            metavar="[DATA.csv]",
            help="Table of measured training steps with the columns of the shipped one; default: the shipped one.",
        ),
    ] = None,
    in_sample: Annotated[
        bool,
        typer.Option(
            "--in-sample",
            help="Predict each source with constants that were fitted to it too; default: without it.",
        ),
    ] = False,
    rows: Annotated[
        bool,
        typer.Option(
            "--rows", help="Show every measurement with its prediction, and what was assumed for it, too."
        ),
    ] = False,
    as_json: Json = False,
) -> None:
    """Predict every measured training step of a table and say how far off the predictions are.

    A source that the shipped constants were fitted to is predicted with constants that were fitted without it.
    """
    from gpufabric.jobs.validate_training import validate_training
    from gpufabric.report.validate_table import BAR_COLUMNS, GROUP_COLUMNS, bar_rows, group_rows
    from gpufabric.report.validate_training_table import (
        IN_SAMPLE_COLUMNS,
        STEP_COLUMNS,
        STEP_TITLES,
        assumption_rows,
        in_sample_rows,
        step_rows,
        training_notes,
    )

    with working("predicting"):
        result = validate_training(data, in_sample=in_sample)
    if as_json:
        print_document("validate training", result.to_dict())
    else:
        if rows:
            print_table(STEP_COLUMNS, step_rows(result.rows))
            print_table(("row", "assumed"), assumption_rows(result.rows))
        print_table(BAR_COLUMNS, bar_rows(result.bars))
        print_table(IN_SAMPLE_COLUMNS, in_sample_rows(result.in_sample_bars))
        for what, groups in result.groups.items():
            print_table(GROUP_COLUMNS, group_rows(groups), STEP_TITLES[what])
        print_table(
            GROUP_COLUMNS, group_rows({"all that count": result.summary, "fine-tuning": result.fine_tuning})
        )
    note(training_notes(result))
