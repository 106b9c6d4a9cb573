"""Design document → the figures at the top of the report, and one sentence about each fabric."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from gpufabric.units import counted, format_airflow, format_gbps, format_power


@dataclass(frozen=True, slots=True)
class Card:
    """One figure: what it is, its value, and what must be said with it."""

    title: str
    value: str
    remark: str = ""


def summary_cards(document: Mapping[str, Any]) -> list[Card]:
    """Return the figures, the most asked for first."""
    switches = sum(sum(fabric["switches"].values()) for fabric in document["fabrics"])
    links = sum(sum(fabric["links"].values()) for fabric in document["fabrics"])
    cards = [
        Card("GPUs", f"{document['gpus']:,}", f"in {counted(document['servers'], 'server')}"),
        Card("Switches", f"{switches:,}", f"in {_fabrics(len(document['fabrics']))}"),
        Card("Cables", f"{document['assemblies']:,}", f"for {counted(links, 'link')}"),
        _bisection(document["fabrics"][0]),
    ]
    racks = document.get("racks")
    if racks is not None:
        cards.append(
            Card(
                "Racks",
                f"{racks['racks']:,}",
                f"with {_least(racks) if racks['pdus_follow_power'] else ''}{counted(racks['pdus'], 'PDU')}",
            )
        )
    cards.append(_total("Power", document["power_w"], document["unknown_power_parts"], format_power))
    if racks is not None and (racks["airflow_cfm"] or racks["racks_without_air"]):
        cards.append(_air(racks))
    cards.append(_total("Price", document["price_usd"], document["unknown_price_parts"], _usd))
    return cards


def _air(racks: Mapping[str, Any]) -> Card:
    count = racks["racks_without_air"]
    share = f"{counted(count, 'rack')}, whose liquid-cooled share is not known" if count else ""
    if not racks["airflow_cfm"]:
        return Card("Cooling air", "unknown", share)
    cfm, _, si = format_airflow(racks["airflow_cfm"]).partition(" CFM ")
    without = f"; without {share}" if share else ""
    return Card("Cooling air", f"{cfm} CFM", f"{_least(racks)}{si.strip('()')}{without}")


def fabric_lines(fabric: Mapping[str, Any]) -> str:
    """Return what a fabric is, in one line."""
    tiers = len({tier["role"] for tier in fabric["tiers"]})
    words = [fabric["topology"], fabric["network"]]
    words += [counted(tiers, "tier")] if tiers else []
    words += [f"{fabric['planes']} planes"] if fabric["planes"] > 1 else []
    return ", ".join([*words, f"{fabric['routing']} routing"])


def total_sentence(document: Mapping[str, Any]) -> str:
    """Return what the bill of materials adds up to."""
    power = _total("Power", document["power_w"], document["unknown_power_parts"], format_power)
    price = _total("price", document["price_usd"], document["unknown_price_parts"], _usd)
    return (
        "; ".join(
            f"{card.title} {'at least ' if card.remark.startswith('at least') else ''}{card.value}"
            + (f" ({card.remark.removeprefix('at least: ')})" if card.remark else "")
            for card in (power, price)
        )
        + "."
    )


def _usd(amount: float) -> str:
    return f"{amount:,.0f} US$"


def _fabrics(count: int) -> str:
    return "one fabric" if count == 1 else f"{count} fabrics"


def _least(racks: Mapping[str, Any]) -> str:
    return "at least " if racks["unknown_power"] else ""


def _bisection(fabric: Mapping[str, Any]) -> Card:
    bisection, injection = fabric["bisection_bytes_per_s"], fabric["injection_bytes_per_s"]
    remark = f"{fabric['name']}, one direction"
    if bisection is None:
        return Card("Bisection", "unknown", remark)
    if injection:
        remark += f"; {2 * bisection / injection:.0%} of what half of the GPUs send"
    return Card("Bisection", format_gbps(bisection), remark)


def _total(title: str, value: float | None, unknown: int, text: Callable[[float], str]) -> Card:
    what = "largest power of " if title == "Power" else ""
    lines = f"{what}{counted(unknown, 'line')} of the bill unknown"
    if value is None:
        return Card(title, "unknown", lines if unknown else "")
    return Card(title, text(value), f"at least: {lines}" if unknown else "all parts known")
