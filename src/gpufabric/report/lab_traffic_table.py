"""Measured all_reduces beside their prediction → rows of tables, logs as nccl-tests writes them, and a page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from gpufabric.formats.measured_table_write import HowMeasured, write_measured_table
from gpufabric.records.measurements import MeasuredRow, MeasuredTable
from gpufabric.report.html_page import html_page
from gpufabric.report.lab_ip_table import plane_text
from gpufabric.units import counted, format_message_bytes, gigabytes, microseconds

TRAFFIC_COLUMNS = (
    "situation", "size (B)", "time (us)", "algbw (GB/s)", "busbw (GB/s)", "#wrong", "predicted (GB/s)", "difference",
)  # fmt: skip
SITUATION_COLUMNS = ("situation", "what", "held back by", "by chance of the hash (GB/s)")


def rate_text(bytes_per_s: float) -> str:
    """Return a rate as GB/s with the digits that a rehearsal's small links need."""
    return f"{gigabytes(bytes_per_s):.4f}"


def summary_rows(result: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return name and value of what ran; *result* as its ``to_dict()`` has it."""
    return [
        ("fabric", f"{result['cluster']}: {result['fabric']}{plane_text(result)}"),
        ("ranks", f"{counted(result['ranks'], 'server')}: {', '.join(result['rank_hosts'])}"),
        *(("scale", rule) for rule in result["scale"]),
    ]


def traffic_rows(result: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    """Yield one row a situation and size."""
    for one in result["situations"]:
        for row in one["rows"]:
            yield (
                one["name"],
                str(row["size_bytes"]),
                f"{microseconds(row['time_s']):.2f}",
                rate_text(row["algbw_bytes_per_s"]),
                rate_text(row["busbw_bytes_per_s"]),
                str(row["wrong"]),
                rate_text(row["predicted_busbw_bytes_per_s"]),
                f"{row['error']:+.1%}".replace("%", " %"),
            )


def situation_rows(result: Mapping[str, Any]) -> list[tuple[str, ...]]:
    """Return what each situation is, and the least, median and most that is predicted over all sets of connections."""
    names = ("by_chance_low_bytes_per_s", "by_chance_median_bytes_per_s", "by_chance_high_bytes_per_s")
    return [
        (one["name"], one["what"], one["bottleneck"], " … ".join(rate_text(one[name]) for name in names))
        for one in result["situations"]
    ]


def traffic_files(result: Mapping[str, Any], iterations: int) -> Iterator[tuple[str, str]]:
    """Yield name and text of each file: a log for each situation, and a page with all."""
    hosts = list(result["rank_hosts"])
    for one in result["situations"]:
        rows = tuple(
            MeasuredRow(
                0,
                row["size_bytes"],
                row["time_s"],
                row["algbw_bytes_per_s"],
                row["busbw_bytes_per_s"],
                in_place,
                row["wrong"],
                row["size_bytes"] // 4,
            )
            for row in one["rows"]
            for in_place in (False, True)
        )
        table = MeasuredTable(
            result["op"], "float", "sum", None, len(hosts), tuple((host, 1) for host in hosts), "CPU", rows
        )
        notes = (f"{one['name']}: {one['what']}", "both halves of a row are the same calls, in place")
        run = HowMeasured(hosts, [" 0 [0x00] CPU"] * len(hosts), 4, 1, iterations, notes)
        yield f"{one['name'].replace(' ', '-').replace(':', '-')}.txt", write_measured_table(table, run)
    yield "measured-and-predicted.html", traffic_page(result)


def traffic_page(result: Mapping[str, Any]) -> str:
    """Return a page of measured against predicted."""
    finding = next((f for f in result["findings"] if f["severity"] == "error"), None)
    size = format_message_bytes(max(row["size_bytes"] for one in result["situations"] for row in one["rows"]))
    worst = max((one["rows"][-1]["error"] for one in result["situations"]), key=abs)
    verdict = (
        f"{finding['where']}: {finding['message']}"
        if finding
        else f"At {size} no situation is further than {abs(worst):.1%} off its prediction".replace("%", " %")
    )
    tables = (
        ("Measured and predicted", TRAFFIC_COLUMNS, list(traffic_rows(result))),
        ("Situations", SITUATION_COLUMNS, situation_rows(result)),
        ("What ran", ("", ""), summary_rows(result)),
        ("Assumptions", ("",), [(text,) for text in result["assumptions"]]),
    )
    values = {
        "name": result["cluster"],
        "tone": "error" if finding else "fine",
        "verdict": verdict,
        "tables": tables,
    }
    return html_page("lab_traffic.html.j2", values, "report.css")
