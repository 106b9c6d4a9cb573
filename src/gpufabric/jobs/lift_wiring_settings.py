"""Settings that change which links a job has → the description's library without them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from gpufabric.records.library_model import LibraryModel, LibrarySettings
from gpufabric.records.results import CollectiveResult
from gpufabric.records.spec_fields import Library

_WORTH = 1.01


def wiring_settings(model: LibraryModel, settings: LibrarySettings) -> tuple[str, ...]:
    """Return the names of the settings that take links away: peer-to-peer access, NVLink over several servers."""
    off = {"peer-to-peer-off": not settings.peer_to_peer, "domain": not settings.domain}
    return tuple(
        rule.name for rule in model.settings if rule.name in settings.given and off.get(rule.acts or "")
    )


def without_settings(library: Library, names: Sequence[str]) -> Library:
    """Return the library with some settings left out."""
    kept = {name: text for name, text in library.settings.items() if name not in names}
    return library.model_copy(update={"settings": kept})


def take_attainable(
    found: Sequence[CollectiveResult], lifted: Sequence[CollectiveResult], names: Sequence[str]
) -> list[CollectiveResult]:
    """Return results whose attainable figures are those without some settings, where these are better.

    Parameters
    ----------
    found : sequence of CollectiveResult
    lifted : sequence of CollectiveResult
        Without the settings *names*.
    names : sequence of str
    """
    best = {(one.size_bytes, one.rank_order): one for one in lifted}
    return [_better(one, best.get((one.size_bytes, one.rank_order)), names) for one in found]


def _better(one: CollectiveResult, other: CollectiveResult | None, names: Sequence[str]) -> CollectiveResult:
    if other is None or other.attainable_busbw_bytes_per_s <= _WORTH * one.attainable_busbw_bytes_per_s:
        return one
    return replace(
        one,
        attainable_busbw_bytes_per_s=other.attainable_busbw_bytes_per_s,
        attainable_settings=(*(f"{name} left out" for name in names), *other.attainable_settings),
        attainable_algorithm=other.attainable_algorithm,
        attainable_ceiling_busbw_bytes_per_s=other.attainable_ceiling_busbw_bytes_per_s,
    )
