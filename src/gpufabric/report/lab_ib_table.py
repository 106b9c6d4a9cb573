"""Routing by real OpenSM → rows of tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gpufabric.units import format_duration

SHARE_COLUMNS = ("way", "links", "least", "mean", "most")
SHIFT_COLUMNS = ("tables of", "shifts", "fullest link, mean", "worst", "shifts without a shared link")


def summary_rows(result: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return name and value of what was routed and whether every end port is reached; *result* as its ``to_dict()`` has it."""
    tables = result["tables"]
    plane = f", subnet {result['plane']} of {result['planes']}" if result["planes"] > 1 else ""
    return [
        ("fabric", f"{result['cluster']}: {result['fabric']}{plane}"),
        ("routing engine", f"{result['engine_used']} (asked for {result['engine_asked']})"),
        ("OpenSM", f"{result['opensm_version']}, {format_duration(result['run_s'])}"),
        ("switches", f"{result['switches']:,}"),
        ("end ports", f"{result['end_ports']:,}"),
        ("links", f"{result['links']:,}"),
        ("pairs without a way", f"{tables['unreachable']:,} of {tables['pairs']:,}"),
        ("pairs on a longer way", f"{tables['longer']:,}"),
        (
            "links between switches",
            f"{tables['most_hops']} at most (shortest: {tables['most_shortest_hops']})",
        ),
        ("links to one end port", f"{tables['links_per_destination']:,.1f} from all switches, in the mean"),
    ]


def share_rows(result: Mapping[str, Any]) -> list[tuple[str, ...]]:
    """Return how many end ports are reached over a link of each kind."""
    return [
        (s["way"], f"{s['links']:,}", f"{s['least']:,}", f"{s['mean']:,.1f}", f"{s['most']:,}")
        for s in result["tables"]["shares"]
    ]


def shift_rows(result: Mapping[str, Any]) -> list[tuple[str, ...]]:
    """Return what shift permutations do with the tables, and with d-mod-k on the same wiring."""
    loads = [
        (result["engine_used"], result["tables"]["shifts"]),
        ("d-mod-k", result["tables"]["static_shifts"]),
    ]
    return [
        (
            name,
            f"{s['shifts']}",
            f"{s['mean_fullest']:.2f}",
            f"{s['worst_fullest']}",
            f"{s['clean_share']:.0%}",
        )
        for name, s in loads
        if s is not None
    ]
