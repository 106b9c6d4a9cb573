"""Settings that change which links a job has → the description's library with the other value of each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from gpufabric.libraries.lifted_limits import setting_of
from gpufabric.records.library_model import LibraryModel, LibrarySettings
from gpufabric.records.results import CollectiveResult
from gpufabric.records.spec_fields import Library

_WORTH = 1.01


@dataclass(frozen=True, slots=True)
class Relinked:
    """A library with a setting that gives a job other links, and what was changed, as a reader is told."""

    library: Library
    changed: tuple[str, ...]


def relinked(
    library: Library | None, model: LibraryModel, settings: LibrarySettings, domain_servers: int
) -> Iterator[Relinked]:
    """Yield the library without the settings that take links away, and with NVLink kept inside each server.

    Parameters
    ----------
    library : Library, optional
        As described; None: all left open.
    model, settings
        As read of it.
    domain_servers : int
        Servers that NVLink joins.
    """
    described = library or Library()
    off = {"peer-to-peer-off": not settings.peer_to_peer, "domain": not settings.domain}
    taken = [rule.name for rule in model.settings if rule.name in settings.given and off.get(rule.acts or "")]
    if taken:
        kept = {name: text for name, text in described.settings.items() if name not in taken}
        yield Relinked(
            described.model_copy(update={"settings": kept}), tuple(f"{name} left out" for name in taken)
        )
    name = setting_of(model, "domain")
    if name and settings.domain and domain_servers > 1 and model.domain_since:
        split = described.settings | {name: "0"}
        yield Relinked(described.model_copy(update={"settings": split}), (f"{name}=0",))


def take_attainable(
    found: Sequence[CollectiveResult], lifted: Sequence[CollectiveResult], changed: Sequence[str]
) -> list[CollectiveResult]:
    """Return results whose attainable figures are those with changed settings, where these are better.

    Parameters
    ----------
    found : sequence of CollectiveResult
    lifted : sequence of CollectiveResult
        With the settings changed.
    changed : sequence of str
        What was changed, as a reader is told.
    """
    best = {(one.size_bytes, one.rank_order): one for one in lifted}
    return [_better(one, best.get((one.size_bytes, one.rank_order)), changed) for one in found]


def _better(
    one: CollectiveResult, other: CollectiveResult | None, changed: Sequence[str]
) -> CollectiveResult:
    now = one.attainable_busbw_bytes_per_s
    lifted = other.attainable_busbw_bytes_per_s if other is not None else None
    if other is None or now is None or lifted is None or lifted <= _WORTH * now:
        return one
    return replace(
        one,
        attainable_busbw_bytes_per_s=lifted,
        attainable_settings=(*changed, *other.attainable_settings),
        attainable_algorithm=other.attainable_algorithm,
        attainable_ceiling_busbw_bytes_per_s=other.attainable_ceiling_busbw_bytes_per_s,
    )
