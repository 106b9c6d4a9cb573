"""Targets of exports → the text that people read: what each keeps of a design, what it loses, and its choices."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from gpufabric.records.export_target import ExportTarget

_NETWORKS = {"any": "InfiniBand and Ethernet", "infiniband": "InfiniBand", "ethernet": "Ethernet"}


def target_rows(target: ExportTarget) -> list[tuple[str, str]]:
    """Return what is said of a target, one fact a row."""
    rows = [
        ("program", target.title),
        ("files", target.files),
        ("network", _NETWORKS[target.network]),
        ("keeps", target.kept),
        ("loses", target.lost),
    ]
    if not target.from_files:
        rows.append(("from files", "no: it needs what only a description says"))
    rows += [
        (f"{option.key}=", _option_text(option.meaning, option.values, option.default))
        for option in target.options
    ]
    return [*rows, ("source", target.source)]


def target_documents(targets: Iterable[ExportTarget]) -> list[dict[str, Any]]:
    """Return what is said of targets as plain JSON values."""
    return [
        {
            "target": target.name,
            "title": target.title,
            "files": target.files,
            "network": target.network,
            "kept": target.kept,
            "lost": target.lost,
            "from_files": target.from_files,
            "options": [asdict(option) for option in target.options],
            "source": target.source,
        }
        for target in targets
    ]


def kept_and_lost(target: ExportTarget) -> list[str]:
    """Return two remarks for who has just written a target."""
    return [f"{target.name} keeps {target.kept}", f"{target.name} loses {target.lost}"]


def _option_text(meaning: str, values: tuple[str, ...], default: str) -> str:
    allowed = f"; {', '.join(values)}" if values else ""
    return f"{meaning}{allowed}; default: {default or 'none'}"
