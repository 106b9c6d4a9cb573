"""What a fit to logs changed → rows of a table, and what stands below it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from gpufabric.units import counted

COLUMNS = ("GPUs", "network", "protocol", "latency ×", "rate ×", "rows")


def calibration_rows(document: Mapping[str, Any]) -> list[tuple[str, ...]]:
    """Return one row of text a change of ``LogCalibration.to_dict()``."""
    return [
        (
            change["scale_up"],
            change["network"] or "inside one node",
            change["protocol"],
            f"{change['latency_factor']:.3f}",
            f"{change['rate_factor']:.3f}",
            str(change["observations"]),
        )
        for change in document["changes"]
    ]


def calibration_notes(document: Mapping[str, Any]) -> str:
    """Return how far the predictions were off before and after, and what was left out."""
    before, after = 100 * document["error_before"], 100 * document["error_after"]
    lines = [
        f"{counted(document['rows'], 'row')} of the logs: median error of the time {before:.1f} % before, {after:.1f} % after"
    ]
    if not document["changes"]:
        lines.append("nothing changed: the calibration fits these logs already, or they are too few to say")
    lines += [f"warning: {line}" for line in document["warnings"]]
    reasons = Counter(row["reason"] for row in document["left_out"])
    lines += [f"left out: {counted(number, 'place')}: {reason}" for reason, number in reasons.most_common()]
    return "\n".join(lines)
