"""A collective as spans of time on tracks: what a trace viewer shows."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Span:
    """Something that takes time.

    Attributes
    ----------
    group, track : str
        Spans of one track stand in one line unless they overlap; tracks stand in groups.
    name : str
    start_s, duration_s : float
    details : dict
        What a reader sees who selects the span.
    """

    group: str
    track: str
    name: str
    start_s: float
    duration_s: float
    details: dict[str, str | float | int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Timeline:
    """Spans and notes on them.

    Attributes
    ----------
    spans : tuple of Span
    notes : dict of str to str
        What the whole file is about.
    """

    spans: tuple[Span, ...]
    notes: dict[str, str]
