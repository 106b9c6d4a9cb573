"""Labels → a printable page: A4, two columns, two equal halves a flag, so that it can be read from both sides of the cable."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from gpufabric.errors import InputError, did_you_mean, printable
from gpufabric.report.html_page import html_page
from gpufabric.units import format_length

MOST_SHEET_LABELS = 5_000
_COLUMNS = (
    "label",
    "kind",
    "near_text",
    "near_device",
    "far_text",
    "far_device",
    "far_ends",
    "cable_part",
    "length_m",
)


def labels_for(labels: pa.Table, place: str) -> pa.Table:
    """Return the labels of the plugs in one rack, on one device, or on the devices of one unit.

    Parameters
    ----------
    labels
        What :func:`gpufabric.report.labels_table.labels_table` returns.
    place
        Name of a rack (``B07``), a device, or a unit (``su03``).

    Raises
    ------
    InputError
        If no plug is there.
    """
    wanted = place.strip()
    rack, device = labels["near_rack"], labels["near_device"].cast(pa.string())
    tests = (
        pc.equal(rack.cast(pa.string()), wanted.upper()),
        pc.equal(device, wanted),
        pc.starts_with(device, f"{wanted.lower()}-"),
    )
    for test in tests:
        found = labels.filter(pc.fill_null(test, False))
        if wanted and found.num_rows:
            return found
    racks = sorted(text for text in pc.unique(rack).to_pylist() if text is not None)
    known = f"racks are {racks[0]} to {racks[-1]}" if racks else "there is no floor plan, so name a device"
    raise InputError(
        f'labels for "{printable(place)}": no cable ends there; name a rack, a device or a unit such as su01; '
        f"{known}.{did_you_mean(wanted.upper(), racks)}"
    )


def labels_sheet(labels: pa.Table, cluster_name: str) -> str:
    """Return the sheet as one HTML page that loads nothing. A patch cord is printed twice, once for each of its plugs.

    Raises
    ------
    InputError
        If there are more than ``MOST_SHEET_LABELS``.
    """
    if labels.num_rows > MOST_SHEET_LABELS:
        raise InputError(
            f"a sheet of {labels.num_rows:,} labels is too long to print; at most {MOST_SHEET_LABELS:,} are allowed; "
            "choose a rack, a device or a unit"
        )
    flags = []
    for row in labels.select(_COLUMNS).to_pylist():
        flags += [_flag(row)] * (2 if row["kind"] == "cord" else 1)
    values = {"name": cluster_name, "flags": flags, "count": labels.num_rows}
    return html_page("labels_sheet.html.j2", values, "labels_sheet.css")


def _flag(row: dict[str, Any]) -> dict[str, str]:
    length = row["length_m"]
    details = (row["cable_part"] or "part unknown", "" if length is None else format_length(length))
    far = row["far_text"] or "unknown"
    if row["far_ends"] > 1:
        far = f"{row['far_ends']} ends: {far}"
    return {
        "label": row["label"],
        "near": row["near_text"],
        "near_device": row["near_device"] or "",
        "far": far,
        "far_device": (row["far_device"] or "") if row["far_ends"] == 1 else "",
        "cable": " · ".join(text for text in details if text),
    }
