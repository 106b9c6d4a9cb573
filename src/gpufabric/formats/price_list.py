"""CSV price list ``part,price_usd[,source]`` → :class:`~gpufabric.records.prices.PriceList`, refused where it is not clear.

The format and what is refused are in ``docs/reference/prices.md``.
"""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Callable, Iterator
from pathlib import Path

from gpufabric.errors import GpufabricError, InputError, printable
from gpufabric.formats.open_input import open_input
from gpufabric.records.prices import ITEMS, ListedPrice, PriceList

MAX_FILE_BYTES = 2**22
MAX_ROWS = 50_000
MAX_PRICE_USD = 1e12
_MAX_CELL = 1000
_MAX_MESSAGES = 20
_REQUIRED, _OPTIONAL = ("part", "price_usd"), ("source",)
_NUMBER = re.compile(r"[+-]?(?:\d{1,30}(?:\.\d{0,30})?|\.\d{1,30})(?:[eE][+-]?\d{1,3})?")
_ALLOWED = "write a number of US dollars without a sign and without thousands separators, such as 2188.50"


def read_price_list(path: Path | str, resolve: Callable[[str], str]) -> PriceList:
    """Return the prices in a CSV file.

    Parameters
    ----------
    path
        UTF-8, at most 4 MiB; the first line names the columns.
    resolve
        Turns what a line calls a part into the part's id; raises a ``GpufabricError`` that says what is known.

    Raises
    ------
    InputError
        If the file can't be read or a line is wrong; one line of text for each of the first wrong lines, with file and line.
    """
    where = printable(str(path), 200)
    rows = _rows(_text(Path(path), where), where)
    columns = _columns(next(rows, (1, [])), where)
    prices: dict[str, ListedPrice] = {}
    wrong: list[str] = []
    for line, cells in rows:
        place = f"{where}:{line}"
        try:
            part, price = _price(cells, columns, place, resolve)
            if part in prices:
                raise InputError(
                    f'part "{printable(part)}" is also in {prices[part].where}; a part has one price; remove a line'
                )
            prices[part] = price
        except GpufabricError as error:
            wrong.append(f"{place}: {error}")
            if len(wrong) == _MAX_MESSAGES:
                break
    if wrong:
        raise InputError("\n".join(wrong))
    return PriceList(where, prices)


def _text(path: Path, where: str) -> str:
    try:
        with open_input(path) as file:
            data = file.read(MAX_FILE_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "not a usable path"
        raise InputError(
            f"{where}: can't be read ({reason}); name a CSV file with the columns part,price_usd"
        ) from None
    if len(data) > MAX_FILE_BYTES:
        raise InputError(f"{where}: is larger than 4 MiB; a price list has at most 4 MiB; keep what is used")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InputError(f"{where}:{line}: is not UTF-8; save the price list as CSV in UTF-8") from None


def _rows(text: str, where: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the number of the line that a row ends on, from 1, and its cells; blank rows are left out."""
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    count = 0
    try:
        for cells in reader:
            if any(cell.strip() for cell in cells):
                count += 1
                if count > MAX_ROWS + 1:
                    raise InputError(
                        f"{where}:{reader.line_num}: has more than {MAX_ROWS} prices; keep what is used"
                    )
                yield reader.line_num, [cell.strip() for cell in cells]
    except csv.Error as error:
        raise InputError(
            f"{where}:{reader.line_num}: is not CSV ({printable(str(error))}); "
            "separate cells with commas and close every quote"
        ) from None


def _columns(header: tuple[int, list[str]], where: str) -> dict[str, int]:
    line, cells = header
    names = [cell.lower() for cell in cells]
    found = printable(",".join(cells), 60)
    if not set(_REQUIRED) <= set(names):
        raise InputError(
            f'{where}:{line}: the columns are "{found}"; needed are part,price_usd and, if wanted, source; '
            "name them in the first line, separated with commas"
        )
    odd = [name for name in names if name not in _REQUIRED + _OPTIONAL]
    if odd or len(set(names)) < len(names):
        what = f'column "{printable(odd[0])}" is unknown' if odd else "a column is named twice"
        raise InputError(f"{where}:{line}: {what}; allowed are part, price_usd, source; remove it")
    return {name: index for index, name in enumerate(names)}


def _price(
    cells: list[str], columns: dict[str, int], place: str, resolve: Callable[[str], str]
) -> tuple[str, ListedPrice]:
    if len(cells) > len(columns):
        raise InputError(
            f"has {len(cells)} cells for {len(columns)} columns; {_ALLOWED}, and put a text with commas in quotes"
        )
    part, amount, source = (_cell(cells, columns, name) for name in (*_REQUIRED, *_OPTIONAL))
    if not part:
        raise InputError("has a price and no part; name the part's id, alias or part number")
    found = part.lower() if part.lower() in ITEMS else resolve(part)
    return found, ListedPrice(_usd(amount), printable(source, _MAX_CELL), place)


def _cell(cells: list[str], columns: dict[str, int], name: str) -> str:
    index = columns.get(name, len(cells))
    cell = cells[index] if index < len(cells) else ""
    if len(cell) > _MAX_CELL:
        raise InputError(f"{name} has {len(cell)} characters; at most {_MAX_CELL} are allowed; shorten it")
    return cell


def _usd(text: str) -> float:
    value = float(text) if _NUMBER.fullmatch(text) else math.nan
    if not 0 <= value <= MAX_PRICE_USD or text.startswith("-"):
        raise InputError(
            f'price_usd "{printable(text, 40)}" is not a price from 0 to {MAX_PRICE_USD:.0e}; {_ALLOWED}'
        )
    return value
