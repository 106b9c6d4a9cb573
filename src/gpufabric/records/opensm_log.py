"""What OpenSM's log says: which routing engine it really used, and what it complained about."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class LoggedError:
    """A line of level *error*, numbered from 1."""

    line: int
    text: str


@dataclass(frozen=True, slots=True)
class OpensmLog:
    """What a log of OpenSM says.

    Attributes
    ----------
    version : str
        Empty when the log does not say it.
    engines : tuple of str
        Engine whose tables were written to the switches, one a sweep that wrote tables; the last one holds now.
    subnet_up : bool
        Whether the last sweep ended well.
    errors : tuple of LoggedError
        The first of them.
    error_count, not_understood : int
        Lines of level error; lines that are neither a log line nor the continuation of one.
    """

    version: str
    engines: tuple[str, ...]
    subnet_up: bool
    errors: tuple[LoggedError, ...]
    error_count: int
    not_understood: int

    @property
    def engine(self) -> str:
        """The engine whose tables hold now; empty when none was written."""
        return self.engines[-1] if self.engines else ""
