"""What a file says → the rows that people look at."""

from __future__ import annotations

from collections.abc import Sequence

from gpufabric.units import format_gigabytes_per_s

_SHOWN = 8


def part_heading(file: str, line: int, output: str, node: str) -> str:
    """Return the line above one output: where it stands, what it is, whose it is."""
    return f"{file}:{line}: {output}" + (f" of {node}" if node else "")


def part_rows(
    facts: Sequence[tuple[str, str]],
    fits: Sequence[str] | None,
    expect: Sequence[tuple[str, float]],
    predicted: Sequence[tuple[str, float, float]] = (),
) -> list[tuple[str, str]]:
    """Return the rows of one output.

    Parameters
    ----------
    facts
        Name and text of what it says.
    fits
        Ids of servers of the catalogue, None where the output shows no server's inside.
    expect
        Upper bounds in bytes/s.
    predicted
        What a test should show: its name, and the ends of the 80 % range of its bus bandwidth in bytes/s.
    """
    rows = [*facts]
    if fits is not None:
        more = f" and {len(fits) - _SHOWN} more" if len(fits) > _SHOWN else ""
        rows.append(("fits", (", ".join(fits[:_SHOWN]) + more) if fits else "no server of the catalogue"))
    rows += [("at most", f"{format_gigabytes_per_s(rate)} {what}, one direction") for what, rate in expect]
    rows += [
        ("expect", f"{format_gigabytes_per_s(low)} to {format_gigabytes_per_s(high)} bus bandwidth, {what}")
        for what, low, high in predicted
    ]
    return rows
