"""Changes from one wiring to the next → a table of counts, and the lines that the cabling crew reads first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

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
    """Return what is re-plugged, replaced and relabelled, link by link, the first of each."""
    moved = [
        f"move: {link['old_a']} – {link['old_b']} → {link['new_a']} – {link['new_b']}"
        for link in changes["links_moved"][:SHOWN]
    ]
    removed = [f"remove: {link['old_a']} – {link['old_b']}" for link in changes["links_removed"][:SHOWN]]
    replaced = [f"replace: {name}, {old} by {new}" for name, old, new in changes["replaced"][:SHOWN]]
    relabelled = [f"relabel: {old} → {new}" for old, new in changes["relabelled"][:SHOWN]]
    return [
        *_shortened(moved, changes["links_moved"], "links to move"),
        *_shortened(removed, changes["links_removed"], "links to remove"),
        *_shortened(replaced, changes["replaced"], "devices to replace"),
        *_shortened(relabelled, changes["relabelled"], "devices to relabel"),
    ]


def _shortened(lines: list[str], whole: Sequence[Any], what: str) -> list[str]:
    rest = len(whole) - len(lines)
    return [*lines, *([f"and {rest:,} more {what}; --json lists them all"] if rest else [])]
