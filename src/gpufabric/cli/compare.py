"""``gpufabric compare``: alternatives side by side, or what changes from one design to the next."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from gpufabric.cli.options import Json, command_app
from gpufabric.cli.output import note, print_document, print_table, print_text
from gpufabric.cli.progress import working

app = command_app()


@app.command()
def compare(
    specs: Annotated[
        list[str] | None,
        typer.Argument(metavar="SPEC", help="Cluster descriptions or presets; or --gpus instead."),
    ] = None,
    gpus: Annotated[
        int | None, typer.Option("--gpus", help="Compare the classic fabrics for so many GPUs.")
    ] = None,
    server: Annotated[
        str | None, typer.Option("--server", help="With --gpus: id of the server. Default: dgx-h100.")
    ] = None,
    nic_rate: Annotated[
        str | None,
        typer.Option("--nic-rate", help="With --gpus: servers of eight GPUs and NICs of such a rate."),
    ] = None,
    switch: Annotated[
        str | None, typer.Option("--switch", help="With --gpus: id of the switch. Default: sn5600.")
    ] = None,
    changes: Annotated[
        bool | None,
        typer.Option(
            "--changes/--no-changes",
            help="Between two descriptions: what is moved, added, kept. Default: when they have one name.",
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Set alternatives side by side, each really wired, or say what changes from one design to the next."""
    from gpufabric.errors import InputError
    from gpufabric.jobs.alternatives import CompareRequest, describe_request
    from gpufabric.jobs.compare import chosen_alternatives, with_changes
    from gpufabric.jobs.compare import compare as run_compare

    named = tuple(specs or ())
    request = CompareRequest(gpus, server, nic_rate, switch)
    if changes and len(named) != 2:
        raise InputError("compare: --changes is between two descriptions; name the old one and the new one")
    chosen = chosen_alternatives(named, request)
    result = run_compare(chosen, working)
    one_name = len(named) == 2 and chosen[0].spec.name == chosen[1].spec.name
    if changes or (changes is None and one_name and result.all_buildable):
        with working("comparing the two wirings"):
            result = with_changes(result, chosen[0].spec, chosen[1].spec)
    if as_json:
        print_document("compare", result.to_dict())
    else:
        _print_text(result.to_dict(), "" if gpus is None else describe_request(request))


def _print_text(document: dict[str, Any], title: str) -> None:
    from gpufabric.report.changes_text import change_lines, changes_table
    from gpufabric.report.compare_table import compare_tables, refusals

    for heading, columns, rows in compare_tables(document, title):
        print_table(columns, rows, heading)
    for line in refusals(document):
        print_text(line)
    if document["changes"]:
        old, new = (row["name"] for row in document["rows"])
        print_table(*changes_table(document["changes"]), f"From {old} to {new}")
        for line in change_lines(document["changes"]):
            print_text(line)
    note("assumed:\n" + "\n".join(f"  {text}" for text in document["assumptions"]))
