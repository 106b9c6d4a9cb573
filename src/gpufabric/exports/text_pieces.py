"""Lines of text → pieces of bytes, so that a file of a million lines is never held whole."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice

_LINES = 4096


def text_pieces(lines: Iterable[str]) -> Iterator[bytes]:
    """Return *lines*, each without its line end, as UTF-8 in pieces of some thousand lines."""
    waiting = iter(lines)
    while piece := list(islice(waiting, _LINES)):
        yield ("\n".join(piece) + "\n").encode("utf-8")
