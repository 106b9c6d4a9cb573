"""Results → the terminal: tables, text and JSON on stdout, notes on stderr, foreign text made harmless."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import typer

from gpufabric.errors import printable
from gpufabric.report.json_text import json_document, json_text

if TYPE_CHECKING:
    from gpufabric.records.findings import Finding

_LINE_LIMIT = 100_000
_CELL_LIMIT = 400
_PIPE_WIDTH = 100_000


def print_document(command: str, body: Mapping[str, Any]) -> None:
    """Print the one JSON document of *command* on stdout."""
    sys.stdout.write(json_text(json_document(command, body)))


def print_text(text: str) -> None:
    """Print *text* on stdout with its line ends; other control characters are escaped."""
    sys.stdout.write("\n".join(printable(line, _LINE_LIMIT) for line in text.split("\n")) + "\n")


def note(text: str) -> None:
    """Print a remark on stderr, where it does not disturb a pipe."""
    sys.stderr.write("\n".join(printable(line, _LINE_LIMIT) for line in text.split("\n")) + "\n")


def print_table(columns: Sequence[str], rows: Iterable[Sequence[str]], title: str = "") -> None:
    """Print a table on stdout: fitted to the terminal, unwrapped into a pipe, numbers to the right.

    Parameters
    ----------
    columns
        Headings; all empty for a table without a heading line.
    rows
        One text a column; control characters and markup in them are shown, never obeyed.
    title
        Printed above the table; a blank line follows the table.
    """
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    cells = [[printable(cell, _CELL_LIMIT) for cell in row] for row in rows]
    table = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False, show_header=any(columns))
    for index, heading in enumerate(columns):
        numeric = bool(cells) and all(_looks_numeric(row[index]) for row in cells)
        table.add_column(Text(heading), justify="right" if numeric else "left", overflow="fold")
    for row in cells:
        table.add_row(*(Text(cell) for cell in row))
    if title:
        print_text(title)
    console = Console(file=sys.stdout, highlight=False, width=None if sys.stdout.isatty() else _PIPE_WIDTH)
    with console.capture() as printed:
        console.print(table)
    sys.stdout.write("".join(f"{line.rstrip()}\n" for line in printed.get().splitlines()))
    sys.stdout.write("\n")


def print_findings(findings: Iterable[Finding]) -> None:
    """Print findings on stdout, the worst first: severity, place, message, rule, then what to do."""
    order = ("error", "warning", "info")
    for finding in sorted(findings, key=lambda f: order.index(f.severity)):
        print_text(f"{finding.severity}: {finding.where}: {finding.message} [{finding.rule}]")
        if finding.fix:
            print_text(f"    {finding.fix}")


def finish(findings: Iterable[Finding]) -> None:
    """End the command with exit status 1 when a finding has severity error.

    Raises
    ------
    typer.Exit
        Which carries the status to :func:`gpufabric.cli.run.run`.
    """
    if any(finding.severity == "error" for finding in findings):
        raise typer.Exit(1)


def _looks_numeric(cell: str) -> bool:
    return cell.strip() in {"", "-", "–"} or cell.lstrip("+-−~<>≤≥ ")[:1].isdigit()
