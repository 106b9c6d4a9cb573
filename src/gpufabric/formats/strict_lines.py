"""A text that a program would read to the letter → its lines as words, and refusals that say file and line."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple, NoReturn

from gpufabric.errors import InputError, printable
from gpufabric.formats.clean_text import read_clean

_WHOLE = re.compile(r"[0-9]{1,18}")


class WordLine(NamedTuple):
    """One line that is not empty, with what refusals call it."""

    where: str
    words: tuple[str, ...]

    def refuse(self, what: str, instead: str) -> NoReturn:
        """Raise InputError: *what* is wrong with the line, and what is allowed *instead*."""
        found = printable(" ".join(self.words), 60)
        raise InputError(f'{self.where}: {what} ("{found}"); {instead}')

    def whole(self, place: int, least: int = 0) -> int:
        """Return the word at *place* as a whole number."""
        word = self.words[place] if place < len(self.words) else ""
        if not _WHOLE.fullmatch(word) or int(word) < least:
            self.refuse(
                f"{printable(word, 20) or 'nothing'} is no number",
                f"write a whole number of {least} or more as word {place + 1}",
            )
        return int(word)

    def number(self, place: int, unit: str = "") -> float:
        """Return the word at *place*, which ends in *unit*, as a number of 0 or more."""
        word = self.words[place] if place < len(self.words) else ""
        try:
            value = float(word.removesuffix(unit)) if word.endswith(unit) and word[:1].isdigit() else math.nan
        except ValueError:
            value = math.nan
        if not math.isfinite(value) or value < 0:
            self.refuse(f"{printable(word, 20) or 'nothing'} is not understood", f"write such as 400{unit}")
        return value


def word_lines(source: str | Path | BinaryIO, name: str = "", comment: str = "#") -> Iterator[WordLine]:
    """Yield the lines of a text of bounded size that are neither empty nor comments.

    Raises
    ------
    InputError
        When it can't be opened, or is too long.
    """
    text = read_clean(source, name)
    if text.stopped or text.cut_lines:
        raise InputError(f"{text.name}: {text.stopped or 'a line is too long'}; give a shorter file")
    for line in text.lines:
        words = tuple(line.text.split())
        if words and not words[0].startswith(comment):
            yield WordLine(f"{text.name}:{line.number}", words)
