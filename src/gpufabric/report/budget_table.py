"""Budget → rows of a table, and what stands below it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gpufabric.units import format_duration, format_flops


def budget_table(document: Mapping[str, Any]) -> tuple[str, tuple[str, ...], list[tuple[str, ...]]]:
    """Return title, headings and one row of text a number of GPUs.

    Parameters
    ----------
    document
        ``Budget.to_dict()``.
    """
    share = document["utilization"]
    gpu = f"{document['gpu']}, dense {document['precision']}" if document["gpu"] else "GPUs"
    title = f"{document['flop']:.4g} operations on {gpu} of {format_flops(document['flop_per_s'])}"
    columns: tuple[str, ...] = ("GPUs", f"time at {100 * share:.4g} % of peak", "as published runs use GPUs")
    rows: list[tuple[str, ...]] = [
        (
            f"{row['gpus']:,}",
            format_duration(row["time_s"]),
            f"{format_duration(row['time_low_s'])} – {format_duration(row['time_high_s'])}",
        )
        for row in document["rows"]
    ]
    return title, columns, rows


def budget_notes(document: Mapping[str, Any]) -> str:
    """Return how the time was found and what was assumed."""
    return "\n".join([document["method"], "assumed:", *(f"  {text}" for text in document["assumptions"])])
