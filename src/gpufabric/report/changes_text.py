"""Changes from one wiring to the next → a table of counts, and the lines that the cabling crew reads first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gpufabric.units import format_length

SHOWN = 20
_KINDS = ("kept", "moved", "added", "removed")


def changes_table(changes: Mapping[str, Any]) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Return headings and a row each for devices, links and cables.

    Parameters
    ----------
    changes
        ``ClusterChanges.to_dict()``.
    """
    return ("", *_KINDS), [
        (what, *(f"{changes[what][kind]:,}" for kind in _KINDS)) for what in ("devices", "links", "cables")
    ]


def change_lines(changes: Mapping[str, Any]) -> list[str]:
    """Return how much of what stays has another place or cable, then each kind of change link by link, the first of each."""
    moved = [
        f"move: {link['old_a']} – {link['old_b']} → {link['new_a']} – {link['new_b']}"
        for link in changes["links_moved"][:SHOWN]
    ]
    removed = [f"remove: {link['old_a']} – {link['old_b']}" for link in changes["links_removed"][:SHOWN]]
    replaced = [f"replace: {name}, {old} by {new}" for name, old, new in changes["replaced"][:SHOWN]]
    relabelled = [f"relabel: {old} → {new}" for old, new in changes["relabelled"][:SHOWN]]
    restood = [f"stands elsewhere: {name}, {old} → {new}" for name, old, new in changes["elsewhere"][:SHOWN]]
    recabled = [
        f"another cable: {link['a']} – {link['b']}, {_cable(link, 'old')} → {_cable(link, 'new')}"
        for link in changes["recabled"][:SHOWN]
    ]
    return [
        _summary(changes),
        *_shortened(moved, changes["links_moved"], "links to move"),
        *_shortened(removed, changes["links_removed"], "links to remove"),
        *_shortened(replaced, changes["replaced"], "devices to replace"),
        *_shortened(relabelled, changes["relabelled"], "devices to relabel"),
        *_shortened(restood, changes["elsewhere"], "devices that stand elsewhere"),
        *_shortened(recabled, changes["recabled"], "links with another cable"),
    ]


def _summary(changes: Mapping[str, Any]) -> str:
    """Return the line on the places of devices and the cables of links that stay."""
    elsewhere, recabled = len(changes["elsewhere"]), len(changes["recabled"])
    devices = changes["devices"]["kept"] + changes["devices"]["moved"]
    links = changes["links"]["kept"] + changes["links"]["moved"]
    return (
        f"{elsewhere:,} of {devices:,} devices that stay stand in another rack or unit; "
        f"{recabled:,} of {links:,} links that stay or move need another part or length of cable"
    )


def _cable(link: Mapping[str, Any], when: str) -> str:
    length = link[f"{when}_length_m"]
    return f"{link[f'{when}_part'] or 'part unknown'} {'? m' if length is None else format_length(length)}"


def _shortened(lines: list[str], whole: Sequence[Any], what: str) -> list[str]:
    rest = len(whole) - len(lines)
    return [*lines, *([f"and {rest:,} more {what}; --json lists them all"] if rest else [])]
