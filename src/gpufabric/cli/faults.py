"""``gpufabric faults SPEC``: an as-built file with mistakes in it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from gpufabric.cli.options import Json, Spec, command_app, named_path
from gpufabric.cli.output import note, print_document
from gpufabric.cli.progress import working

app = command_app()


@app.command()
def faults(
    spec: Spec,
    inject: Annotated[
        list[str] | None,
        typer.Option(
            "--inject",
            metavar="KIND[:COUNT]",
            help="What to do wrong; may be given often. Default: one at random.",
        ),
    ] = None,
    seed: Annotated[
        int, typer.Option("--seed", min=0, help="Which of many: the same seed, the same file.")
    ] = 0,
    form: Annotated[
        str,
        typer.Option(
            "--format", help="ibnetdiscover, iblinkinfo, lldp (SONiC tables) or csv (a cable list)."
        ),
    ] = "ibnetdiscover",
    fabric: Annotated[
        str | None, typer.Option("--fabric", help="Fabric to build wrongly; default: the first.")
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            parser=named_path,
            metavar="<path>",
            help="File to write; default: standard output.",
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Write the file that discovery would give of a cluster that was cabled wrongly, to train people and tools.

    Kinds: exchanged-devices, missing-device, shifted-server, duplicate-name, swapped-pair, wrong-port, wrong-rate, wrong-cable,
    missing-link, dark-port, foreign-device, random. What was done goes to stderr, or with --json to stdout, which needs -o.
    """
    from gpufabric.errors import InputError
    from gpufabric.formats.cluster_yaml import resolve_spec
    from gpufabric.jobs.faults import FaultsOptions
    from gpufabric.jobs.faults import faults as run_faults
    from gpufabric.report.write_files import write_text

    if as_json and output is None:
        raise InputError(
            "--json: the document and the file can't both go to standard output; name a file with -o"
        )
    with working("building"):
        result = run_faults(
            resolve_spec(spec), FaultsOptions(tuple(inject or ("random",)), seed, form, fabric)
        )
    if output is None:
        sys.stdout.write(result.text)
    else:
        write_text(output, result.text)
    if as_json:
        print_document("faults", result.to_dict())
        return
    for mistake in result.mistakes:
        note(f"{mistake.kind}: {mistake.message}")
    for kind in result.hidden:
        note(f"note: a file of {result.form} does not show {kind}")
    if output is not None:
        note(f"wrote {output}")
