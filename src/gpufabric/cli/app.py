"""The command line's root: which commands there are, each imported only when it runs.

``--help`` answers at once because it reads the summaries below and imports no command.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from importlib import import_module
from typing import Annotated, Any

import typer
import typer.main
from typer.core import TyperGroup

from gpufabric import __version__
from gpufabric.errors import InputError, did_you_mean, printable


@dataclass(frozen=True, slots=True)
class CommandEntry:
    """Where a command lives and what it does in one line.

    The module defines ``app``, a :class:`typer.Typer` made by :func:`gpufabric.cli.options.command_app`. ``summary`` is the first
    line of the command's docstring; it stands here as well because ``--help`` must not import the module.
    """

    module: str
    summary: str


COMMANDS: dict[str, CommandEntry] = {
    "design": CommandEntry(
        "gpufabric.cli.design",
        "Count switches and links, assign every port, and write what purchasing and the cabling crew need.",
    ),
    "compare": CommandEntry(
        "gpufabric.cli.compare",
        "Set alternatives side by side, each really wired, or say what changes from one design to the next.",
    ),
    "collective": CommandEntry(
        "gpufabric.cli.collective",
        "Predict time and bus bandwidth of a collective, its range, ceiling and bottleneck.",
    ),
    "train": CommandEntry(
        "gpufabric.cli.train",
        "Predict step time, MFU, memory, days and cost of training a model on the cluster.",
    ),
    "check": CommandEntry(
        "gpufabric.cli.check", "Say whether what was built and measured is what was designed and predicted."
    ),
    "acceptance": CommandEntry(
        "gpufabric.cli.acceptance",
        "Write the ladder of tests that accepts a cluster: hostfiles, commands and what each should reach.",
    ),
    "explain": CommandEntry(
        "gpufabric.cli.explain",
        "Say what files of a server or a job show, what is unusual, and which server of the catalogue fits.",
    ),
    "validate": CommandEntry(
        "gpufabric.cli.validate",
        "Say how far predictions lie from published measurements, one vote a cluster.",
    ),
    "calibrate": CommandEntry(
        "gpufabric.cli.calibrate", "Fit predictions to own measurements, and say how much that changes."
    ),
    "bench": CommandEntry(
        "gpufabric.cli.bench",
        "Measure a collective on your own machines, under torchrun or mpirun, as nccl-tests does.",
    ),
    "budget": CommandEntry(
        "gpufabric.cli.budget",
        "Say how long a training run takes, from its operations and the GPUs' compute rate.",
    ),
    "lab": CommandEntry(
        "gpufabric.cli.lab",
        "Prove a design on real programs: routing by OpenSM or FRRouting, traffic by Gloo.",
    ),
    "faults": CommandEntry(
        "gpufabric.cli.faults",
        "Write what a cluster that was cabled wrongly, or a job that is slow, would leave: to train people and tools.",
    ),
    "export": CommandEntry(
        "gpufabric.cli.export",
        "Write a design as the files of schedulers, inventories, simulators, switches and drawing programs.",
    ),
    "convert": CommandEntry(
        "gpufabric.cli.convert",
        "Write what files tell of a fabric's wiring as the files of other programs.",
    ),
    "parts": CommandEntry(
        "gpufabric.cli.parts", "List the parts of the catalogue, or show one with its sources."
    ),
    "schema": CommandEntry("gpufabric.cli.schema", "Print the JSON Schema of a cluster or job description."),
}


class LazyGroup(TyperGroup):
    """A group that imports a command when it is called, never to list it."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names of all commands, in the order of the registry."""
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Import and return one command; None when there is none of that name."""
        entry = COMMANDS.get(cmd_name)
        if entry is None:
            return None
        command: Any = typer.main.get_command(import_module(entry.module).app)
        command.help = command.help or entry.summary
        return command

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Find the command that *args* starts with.

        Raises
        ------
        InputError
            When there is no such command.
        """
        name = args[0]
        if name not in COMMANDS and not name.startswith("-"):
            raise InputError(
                f'command "{printable(name)}" is unknown; known: {", ".join(COMMANDS)}.'
                f"{did_you_mean(name, COMMANDS)}"
            )
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the command list of ``--help`` from the registry."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, entry.summary) for name, entry in COMMANDS.items()])


app = typer.Typer(cls=LazyGroup, add_completion=False, rich_markup_mode=None)


def _print_version(wanted: bool) -> None:
    if wanted:
        sys.stdout.write(f"gpufabric {__version__}\n")
        raise typer.Exit


@app.callback(
    invoke_without_command=True,
    epilog="Exit status: 0 fine, 1 findings of severity error, 2 input that can't be used. "
    "Results go to stdout, notes to stderr.",
)
def gpufabric(
    context: typer.Context,
    version: Annotated[
        bool,
        typer.Option(
            "--version", help="Print the version and leave.", callback=_print_version, is_eager=True
        ),
    ] = False,
    debug: Annotated[
        bool, typer.Option("--debug", help="Show the traceback of an error; allowed anywhere on the line.")
    ] = False,
) -> None:
    """Design, predict and check the networks of GPU clusters, from one description of the cluster."""
    if context.invoked_subcommand is None:
        sys.stdout.write(context.get_help() + "\n")
