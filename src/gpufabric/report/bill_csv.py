"""Bill of materials → CSV, safe to open in a spreadsheet."""

from __future__ import annotations

import csv
import io

from gpufabric.report.bill_of_materials import BillOfMaterials

_COLUMNS = (
    "kind",
    "part",
    "model",
    "part_number",
    "count",
    "length_m",
    "power_w",
    "added_power_w",
    "price_usd",
    "price_source",
    "description",
    "note",
)
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


def bill_csv(bill: BillOfMaterials) -> str:
    """Return one row a part (RFC 4180); unknown figures are empty, and no cell can start a formula."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(_COLUMNS)
    for row in bill.rows:
        values = row.to_dict()
        writer.writerow([_cell(values[column]) for column in _COLUMNS])
    return out.getvalue()


def _cell(value: object) -> str:
    text = "" if value is None else f"{value:g}" if isinstance(value, float) else str(value)
    return f"'{text}" if text.startswith(_FORMULA_STARTS) else text
