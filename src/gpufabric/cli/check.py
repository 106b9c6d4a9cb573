"""``gpufabric check SPEC FILE…``: as built and as measured against as designed and as predicted."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gpufabric.cli.options import CalibrationFile, Json, command_app, named_path
from gpufabric.cli.output import finish, note, print_document, print_findings, print_table, print_text
from gpufabric.cli.progress import working

if TYPE_CHECKING:
    from gpufabric.jobs.check import CheckResult
    from gpufabric.jobs.check_files import FilesCheck
    from gpufabric.records.calibration import Calibration

app = command_app()
_Paths = tuple[Path | None, Path | None, Path | None, Path | None]
_Files = Annotated[
    list[str],
    typer.Argument(
        metavar="[SPEC] FILE...",
        help="Description or preset, then files about the running cluster, known by content; - for stdin. "
        "Without SPEC the intended wiring is inferred.",
    ),
]
_Design = Annotated[
    str | None,
    typer.Option(
        "--design",
        metavar="FILE",
        help="Cabling file that says how it was meant, in place of SPEC; CSV, XLSX, …",
    ),
]
_Columns = Annotated[
    list[str] | None,
    typer.Option(
        "--columns",
        metavar="FIELD=TITLE",
        help="Column of a cable list, where its words do not tell: a_device=Server; also a_port, b_device, b_port, rate, …",
    ),
]
_Acceptance = Annotated[
    Path | None,
    typer.Option(
        "--acceptance",
        parser=named_path,
        metavar="<path>",
        help="Folder that gpufabric acceptance wrote, with results; after SPEC, in place of files.",
    ),
]
_Drawing = Annotated[
    Path | None,
    typer.Option(
        "--drawing", parser=named_path, metavar="<path>", help="Write the fabric with its faults as SVG."
    ),
]
_Html = Annotated[
    Path | None,
    typer.Option("--html", parser=named_path, metavar="<path>", help="Write the report as HTML."),
]
_Thresholds = Annotated[
    Path | None,
    typer.Option(
        "--thresholds",
        parser=named_path,
        metavar="<path>",
        help="Write the limits that the logs were judged by, for other checkers: JSON, or CSV by its ending.",
    ),
]
_Junit = Annotated[
    Path | None,
    typer.Option("--junit", parser=named_path, metavar="<path>", help="Write it as JUnit XML."),
]


@app.command()
def check(
    files: _Files,
    design: _Design = None,
    columns: _Columns = None,
    acceptance: _Acceptance = None,
    calibration: CalibrationFile = None,
    drawing: _Drawing = None,
    html: _Html = None,
    junit: _Junit = None,
    thresholds: _Thresholds = None,
    as_json: Json = False,
) -> None:
    """Say whether what was built and measured is what was designed and predicted.

    Fabric files (ibnetdiscover, iblinkinfo, LLDP, cable lists, …), counters of links and logs of nccl-tests, in any mix: faults
    of the cabling with the re-plugs that mend them and their cost until then, ports with errors, and for each size from 16 MiB of
    a log measured, expected range, ceiling and verdict. Exit status 1 when there is an error.
    """
    from gpufabric.formats.cable_list import columns_of_options
    from gpufabric.formats.calibration_toml import read_calibration
    from gpufabric.formats.cluster_yaml import resolve_spec
    from gpufabric.jobs.check_files import check_files, split_spec
    from gpufabric.jobs.sort_files import sorted_files

    known = read_calibration(calibration) if calibration else None
    if acceptance is not None:
        _check_ladder(files, acceptance, known, (drawing, html, junit, thresholds), as_json)
        return
    titles = columns_of_options(columns or ())
    spec_name, sources = split_spec(files, design)
    with working("checking"):
        spec = None if spec_name is None else resolve_spec(spec_name)
        with sorted_files(sources, titles) as read:
            result = check_files(read, spec, design, known, titles)
    name = spec.name if spec is not None else (design or sources[0])
    _write(result, name, result.drawing, (drawing, html, junit, thresholds))
    if as_json:
        print_document("check", result.to_dict())
    else:
        _print(result)
    for text in result.notes:
        note(f"note: {text}")
    finish(result.findings)


def _write(result: FilesCheck | CheckResult, name: str, picture: str, paths: _Paths) -> None:
    """Write drawing, page, JUnit XML and thresholds, those that are asked for."""
    from gpufabric.errors import InputError
    from gpufabric.report.check_html import check_page
    from gpufabric.report.check_junit import check_junit
    from gpufabric.report.threshold_files import thresholds_text, verdict_thresholds
    from gpufabric.report.write_files import write_text

    drawing, html, junit, thresholds = paths
    limits = verdict_thresholds(result.verdicts) if thresholds else []
    if thresholds and not limits:
        raise InputError("--thresholds: no log was judged, so there are no limits; give a log of nccl-tests")
    if drawing is not None and not picture:
        raise InputError("--drawing: no file tells of a fabric that can be drawn; give one about the wiring")
    wanted = [(drawing, picture)] if drawing else []
    wanted += [(html, check_page(name, result.to_dict(), picture))] if html else []
    wanted += [(junit, check_junit(result.verdicts, result.findings))] if junit else []
    wanted += [(thresholds, thresholds_text(thresholds, name, "", limits))] if thresholds else []
    for path, content in wanted:
        write_text(path, content)
        note(f"wrote {path}")


def _check_ladder(
    files: list[str], folder: Path, known: Calibration | None, paths: _Paths, as_json: bool
) -> None:
    """Judge the results of an acceptance folder; of healthy tests only the count is printed."""
    from gpufabric.errors import InputError
    from gpufabric.formats.cluster_yaml import resolve_spec
    from gpufabric.jobs.check_acceptance import check_acceptance
    from gpufabric.report.check_text import assumption_text, verdict_text

    if len(files) != 1:
        raise InputError("--acceptance: give the description alone before it; its results are in the folder")
    with working("checking"):
        spec = resolve_spec(files[0])
        result = check_acceptance(spec, folder, known)
    _write(result, spec.name, "", paths)
    if as_json:
        print_document("check", result.to_dict())
    else:
        for verdict in result.verdicts:
            if verdict.verdict != "healthy":
                print_text(f"{verdict.what}\n{verdict_text(verdict)}")
        healthy = sum(verdict.verdict == "healthy" for verdict in result.verdicts)
        print_text(
            f"{healthy:,} of {result.coverage['tests_run']:,} tests healthy; {result.coverage['tests']:,} planned"
        )
        print_findings(result.findings)
    if result.assumptions:
        note(assumption_text(result.assumptions))
    finish(result.findings)


def _print(result: FilesCheck) -> None:
    from gpufabric.report.check_text import COLUMNS, assumption_text, size_rows, verdict_text
    from gpufabric.report.wiring_text import (
        COST_COLUMNS,
        REPAIR_COLUMNS,
        cost_rows,
        inferred_text,
        match_text,
        repair_rows,
    )

    if result.match is not None:
        print_text(match_text(result.match))
    if result.certainty is not None:
        print_text(inferred_text(result.inferred, result.certainty))
    for verdict in result.verdicts:
        if verdict.sizes:
            print_table(COLUMNS, size_rows(verdict.sizes), verdict.what)
        else:
            print_text(verdict.what)
        print_text(verdict_text(verdict))
    print_findings(result.findings)
    if result.repairs:
        print_text("")
        print_table(REPAIR_COLUMNS, repair_rows(result.repairs), "Repairs, in this order")
    if result.costs:
        print_table(COST_COLUMNS, cost_rows(result.costs), "Until then")
    if result.assumptions:
        note(assumption_text(result.assumptions))
