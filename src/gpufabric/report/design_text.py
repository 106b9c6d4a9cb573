"""Design document → sections of text for the terminal: the same facts as the JSON, in the units that people read."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gpufabric.errors import printable
from gpufabric.report.bill_by_part import bill_by_part, unknown_parts
from gpufabric.report.resilience_table import resilience_table
from gpufabric.units import counted, format_airflow, format_gbps, format_length, format_power

_UNKNOWN = "unknown"
_REMARK_CHARACTERS = 80


@dataclass(frozen=True, slots=True)
class Section:
    """A titled table: one heading a column, one text a cell."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def design_sections(document: Mapping[str, Any]) -> list[Section]:
    """Return the sections of a design: the whole, each fabric with its tiers and losses, the bill of materials, the racks.

    The bill is one row a part with short remarks; :func:`bill_section` has a row for each length and whole remarks.

    Parameters
    ----------
    document
        What :func:`gpufabric.report.design_json.design_document` returns. Its texts come from the user's
        files: whoever prints the cells must escape control characters.
    """
    sections = [_whole(document)]
    for fabric in document["fabrics"]:
        sections += [_fabric(fabric), _tiers(fabric), _resilience(document, fabric["name"])]
    sections += [_short_bill(document["bill_of_materials"]), *_racks(document.get("racks"))]
    return [section for section in sections if section.rows]


def _whole(document: Mapping[str, Any]) -> Section:
    rows = [
        ("GPUs", _count(document["gpus"])),
        ("servers", _count(document["servers"])),
        ("cables", _count(document["assemblies"])),
        ("power", _total(document, "power_w", format_power)),
        ("price", _total(document, "price_usd", _usd)),
    ]
    racks = document.get("racks")
    if racks is not None:
        least = "at least " if racks["unknown_power"] else ""
        rows += [
            ("racks", _count(racks["racks"])),
            ("PDUs", f"{least if racks['pdus_follow_power'] else ''}{_count(racks['pdus'])}"),
            ("cooling air", _air(racks, least)),
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
        ("power without servers", _total(fabric, "power_w", format_power)),
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
    headings, cells = resilience_table(rows)
    return Section(f"What one loss costs in {fabric}", headings, tuple(cells))


def bill_section(bill: Sequence[Mapping[str, Any]]) -> Section:
    """Return a bill of materials, of the whole or of one fabric, as a table; a part is described at its first line."""
    lengths = ["" if row["length_m"] is None else format_length(row["length_m"]) for row in bill]
    return _bill(bill, lengths)


def _short_bill(bill: Sequence[Mapping[str, Any]]) -> Section:
    rows = bill_by_part(bill)
    section = _bill(rows, [row["lengths"] for row in rows])
    short = tuple((*cells, printable(remark, _REMARK_CHARACTERS)) for *cells, remark in section.rows)
    return Section(section.title, section.columns, short)


def _bill(bill: Sequence[Mapping[str, Any]], lengths: Sequence[str]) -> Section:
    described: set[str] = set()
    rows = []
    for row, length in zip(bill, lengths, strict=True):
        remark = row["note"] or ("" if row["part"] in described else _about(row))
        described.add(row["part"] or "")
        rows.append((
            row["part"] or _UNKNOWN,
            row["kind"],
            _count(row["count"]),
            length,
            *(2 * ("",) if row["included"] else _power_and_price(row)),
            remark,
        ))  # fmt: skip
    columns = ("part", "kind", "count", "length", "power", "price", "remark")
    return Section("Bill of materials", columns, tuple(rows))


def _about(row: Mapping[str, Any]) -> str:
    number = f" ({row['part_number']})" if row["part_number"] else ""
    return ". ".join(text for text in (f"{row['model']}{number}", row["description"]) if text)


def _racks(racks: Mapping[str, Any] | None) -> list[Section]:
    if racks is None:
        return []
    columns = (
        "racks",
        "count",
        "height",
        "power",
        "limit",
        "feeds",
        "circuit of a feed, at least",
        "PDUs",
        "cooling air",
        "names",
    )
    rows = tuple(_rack_cells(row, racks["pdus_follow_power"]) for row in racks["rows"])
    return [Section("Racks, each", columns, rows)]


def _air(racks: Mapping[str, Any], least: str) -> str:
    """Return the cooling air of all racks, and which of them have no figure."""
    count = counted(racks["racks_without_air"], "rack") if racks["racks_without_air"] else ""
    if not racks["airflow_cfm"]:
        return f"{_UNKNOWN}: the liquid-cooled share of {count} is not known" if count else _UNKNOWN
    known = f"{least}{format_airflow(racks['airflow_cfm'])}"
    return f"{known} without {count}, whose liquid-cooled share is not known" if count else known


def _rack_cells(row: Mapping[str, Any], pdus_follow_power: bool) -> tuple[str, ...]:
    least = "at least " if row["unknown_power"] else ""

    def known(value: float | None, text: Callable[[float], str]) -> str:
        return _UNKNOWN if value is None else least + text(value)

    return (
        f"{row['purpose']}, {row['part']}" if row["part"] else row["purpose"],
        _count(row["racks"]),
        f"{row['units_used']} U of servers" if row["part"] else f"{row['units_used']} of {row['units']} U",
        known(row["power_w"], format_power),
        "" if row["limit_w"] is None else format_power(row["limit_w"]),
        f"{row['feeds']} × {known(row['feed_w'], format_power)}",
        row["feed_circuit"] or _UNKNOWN,
        f"{least if pdus_follow_power else ''}{row['pdus']}",
        known(row["airflow_cfm"], format_airflow),
        row["names"],
    )


def _power_and_price(row: Mapping[str, Any]) -> tuple[str, str]:
    power, price = row["power_w"], row["price_usd"]
    return _UNKNOWN if power is None else format_power(power), _UNKNOWN if price is None else _usd(price)


def _total(whole: Mapping[str, Any], figure: str, text: Callable[[float], str]) -> str:
    """Return a sum over the bill of the cluster or of one fabric."""
    value = whole[figure]
    if value is None:
        return _UNKNOWN
    unknown = unknown_parts(whole["bill_of_materials"], figure)
    what = "largest power of " if figure == "power_w" else ""
    return f"at least {text(value)} ({what}{counted(unknown, 'part')} unknown)" if unknown else text(value)


def _pair(kind: str) -> str:
    return kind.replace("_", "–")


def _count(number: int) -> str:
    return f"{number:,}"


def _usd(amount: float) -> str:
    return f"{amount:,.0f} US$"
