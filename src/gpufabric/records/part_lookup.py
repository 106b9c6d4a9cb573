"""What a function needs that only looks parts up: a dict of parts, a catalogue and a part set all have it."""

from __future__ import annotations

from typing import Protocol

from gpufabric.records.parts import AnyPart


class PartLookup(Protocol):
    """Parts by id."""

    def get(self, part_id: str, /) -> AnyPart | None:
        """Return the part of this id, None when there is none."""
