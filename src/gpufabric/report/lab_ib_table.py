"""Routing by real OpenSM → rows of tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gpufabric.units import format_duration, format_gigabytes_per_s, format_message_bytes

SHARE_COLUMNS = ("way", "links", "least", "mean", "most")
HOT_COLUMNS = ("link", "shared in shifts", "messages at worst")
CUT_COLUMNS = ("", "before", "after")
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
        (
            "links to one end port",
            f"{tables['links_per_destination']:,.1f} from all switches, in the mean "
            f"({tables['least_links_per_destination']:,} to {tables['most_links_per_destination']:,})",
        ),
        *_wiring_rows(result["wiring"]),
    ]


def _wiring_rows(wiring: Mapping[str, Any] | None) -> list[tuple[str, str]]:
    if wiring is None:
        return []
    return [
        ("ibnetdiscover", f"{wiring['links_as_designed']:,} of {wiring['links']:,} links as designed"),
        ("speed of links", wiring["speed"]),
    ]


def hot_rows(result: Mapping[str, Any]) -> list[tuple[str, ...]]:
    """Return the links that most shifts share."""
    return [(h["link"], f"{h['shifts']:,}", f"{h['worst']:,}") for h in result["tables"]["hot_links"]]


def cut_rows(result: Mapping[str, Any]) -> list[tuple[str, ...]]:
    """Return what was before and after the cut; none where nothing was cut."""
    after = result["reroute"]
    if after is None:
        return []
    both = (result, after)
    tables = [one["tables"] for one in both]
    rows: list[tuple[str, ...]] = [
        ("routing engine", *(one["engine_used"] for one in both)),
        ("OpenSM took", *(format_duration(one["run_s"]) for one in both)),
        ("switches", *(f"{one['switches']:,}" for one in both)),
        ("end ports", *(f"{one['end_ports']:,}" for one in both)),
        ("end ports cut off", "0", f"{after['end_ports_cut_off']:,}"),
        ("pairs without a way", *(f"{t['unreachable']:,} of {t['pairs']:,}" for t in tables)),
        ("pairs on a longer way", *(f"{t['longer']:,}" for t in tables)),
        ("links between switches, at most", *(f"{t['most_hops']}" for t in tables)),
        ("fullest link of shifts, mean", *(f"{t['shifts']['mean_fullest']:.2f}" for t in tables)),
        ("fullest link of shifts, worst", *(f"{t['shifts']['worst_fullest']}" for t in tables)),
        ("links ever shared", *(f"{t['links_ever_shared']:,}" for t in tables)),
    ]
    for priced in after["collectives"]:
        rates = priced["before_busbw_bytes_per_s"], priced["after_busbw_bytes_per_s"]
        name = f"{priced['op']} of {format_message_bytes(priced['size_bytes'])}, busbw"
        rows.append((name, *(format_gigabytes_per_s(rate) if rate is not None else "–" for rate in rates)))
    return rows


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


def cut_title(result: Mapping[str, Any]) -> str:
    """Return what was pulled, as the title of :func:`cut_rows`."""
    after = result["reroute"]
    links = "1 link" if after["links_cut"] == 1 else f"{after['links_cut']:,} links"
    return f"OpenSM routes again without {links}: {', '.join(after['cut'])}"


def cut_notes(result: Mapping[str, Any]) -> list[str]:
    """Return why a collective has no figure."""
    return [
        f"{priced['op']}: {priced['note']}" for priced in result["reroute"]["collectives"] if priced["note"]
    ]
