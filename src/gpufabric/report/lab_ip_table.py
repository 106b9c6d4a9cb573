"""A rehearsal on real FRRouting → rows of tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gpufabric.units import counted, format_time

_ONE = {"servers": "server", "leaves": "leaf", "spines": "spine", "cores": "core"}
CHECK_COLUMNS = ("check", "", "expected", "found", "took")


def summary_rows(result: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return name and value of what was laid; *result* as its ``to_dict()`` has it."""
    kept = ", ".join(counted(count, _ONE[word], word) for word, count in result["devices"].items() if count)
    return [
        ("fabric", f"{result['cluster']}: {result['fabric']}{plane_text(result)}"),
        ("laid", kept),
        ("sessions", f"BGP, links {result['links']}" + (", BFD" if result["bfd"] else "")),
        *(("scale", rule) for rule in result["scale"]),
    ]


def plane_text(result: Mapping[str, Any]) -> str:
    """Return which of several routing domains was laid, nothing where there is one."""
    return f", routing domain {result['plane']} of {result['planes']}" if result["planes"] > 1 else ""


def check_rows(result: Mapping[str, Any]) -> list[tuple[str, ...]]:
    """Return one row a check."""
    return [
        (
            check["name"],
            check["verdict"],
            check["expected"],
            check["found"],
            "" if check["time_s"] is None else format_time(check["time_s"]),
        )
        for check in result["checks"]
    ]
