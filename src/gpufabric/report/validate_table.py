"""A validation → rows of tables: what is to be reached, figures by class, operation and size, and the rows themselves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from gpufabric.records.validation import Bar, ErrorSummary, ValidatedRow, Validation
from gpufabric.units import counted, format_gigabytes_per_s, format_message_bytes, format_time

BAR_COLUMNS = ("what is to be reached", "median", "at most", "p90", "at most", "reached", "clusters", "rows")
GROUP_COLUMNS = ("", "median", "p90", "bias", "inside range", "clusters", "rows")
ROW_COLUMNS = (
    "row",
    "cluster",
    "operation",
    "GPUs",
    "size",
    "measured",
    "predicted",
    "80 % range",
    "error",
    "",
)
_LINES_SHOWN = 5
TITLES: Mapping[str, str] = {"class": "By class", "op": "By operation", "size_band": "By size"}


def bar_rows(bars: Sequence[Bar]) -> list[tuple[str, ...]]:
    """Return one row of text a bar."""
    return [
        (
            bar.name,
            _percent(bar.summary.median_abs_error),
            _percent(bar.limit),
            _percent(bar.summary.p90_abs_error),
            _percent(bar.p90_limit),
            {True: "yes", False: "no", None: "no data"}[bar.met],
            str(bar.summary.clusters),
            str(bar.summary.rows),
        )
        for bar in bars
    ]


def group_rows(groups: Mapping[str, ErrorSummary]) -> list[tuple[str, ...]]:
    """Return one row of text a group."""
    return [
        (
            name,
            _percent(found.median_abs_error),
            _percent(found.p90_abs_error),
            _signed(found.bias),
            _percent(found.inside_range),
            str(found.clusters),
            str(found.rows),
        )
        for name, found in groups.items()
    ]


def validated_rows(rows: Sequence[ValidatedRow]) -> list[tuple[str, ...]]:
    """Return one row of text a measurement; the last cell says why it does not count."""
    return [
        (
            row.id,
            row.cluster,
            row.op,
            str(row.gpus),
            format_message_bytes(row.size_bytes),
            _value(row, row.measured),
            f"{_value(row, row.predicted)} ({row.algorithm}, {row.protocol})",
            f"{_value(row, row.low)} – {_value(row, row.high)}",
            _signed(row.error),
            row.not_counted,
        )
        for row in rows
    ]


def validation_notes(result: Validation) -> str:
    """Return what was counted and what not, each reason with its number of rows."""
    lines = [
        f"{result.file}: {counted(result.summary.rows, 'row')} of {counted(result.summary.clusters, 'cluster')} counted, "
        "one vote a cluster; error is predicted / measured − 1, of the time below 16 MiB and of busbw from there",
        f"method: {result.method}",
    ]
    reasons = Counter(row.not_counted for row in result.rows if row.not_counted)
    lines += [f"not counted: {counted(number, 'row')}: {reason}" for reason, number in reasons.most_common()]
    left_out: dict[str, list[int]] = {}
    for row in result.left_out:
        left_out.setdefault(row.reason, []).append(row.line)
    for reason, at in sorted(left_out.items(), key=lambda one: -len(one[1])):
        shown = ", ".join(f"{line:,}" for line in at[:_LINES_SHOWN])
        more = f" and {len(at) - _LINES_SHOWN:,} more" if len(at) > _LINES_SHOWN else ""
        where = f"line{'s' if len(at) > 1 else ''} {shown}{more}"
        lines.append(f"left out: {counted(len(at), 'row')} ({where}): {reason}")
    return "\n".join(lines)


def _value(row: ValidatedRow, value: float) -> str:
    return format_time(value) if row.quantity == "time_s" else format_gigabytes_per_s(value)


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{100 * share:.1f} %"


def _signed(share: float | None) -> str:
    return "–" if share is None else f"{100 * share:+.1f} %"
