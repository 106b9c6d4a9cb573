"""What decides how ECMP spreads the messages of a job over equal paths, apart from the seed."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class FlowHashing:
    """How messages are hashed.

    Attributes
    ----------
    queue_pairs : int
        Of one connection: a long message is split evenly over them, and each is hashed on its own.
    polarised : bool
        Every tier hashes with the same seed, so that a switch sees only messages that have chosen alike before.
    """

    queue_pairs: int = 1
    polarised: bool = False


PLAIN = FlowHashing()
"""One queue pair, hashed anew at every tier."""
