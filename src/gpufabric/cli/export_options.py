"""What ``gpufabric export`` and ``gpufabric convert`` share: their options, and how they hand over files."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gpufabric.cli.options import named_path
from gpufabric.cli.output import note, print_document, print_table

if TYPE_CHECKING:
    from gpufabric.jobs.export import Exported, WrittenFile

To = Annotated[
    str,
    typer.Option("--to", metavar="NAME[,NAME]", help="What to write; --list names all with what they keep."),
]
Output = Annotated[
    Path | None,
    typer.Option(
        "-o",
        "--output",
        parser=named_path,
        metavar="<path>",
        help="Folder for the files; a target with one file goes to standard output without it.",
    ),
]
FabricNames = Annotated[
    list[str] | None,
    typer.Option(
        "--fabric", metavar="NAME", help="Fabric to write, may be given often; default: all that fit."
    ),
]
Lspci = Annotated[
    Path | None,
    typer.Option(
        "--lspci",
        parser=named_path,
        metavar="<path>",
        help="Output of lspci -vvv of one server, for bus addresses.",
    ),
]
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="KEY=VALUE", help="A choice of the target, may be given often; see --list."
    ),
]
List = Annotated[
    bool,
    typer.Option(
        "--list", help="Say of each target (of --to, else all) what it keeps, loses and follows, and end."
    ),
]


def names_of(to: str) -> tuple[str, ...]:
    """Return the names in a list with commas."""
    return tuple(name.strip() for name in to.split(",") if name.strip())


def print_targets(command: str, to: str, as_json: bool) -> None:
    """Print what is said of targets: those of *to*, or all."""
    from gpufabric.exports import EXPORTS
    from gpufabric.jobs.export import known_targets
    from gpufabric.report.export_table import target_documents, target_rows

    targets = known_targets(names_of(to) or EXPORTS)
    if as_json:
        print_document(command, {"targets": target_documents(targets)})
        return
    for target in targets:
        print_table(("", ""), target_rows(target), target.name)


def hand_over(command: str, exported: Exported, output: Path | None, as_json: bool) -> None:
    """Write the files into *output*, or the only one to standard output, and say what they keep and lose.

    Raises
    ------
    InputError
        When there are several files and no folder, or the folder can't be written.
    """
    from gpufabric.errors import InputError
    from gpufabric.jobs.export import write_exports
    from gpufabric.report.export_table import kept_and_lost

    files = [file for one in exported.exports for file in one.files]
    if output is None and as_json:
        raise InputError(
            "--json: the document and the files can't both go to standard output; name a folder with -o"
        )
    if output is None and len(files) != 1:
        raise InputError(f"-o: there are {len(files)} files; name a folder for them")
    if output is None:
        for piece in files[0].pieces:
            sys.stdout.write(piece.decode("utf-8"))
        written: tuple[WrittenFile, ...] = ()
    else:
        written = write_exports(exported, output)
    if as_json:
        print_document(command, exported.to_dict(written))
        return
    for one in exported.exports:
        for text in kept_and_lost(one.target):
            note(f"note: {text}")
    for text in exported.notes:
        note(f"note: {text}")
    for finding in exported.findings:
        note(f"{finding.severity}: {finding.where}: {finding.message} [{finding.rule}]")
    if written:
        names = ", ".join(file.path for file in written[:8])
        more = f" and {len(written) - 8} more" if len(written) > 8 else ""
        note(f"wrote {names}{more} to {output}")
