"""Comparison → two tables, what each alternative takes and what it gives, and the lines that say why some can't be built."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gpufabric.units import counted, format_gbps, format_length, format_power, format_time

TAKES = (
    "alternative",
    "can be built",
    "ports/GPU",
    "leaf + spine + core",
    "by port count alone",
    "cables",
    "metres",
)
GIVES = (
    "alternative",
    "switches near – far",
    "latency near – far",
    "GPUs near",
    "bisection",
    "power",
    "price",
)
_UNKNOWN = "unknown"
Table = tuple[str, tuple[str, ...], list[tuple[str, ...]]]


def compare_tables(document: Mapping[str, Any], title: str = "") -> list[Table]:
    """Return title, headings and rows of two tables: what each alternative takes, and what each that can be built gives.

    Parameters
    ----------
    document
        ``Comparison.to_dict()``.
    title : str
        Of the first table.
    """
    built = [row for row in document["rows"] if row["buildable"]]
    tables = [
        (title, *_filled(TAKES, [_takes(row) for row in document["rows"]])),
        ("What the network gives, and what it draws", *_filled(GIVES, [_gives(row) for row in built])),
    ]
    return tables if built else tables[:1]


def _filled(
    columns: tuple[str, ...], rows: list[tuple[str, ...]]
) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Leave out the columns that no row fills."""
    keep = [i for i in range(len(columns)) if any(row[i] not in ("", _UNKNOWN) for row in rows)]
    return tuple(columns[i] for i in keep), [tuple(row[i] for i in keep) for row in rows]


def refusals(document: Mapping[str, Any]) -> list[str]:
    """Return a line for what can't be built, alternatives with one reason together: the reason and the nearest that can."""
    together: dict[tuple[str, str | None], list[str]] = {}
    for row in document["rows"]:
        if not row["buildable"]:
            together.setdefault((row["reason"], row["nearest"]), []).append(row["name"])
    return [
        f"{'; '.join(names)} can't be built: {reason}"
        + (f"; nearest that can be built: {near}" if near else "")
        for (reason, near), names in together.items()
    ]


def _takes(row: Mapping[str, Any]) -> tuple[str, ...]:
    floor = _floor(row["floor"])
    if not row["buildable"]:
        return row["name"], "no", "", "", floor, "", ""
    ports, length = row["ports_per_gpu"], row["cable_length_m"]
    return (
        row["name"],
        "yes",
        f"{ports:,.4g}" if ports < 1000 else f"{ports:,.0f}",
        " + ".join(f"{n:,}" for n in row["switches"].values() if n) or "none",
        floor,
        f"{row['cables']:,}",
        _UNKNOWN if length is None else _sum(format_length(length), row["cables_of_unknown_length"]),
    )


def _gives(row: Mapping[str, Any]) -> tuple[str, ...]:
    bisection, price = row["bisection_bytes_per_s"], row["price_usd"]
    return (
        row["name"],
        _pair(row["near_hops"], row["far_hops"], str) + _unreached(row["unreached_servers"]),
        _pair(row["near_latency_s"], row["far_latency_s"], format_time),
        "" if row["near_gpus"] is None else f"{row['near_gpus']:,}",
        _UNKNOWN if bisection is None else format_gbps(bisection),
        # Fibres draw nothing, so a sum of 0 W is not worth the name of a lower bound.
        _sum(format_power(row["power_w"]), row["unknown_power_parts"]) if row["power_w"] else _UNKNOWN,
        _UNKNOWN if price is None else _sum(f"{price:,.0f} US$", row["unknown_price_parts"]),
    )


def _sum(text: str, unknown: int) -> str:
    return f"≥ {text}" if unknown else text


def _pair(near: Any, far: Any, text: Any) -> str:
    if near is None:
        return ""
    return text(near) if text(near) == text(far) else f"{text(near)} – {text(far)}"


def _unreached(servers: int) -> str:
    return f" ({counted(servers, 'server')} unreached)" if servers else ""


def _floor(floor: Mapping[str, Any] | None) -> str:
    if floor is None:
        return ""
    if floor["cables"] is not None:
        ports, end = floor["ports_per_gpu"], "GPU"
        if ports is None:
            ports, end = floor["ports_per_server"], "server"
        return f"{ports:,} ports/{end}, {counted(floor['cables'], 'cable')}"
    if floor["switch_ports"] is not None:
        return f"{counted(floor['switch_ports'], 'port')}; ends at {floor['most_endpoints']:,}"
    counts = " + ".join(f"{n:,}" for n in floor["switches"].values())
    return f"{counts}; ends at {floor['most_endpoints']:,}"
