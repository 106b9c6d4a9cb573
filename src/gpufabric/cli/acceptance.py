"""``gpufabric acceptance SPEC``: the ladder of tests that accepts a cluster."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gpufabric.cli.options import CalibrationFile, Json, Spec, command_app, named_path
from gpufabric.cli.output import note, print_document, print_table
from gpufabric.cli.progress import working

app = command_app()
_Output = Annotated[
    Path | None,
    typer.Option(
        "-o",
        "--output",
        parser=named_path,
        metavar="<path>",
        help="Folder for hostfiles, scripts, plan and thresholds.",
    ),
]
_Hosts = Annotated[
    Path | None,
    typer.Option(
        "--hosts",
        parser=named_path,
        metavar="<path>",
        help="Hostfile with the servers' real names, in the order of the description.",
    ),
]
_Launcher = Annotated[
    str, typer.Option("--launcher", metavar="NAME", help="What starts the tests: mpirun or srun.")
]
_Op = Annotated[str, typer.Option("--op", metavar="OP", help="Collective that is run.")]
_Thresholds = Annotated[
    Path | None,
    typer.Option(
        "--thresholds",
        parser=named_path,
        metavar="<path>",
        help="Write the limits for other checkers to this file: JSON, or CSV by its ending.",
    ),
]


@app.command()
def acceptance(
    spec: Spec,
    output: _Output = None,
    hosts: _Hosts = None,
    launcher: _Launcher = "mpirun",
    op: _Op = "all_reduce",
    thresholds: _Thresholds = None,
    calibration: CalibrationFile = None,
    as_json: Json = False,
) -> None:
    """Write the ladder of tests that accepts a cluster: hostfiles, commands and what each should reach.

    Servers alone, pairs below a leaf, units, pairs across the halves, all.
    gpufabric check SPEC --acceptance DIR reads the results.
    """
    from gpufabric.formats import hostfile
    from gpufabric.formats.calibration_toml import read_calibration
    from gpufabric.formats.cluster_yaml import resolve_spec
    from gpufabric.formats.nccl_tests_write import PROGRAMS
    from gpufabric.jobs.known_op import known_op
    from gpufabric.jobs.plan_acceptance import plan_acceptance
    from gpufabric.report import acceptance_files as files
    from gpufabric.report.threshold_files import thresholds_text
    from gpufabric.report.write_files import write_text

    _require("--launcher", launcher, files.LAUNCHERS)
    _require("--op", known_op(op), tuple(PROGRAMS))
    known = read_calibration(calibration) if calibration else None
    names = hostfile.read(hosts).host if hosts else ()
    with working("planning the tests"):
        plan = plan_acceptance(resolve_spec(spec), names, known_op(op), known)
        written = files.write_acceptance(plan, output, launcher) if output else ()
        if thresholds:
            text = thresholds_text(thresholds, plan.name, plan.gpu, files.threshold_rows(plan))
            write_text(thresholds, text)
            written = (*written, thresholds)
    if as_json:
        print_document("acceptance", plan.model_dump(mode="json", exclude={"format"}))
    else:
        print_table(files.STEP_COLUMNS, files.step_rows(plan))
    for path in written:
        note(f"wrote {path}")
    for text in plan.assumptions:
        note(f"assumed: {text}")


def _require(option: str, value: str, allowed: tuple[str, ...]) -> None:
    from gpufabric.errors import InputError, did_you_mean, printable

    if value not in allowed:
        raise InputError(
            f'{option} "{printable(value)}" is unknown; known: {", ".join(allowed)}.{did_you_mean(value, allowed)}'
        )
