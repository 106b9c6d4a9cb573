"""A cable list as CSV or XLSX → :class:`FoundFabric`: how nearly every real cluster was planned.

One row a cable with device and port of both ends, in any order of columns; see :mod:`gpufabric.formats.cable_columns`. NetBox's
import and export of cables and gpufabric's own cabling plan are such lists.
"""

from __future__ import annotations

import csv
import itertools
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import BinaryIO

from gpufabric.errors import InputError, printable
from gpufabric.formats.cable_columns import guessed_columns, has_ports, is_whole, told_columns
from gpufabric.formats.cable_rows import End, add_cable
from gpufabric.formats.found_rows import FoundRows
from gpufabric.formats.log_lines import LogFile
from gpufabric.formats.xlsx_rows import is_xlsx, xlsx_rows
from gpufabric.records.found_fabric import FoundFabric
from gpufabric.units import counted, parse_rate

_HEADER_ROWS = 40
_MAX_CELL = 256
_MAX_COLUMNS = 200
_DELIMITERS = ",;\t|"
_JOINED = re.compile(r"(.+?)\s*(?::|\s/\s|\s+port\s+|\s{2,}|,\s*)\s*(\S.*)", re.IGNORECASE)
_GBPS = re.compile(r"(\d{1,4}(?:\.\d{1,3})?)\s*(?:G|Gb|Gbe|GE|Gbit|Gbps|Gb/s|Gbit/s)?", re.IGNORECASE)
_NO_RATE = ("", "-", "--", "n/a", "na", "none", "null", "unknown", "tbd", "auto", "default")
Row = tuple[int, list[str]]


def read_cable_list(
    source: str | Path | BinaryIO, name: str = "", columns: Mapping[str, str] | None = None
) -> FoundFabric:
    """Read a cable list.

    Parameters
    ----------
    source
        Path of a CSV file (comma, semicolon, tab or bar; plain or gzip), ``-`` for standard input, an open binary stream, or the
        path of an XLSX file, of which all sheets with a header are read.
    name
        What findings call the file; default: the path.
    columns
        Titles of columns by field (``a_device``, ``a_port``, ``a_rack``, the same of ``b``, ``rate``, ``rate_gbps``,
        ``cable_part``) where the words of the header don't tell them.

    Returns
    -------
    FoundFabric
        Devices of unknown kind, ports by their names.

    Raises
    ------
    InputError
        When the file can't be opened or read, or a column that was told does not exist. Other bad content never raises.
    """
    rows = FoundRows("")
    if is_xlsx(source):
        rows.start_file(name or str(getattr(source, "name", source)), "cable list")
        lines = 0
        for sheet in xlsx_rows(source):
            lines += _read_table(rows, sheet, columns or {})
        rows.end_file(lines)
        return rows.finish()
    log = LogFile(source)
    rows.start_file(name or log.name, "cable list")
    _read_table(rows, _csv_rows(log), columns or {})
    rows.end_file(log.lines_read, log.stopped)
    return rows.finish()


def _csv_rows(log: LogFile) -> Iterator[Row]:
    lines = log.lines()
    head = list(itertools.islice(lines, _HEADER_ROWS))
    counts = {mark: sum(min(line.text.count(mark), _MAX_COLUMNS) for line in head) for mark in _DELIMITERS}
    delimiter = max(counts, key=lambda mark: counts[mark])
    for line in itertools.chain(head, lines):
        if not line.text.strip():
            continue
        try:
            yield line.number, next(csv.reader([line.text], delimiter=delimiter))
        except (csv.Error, StopIteration):
            yield line.number, [line.text]


def _read_table(rows: FoundRows, table: Iterator[Row], told: Mapping[str, str]) -> int:
    """Read one table and return the number of its last row."""
    head = list(itertools.islice(table, _HEADER_ROWS))
    at, columns = _header(rows, head, told)
    last = head[-1][0] if head else 0
    if at < 0:
        for number, _ in _skipped(rows, itertools.chain(head, table)):
            last = number
        return last
    for number, cells in head[: max(at - 1, 0)]:
        if sum(bool(cell.strip()) for cell in cells) > 1:
            rows.miss(number, "a row above the header of a cable list is left out")
    headers = [_folded(cells) for _, cells in head[max(at - 1, 0) : at + 1]]
    without_unit: list[int] = []
    for number, cells in itertools.chain(head[at + 1 :], table):
        last = number
        if rows.full:
            break
        texts = [cell[:_MAX_CELL].strip().lstrip("'") for cell in cells[:_MAX_COLUMNS]]
        if not any(texts):
            continue
        again = _header_again(texts, headers, columns, told)
        if again is not None:
            columns = again
            rows.note("found-lines", "info", number, "a header of a cable list stands here again")
            continue
        ends = tuple(_end(texts, columns, side) for side in "ab")
        rate = _rate(rows, texts, columns, number, without_unit)
        part, *racks = (_cell(texts, columns.get(field)) for field in ("cable_part", "a_rack", "b_rack"))
        if not add_cable(rows, (ends[0], ends[1]), number, rate, part, (racks[0], racks[1])):
            rows.miss(number, "a row of a cable list lacks a device or a port")
    if without_unit:
        rows.note(
            "found-lines",
            "info",
            without_unit[0],
            f"rates are not taken from {counted(len(without_unit), 'cell')} that have no unit, here and below",
            "write them as 400G, or name the column speed_gbps",
        )
    return last


def _folded(cells: Iterable[str]) -> list[str]:
    return [cell.strip().lower() for cell in cells]


def _header_again(
    texts: list[str], headers: list[list[str]], columns: dict[str, int], told: Mapping[str, str]
) -> dict[str, int] | None:
    """Return the columns from here on where a row is a header, as in lists that were joined; None for any other row."""
    if _folded(texts) in headers:
        return columns
    # Names of devices and ports nearly always have digits, headers hardly ever.
    if told or any(character.isdigit() for text in texts for character in text):
        return None
    guessed = guessed_columns(texts)
    return guessed if has_ports(guessed) and is_whole(guessed) else None


def _skipped(rows: FoundRows, table: Iterable[Row]) -> Iterator[Row]:
    for number, cells in table:
        if any(cell.strip() for cell in cells):
            rows.miss(number, "a row is below no header that names both ends of a cable")
        yield number, cells


def _header(rows: FoundRows, head: list[Row], told: Mapping[str, str]) -> tuple[int, dict[str, int]]:
    """Return the row of the header and its columns; -1 when there is none."""
    best: tuple[int, dict[str, int]] = (-1, {})
    for at, (_, row) in enumerate(head):
        cells = row[:_MAX_COLUMNS]
        for above in ([], head[at - 1][1][:_MAX_COLUMNS] if at else []):
            columns = guessed_columns(cells, above)
            if has_ports(columns) and is_whole(columns):
                return at, columns | told_columns(cells, told, rows.where(head[at][0]))
            if is_whole(columns) and best[0] < 0:
                best = at, columns
    if not told:
        return best
    for at, (number, cells) in enumerate(head):
        titles = {cell.strip().lower() for cell in cells}
        if all(title.strip().lower() in titles for title in told.values()):
            return at, guessed_columns(cells) | told_columns(cells, told, rows.where(number))
    first = head[0] if head else (1, [])
    return 0, told_columns(first[1], told, rows.where(first[0]))


def _end(cells: list[str], columns: Mapping[str, int], side: str) -> End:
    device = _cell(cells, columns.get(f"{side}_device"))
    if f"{side}_port" in columns:
        return device, _cell(cells, columns[f"{side}_port"])
    joined = _JOINED.fullmatch(device)
    return (joined[1].strip(), joined[2].strip()) if joined else (device, "")


def _cell(cells: list[str], at: int | None) -> str:
    return cells[at] if at is not None and at < len(cells) else ""


def _rate(
    rows: FoundRows, cells: list[str], columns: Mapping[str, int], number: int, without_unit: list[int]
) -> float:
    """Return the rate that a row tells, NaN where it tells none; what can't be one is noted."""
    text = _cell(cells, columns.get("rate_gbps", columns.get("rate")))
    if text.lower() in _NO_RATE:
        return math.nan
    plain = text.replace(".", "", 1).isdigit()
    if plain and "rate_gbps" not in columns:
        without_unit.append(number)  # a bare number may be Gb/s or Mb/s
        return math.nan
    found = _GBPS.fullmatch(text)
    if found is None or float(found[1]) == 0:
        rows.note(
            "found-lines",
            "info",
            number,
            f'"{printable(text, 40)}" is no rate of a link; the cable is taken without one',
            "write it as 400G",
        )
        return math.nan
    return parse_rate(f"{found[1]} Gb/s")


def columns_of_options(texts: Iterable[str]) -> dict[str, str]:
    """Return the columns of options such as ``a_device=Server``.

    Raises
    ------
    InputError
        If a text has no equals sign.
    """
    found = {}
    for text in texts:
        field, sign, title = text.partition("=")
        if not sign:
            raise InputError(
                f'--columns: "{printable(text)}" is not understood; write a field and a title, such as a_device=Server'
            )
        found[field.strip()] = title
    return found
