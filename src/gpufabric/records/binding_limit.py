"""What sets the time of a collective, and how much of it each kind of link would need alone."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal


@dataclass(frozen=True, slots=True)
class BindingLimit:
    """The limit of one estimate.

    Attributes
    ----------
    kind : str
        ``steps``: starts and steps of messages; ``inside`` or ``fabric``: links inside nodes or between them, at their own rate
        or at what the library gets out of them; ``protocol``: the most that the protocol moves.
    name : str
        The link, or what of the library it is.
    shares : dict of str to float
        Kind of link → part of the time of the bytes that it alone would need at the rates that the library reaches, 0 to 1; the
        fullest has 1.
    """

    kind: Literal["steps", "inside", "fabric", "protocol"]
    name: str
    shares: dict[str, float] = field(default_factory=dict)
