"""Parts of a design → the documents that their figures come from."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from gpufabric.records.part_lookup import PartLookup
from gpufabric.records.parts import Part, ServerPart


@dataclass(frozen=True, slots=True)
class Reference:
    """One document and the parts whose figures it gives."""

    title: str
    url: str
    read: str
    note: str
    parts: tuple[str, ...]


def part_references(part_ids: Iterable[str], parts: PartLookup) -> list[Reference]:
    """Return the documents behind the given parts and the NICs inside the servers among them, in alphabetical order."""
    found: dict[tuple[str, str, str, str], set[str]] = {}
    for part in _with_nics(part_ids, parts):
        for source in part.sources.values():
            key = (source.title, source.url, source.read, source.note)
            found.setdefault(key, set()).add(part.id)
    return [Reference(*key, tuple(sorted(ids))) for key, ids in sorted(found.items())]


def _with_nics(part_ids: Iterable[str], parts: PartLookup) -> list[Part]:
    wanted = dict.fromkeys(part_ids)
    for part_id in list(wanted):
        part = parts.get(part_id)
        if isinstance(part, ServerPart):
            wanted.update(dict.fromkeys(nic.part for nic in part.nics))
    known = (parts.get(part_id) for part_id in wanted)
    return [part for part in known if part is not None]
