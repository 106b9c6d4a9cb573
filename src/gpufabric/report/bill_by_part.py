"""Bill of materials of the design document → one row a part for the terminal: cables of all lengths together."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from gpufabric.units import format_length_range

Row = Mapping[str, Any]


def bill_by_part(bill: Sequence[Row]) -> list[dict[str, Any]]:
    """Return the rows of a bill with those that differ in length only as one, in the order of the first of each.

    Parameters
    ----------
    bill
        ``bill_of_materials`` of the design document.

    Returns
    -------
    list of dict
        Rows with the same keys; ``length_m`` is replaced by the text ``lengths``, empty where no row has a length. Power and
        price are sums, None when that of one row is not known.
    """
    together: dict[tuple[Any, ...], list[Row]] = {}
    for row in bill:
        together.setdefault(_key(row), []).append(row)
    return [_summed(rows) for rows in together.values()]


def unknown_parts(bill: Iterable[Row], figure: str) -> int:
    """Return how many parts of a bill miss from the sum of ``power_w`` or ``price_usd``, or are in it by a typical power.

    Parts that come inside others are left out.
    """
    if figure == "power_w":
        return len(
            {
                _key(row)
                for row in bill
                if (row["added_power_w"] is None or row["typical_power"]) and not row["included"]
            }
        )
    return len({_key(row) for row in bill if row[figure] is None and not row["included"]})


def _key(row: Row) -> tuple[Any, ...]:
    return row["part"], row["kind"], row["note"], row["included"]


def _summed(rows: list[Row]) -> dict[str, Any]:
    lengths = [math.nan if row["length_m"] is None else row["length_m"] for row in rows]
    summed = {key: value for key, value in rows[0].items() if key != "length_m"}
    return {
        **summed,
        "count": sum(row["count"] for row in rows),
        "lengths": "" if all(map(math.isnan, lengths)) else format_length_range(lengths),
        "power_w": _sum([row["power_w"] for row in rows]),
        "added_power_w": _sum([row["added_power_w"] for row in rows]),
        "price_usd": _sum([row["price_usd"] for row in rows]),
    }


def _sum(figures: list[float | None]) -> float | None:
    known = [figure for figure in figures if figure is not None]
    return math.fsum(known) if len(known) == len(figures) else None
