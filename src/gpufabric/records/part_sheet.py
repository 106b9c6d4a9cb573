"""What the catalogue says of its parts, ready to be printed: lists of parts and the sheet of one part."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class PartSummary:
    """One line of a list of parts.

    ``own`` marks a part from the user's folder, ``replaces`` one that stands in for a shipped part of the
    same id.
    """

    id: str
    kind: str
    vendor: str
    model: str
    what: str
    status: str
    own: bool = False
    replaces: bool = False


@dataclass(frozen=True, slots=True)
class PartList:
    """The parts of a catalogue, or those of one kind."""

    parts: tuple[PartSummary, ...]
    overridden: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the list as plain JSON values."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Figure:
    """One field of a part: its value as JSON and as text with a unit, and where it comes from.

    ``secondary`` says that it is known only from a secondary source; ``assumed`` why it is assumed rather
    than published.
    """

    field: str
    text: str
    value: Any
    source: str = ""
    url: str = ""
    read: str = ""
    note: str = ""
    secondary: bool = False
    assumed: str = ""


@dataclass(frozen=True, slots=True)
class PartSheet:
    """Everything that is known of one part. ``picture`` is the inside of a server, one text a line."""

    id: str
    kind: str
    vendor: str
    model: str
    status: str
    part_number: str
    aliases: tuple[str, ...]
    description: str
    figures: tuple[Figure, ...]
    picture: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the sheet as plain JSON values."""
        return asdict(self)
