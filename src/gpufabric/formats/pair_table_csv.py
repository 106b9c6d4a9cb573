"""A CSV file of numbers, a row for each sending rank → the table of an all_to_all_v."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from gpufabric.errors import InputError, printable
from gpufabric.units import MAX_MESSAGE_BYTES, format_message_bytes

MAX_BYTES = 256 << 20
MAX_RANKS = 4096


def read(path: Path) -> NDArray[np.float64]:
    """Return the bytes, or parts in any unit, that each rank (row) sends to each other (column).

    Parameters
    ----------
    path : Path
        As many lines of comma-separated numbers as there are numbers in a line; 0 for nothing. No headings.

    Returns
    -------
    float64 array, (n, n)

    Raises
    ------
    InputError
        If the file can't be read, is too large, or is no square table of numbers from 0 to the largest message, or no rank
        sends another one anything.
    """
    where = printable(str(path), 200)
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise InputError(f"{where}: can't be read ({error.strerror})") from None
    if len(data) > MAX_BYTES:
        raise InputError(
            f"{where}: is too long; allowed are {MAX_BYTES:,} bytes; a table has a number for each pair"
        )
    table: list[NDArray[np.float64]] = []
    try:
        for row in csv.reader(io.StringIO(data.decode("utf-8-sig"))):
            if not row:
                continue
            table.append(_numbers(row, f"{where}:{len(table) + 1}"))
            if len(table) > MAX_RANKS or len(table[-1]) != len(table[0]) or len(row) > MAX_RANKS:
                raise InputError(
                    f"{where}:{len(table)}: {len(row):,} numbers; allowed are as many as in the first row, "
                    f"{len(table[0]):,}, and {MAX_RANKS:,} rows; give a square table"
                )
    except (UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"{where}: is not CSV text ({printable(str(error))})") from None
    if not table or len(table) != len(table[0]):
        raise InputError(
            f"{where}: {len(table):,} rows of {len(table[0]) if table else 0:,} numbers; allowed is a square table; "
            "give a row and a column for each rank"
        )
    found = np.array(table)
    if np.count_nonzero(found) == np.count_nonzero(np.diagonal(found)):
        what = "number above 0 is on the diagonal, from a rank to itself" if found.any() else "number is 0"
        raise InputError(
            f"{where}: every {what}; allowed is a table in which some rank sends to another one; change it"
        )
    return found


def _numbers(row: list[str], where: str) -> NDArray[np.float64]:
    try:
        numbers = np.array(row, np.float64)
    except ValueError:
        numbers = np.array([np.nan])
    if not (np.isfinite(numbers) & (numbers >= 0)).all():
        raise InputError(
            f"{where}: a value is no number of 0 or more; allowed are bytes, 0 for none; change it"
        )
    if (numbers > MAX_MESSAGE_BYTES).any():
        raise InputError(
            f"{where}: a value is out of range ({numbers.max():g}); "
            f"allowed is 0 to {format_message_bytes(MAX_MESSAGE_BYTES)} ({MAX_MESSAGE_BYTES:,}); give smaller parts"
        )
    return numbers
