"""Design document → sections of text for the terminal: the same facts as the JSON, in the units that people read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from gpufabric.report.resilience_table import COLUMNS as RESILIENCE_COLUMNS
from gpufabric.report.resilience_table import resilience_rows
from gpufabric.units import format_gbps, format_length, format_power

_UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Section:
    """A titled table: one heading a column, one text a cell."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def design_sections(document: Mapping[str, Any]) -> list[Section]:
    """Return the sections of a design: the whole, each fabric with its tiers and what one loss costs, the bill of materials.

    Parameters
    ----------
    document
        What :func:`gpufabric.report.design_json.design_document` returns. Its texts come from the user's
        files: whoever prints the cells must escape control characters.
    """
    sections = [_whole(document)]
    for fabric in document["fabrics"]:
        sections += [_fabric(fabric), _tiers(fabric), _resilience(document, fabric["name"])]
    return [section for section in [*sections, _bill(document)] if section.rows]


def _whole(document: Mapping[str, Any]) -> Section:
    rows = [
        ("GPUs", _count(document["gpus"])),
        ("servers", _count(document["servers"])),
        ("cables", _count(document["assemblies"])),
        ("power", _total(document["power_w"], document["unknown_power_parts"], format_power)),
        ("price", _total(document["price_usd"], document["unknown_price_parts"], _usd)),
    ]
    return Section(f"Cluster {document['name']}", ("", ""), tuple(rows))


def _fabric(fabric: Mapping[str, Any]) -> Section:
    planes = [("planes", _count(fabric["planes"]))] if fabric["planes"] > 1 else []
    switches = [(f"{role} switches", _count(n)) for role, n in fabric["switches"].items() if n]
    links = [(f"{_pair(kind)} links", _count(n)) for kind, n in fabric["links"].items() if n]
    bisection = fabric["bisection_bytes_per_s"]
    rows = [
        ("topology", fabric["topology"]),
        ("network", fabric["network"]),
        *planes,
        *switches,
        *links,
        ("injection", format_gbps(fabric["injection_bytes_per_s"])),
        ("bisection, one direction", _UNKNOWN if bisection is None else format_gbps(bisection)),
        ("power without servers", _total(fabric["power_w"], fabric["unknown_power_parts"], format_power)),
    ]
    return Section(f"Fabric {fabric['name']}", ("", ""), tuple(rows))


def _tiers(fabric: Mapping[str, Any]) -> Section:
    rows = [
        (
            tier["role"],
            _count(tier["switches"]),
            tier["part"] or _UNKNOWN,
            _count(tier["ports_down"]),
            _count(tier["ports_up"]),
            "" if tier["oversubscription"] is None else f"{tier['oversubscription']:.4g}:1",
            _UNKNOWN if tier["spare_ports"] is None else _count(tier["spare_ports"]),
        )
        for tier in fabric["tiers"]
    ]
    columns = ("tier", "switches", "part", "ports down", "ports up", "down : up", "spare ports")
    return Section(f"Tiers of {fabric['name']}", columns, tuple(rows))


def _resilience(document: Mapping[str, Any], fabric: str) -> Section:
    rows = [row for row in document.get("n_minus_1", ()) if row["fabric"] == fabric]
    return Section(f"What one loss costs in {fabric}", RESILIENCE_COLUMNS, tuple(resilience_rows(rows)))


def _bill(document: Mapping[str, Any]) -> Section:
    rows = [
        (
            row["part"] or _UNKNOWN,
            row["kind"],
            _count(row["count"]),
            "" if row["length_m"] is None else format_length(row["length_m"]),
            *(2 * ("",) if row["included"] else _power_and_price(row)),
            row["note"] or row["description"],
        )
        for row in document["bill_of_materials"]
    ]
    columns = ("part", "kind", "count", "length", "power", "price", "")
    return Section("Bill of materials", columns, tuple(rows))


def _power_and_price(row: Mapping[str, Any]) -> tuple[str, str]:
    power, price = row["power_w"], row["price_usd"]
    return _UNKNOWN if power is None else format_power(power), _UNKNOWN if price is None else _usd(price)


def _total(value: float | None, unknown: int, text: Callable[[float], str]) -> str:
    if value is None:
        return _UNKNOWN
    return f"at least {text(value)} ({unknown} parts unknown)" if unknown else text(value)


def _pair(kind: str) -> str:
    return kind.replace("_", "–")


def _count(number: int) -> str:
    return f"{number:,}"


def _usd(amount: float) -> str:
    return f"{amount:,.0f} US$"
