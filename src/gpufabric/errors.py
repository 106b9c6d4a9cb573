"""What stops us, as exceptions.

Every message is one line of the form *where: what is wrong (what was found); what is allowed; what to do*.
What is wrong with the user's world is a :class:`gpufabric.records.findings.Finding` instead, and a bug is a traceback.

    GpufabricError
    ├── InputError          a file, option or value that can't be used
    │   ├── SpecError       ... in a cluster or job description (carries file and line)
    │   └── PartError       ... in the catalogue or a user's parts folder
    └── UnbuildableError    a fabric that can't be wired (carries the nearest one that can)
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


class GpufabricError(Exception):
    """Base of everything that ends a command with exit status 2 and one clear line."""


class InputError(GpufabricError, ValueError):
    """A file, option or value that can't be used.

    It is a ``ValueError`` too, so that pydantic tells the place of the field whose text is wrong.
    """


class SpecError(InputError):
    """A cluster or job description that is wrong at a known place."""


class PartError(InputError):
    """A part that is unknown or whose data file is wrong."""


class UnbuildableError(GpufabricError):
    """A fabric that can't be wired as asked.

    Parameters
    ----------
    reason
        What can't be built and why, in one line.
    nearest
        The nearest fabric that can be built, as a phrase that completes "nearest that can be built: ...".
    """

    def __init__(self, reason: str, nearest: str = "") -> None:
        self.reason = reason
        self.nearest = nearest
        super().__init__(f"{reason}; nearest that can be built: {nearest}" if nearest else reason)


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return ``' Did you mean "x"?'`` for the known word closest to *word*, or an empty string."""
    close = get_close_matches(word.lower(), list(known), n=1, cutoff=0.6)
    return f' Did you mean "{close[0]}"?' if close else ""


def printable(text: str, limit: int = 80) -> str:
    """Return *text* from a stranger made safe for a terminal: control characters escaped, length bounded."""
    if len(text) <= limit and text.isprintable():
        return text
    safe = "".join(
        c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text[: limit + 1]
    )
    return safe if len(safe) <= limit else safe[: limit - 1] + "…"
