"""An XLSX workbook → the rows of its sheets as texts, through openpyxl, which is an optional package."""

from __future__ import annotations

import importlib
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from gpufabric.errors import InputError, printable
from gpufabric.formats.open_input import open_input

_MAX_BYTES = 1 << 26
_MAX_UNPACKED_BYTES = 1 << 28
_MAX_SHEETS = 50
_MAX_ROWS = 500_000
_MAX_COLUMNS = 200


def is_xlsx(source: str | Path | BinaryIO) -> bool:
    """Say whether *source* is the path of a ZIP file, as a workbook is."""
    if not isinstance(source, str | Path) or str(source) == "-":
        return False
    try:
        with open_input(source) as stream:
            return stream.read(4) == b"PK\x03\x04"
    except (OSError, ValueError):
        return False


def xlsx_rows(source: str | Path | BinaryIO) -> Iterator[Iterator[tuple[int, list[str]]]]:
    """Yield for each sheet its rows, numbered from 1, as texts; formulas as the values that were saved with them.

    Raises
    ------
    InputError
        If openpyxl is not installed, or the file is no workbook or too large.
    """
    shown = printable(str(source))
    try:
        openpyxl: Any = importlib.import_module("openpyxl")
    except ImportError:
        raise InputError(
            f"{shown}: reading a workbook needs the package openpyxl, which is not installed; install gpufabric[xlsx], "
            "or save the sheet as CSV"
        ) from None
    if isinstance(source, str | Path):
        _check_size(Path(source), shown)
    try:
        book = openpyxl.load_workbook(source, read_only=True, data_only=True, keep_links=False)
        sheets = list(book.worksheets)[:_MAX_SHEETS]
    except Exception as error:  # noqa: BLE001 - a damaged workbook raises what its XML and ZIP libraries raise
        raise InputError(
            f"{shown}: is no workbook ({printable(str(error))}); give an XLSX or CSV file"
        ) from None
    for sheet in sheets:
        yield _rows(sheet, shown)


def _check_size(path: Path, shown: str) -> None:
    try:
        with zipfile.ZipFile(path) as archive:
            unpacked = sum(entry.file_size for entry in archive.infolist())
        too_large = path.stat().st_size > _MAX_BYTES or unpacked > _MAX_UNPACKED_BYTES
    except (OSError, zipfile.BadZipFile) as error:
        raise InputError(
            f"{shown}: is no workbook ({printable(str(error))}); give an XLSX or CSV file"
        ) from None
    if too_large:
        raise InputError(
            f"{shown}: is larger than 64 MiB, or 256 MiB unpacked; save the sheet of the cables as CSV"
        )


def _rows(sheet: Any, shown: str) -> Iterator[tuple[int, list[str]]]:
    try:
        values = sheet.iter_rows(max_row=_MAX_ROWS, max_col=_MAX_COLUMNS, values_only=True)
        for number, row in enumerate(values, start=1):
            yield number, ["" if cell is None else _text(cell) for cell in row]
    except Exception as error:  # noqa: BLE001 - as above; rows are read while they are used
        raise InputError(f"{shown}: is a damaged workbook ({printable(str(error))}); save it anew") from None


def _text(cell: object) -> str:
    # A spreadsheet holds port 5 as the number 5.0.
    return str(int(cell)) if isinstance(cell, float) and cell.is_integer() else str(cell)
