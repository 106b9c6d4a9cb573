"""A CSV file from anybody → its rows with their lines."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from pathlib import Path

from gpufabric.errors import InputError, printable
from gpufabric.formats.open_input import open_input

MAX_FILE_BYTES = 2**26
MAX_ROWS = 200_000


def csv_rows(path: Path | str, where: str) -> Iterator[tuple[int, list[str]]]:
    """Yield (line, cells without spaces around them) of the rows of a table of measurements; *where* names it in refusals.

    Raises
    ------
    InputError
        If the file can't be read, is larger than 64 MiB, no UTF-8 or no CSV, or has more than 200,000 rows.
    """
    yield from _rows(_text(path, where), where)


def _text(path: Path | str, where: str) -> str:
    try:
        with open_input(path) as file:
            data = file.read(MAX_FILE_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "not a usable path"
        raise InputError(f"{where}: can't be read ({reason}); name a CSV file of measurements") from None
    if len(data) > MAX_FILE_BYTES:
        raise InputError(
            f"{where}: is larger than 64 MiB; a table of measurements has at most that; split it"
        )
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InputError(f"{where}:{line}: is not UTF-8; save the table as CSV in UTF-8") from None


def _rows(text: str, where: str) -> Iterator[tuple[int, list[str]]]:
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        for count, cells in enumerate(reader):
            if count > MAX_ROWS:
                raise InputError(f"{where}:{reader.line_num}: has more than {MAX_ROWS:,} rows; split it")
            if any(cell.strip() for cell in cells):
                yield reader.line_num, [cell.strip() for cell in cells]
    except csv.Error as error:
        raise InputError(
            f"{where}:{reader.line_num}: is not CSV ({printable(str(error))}); "
            "separate cells with commas and close every quote"
        ) from None
