"""A log file of any origin → clean numbered lines, in bounded memory.

Takes plain or gzip files, UTF-8 or UTF-16 (what PowerShell writes), CR LF, ANSI colours, and what launchers
put in front of each line (``mpirun --tag-output`` and ``--timestamp-output``, ``srun -l``, kubectl and
docker-compose).
"""

from __future__ import annotations

import gzip
import io
import re
import sys
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, cast

from gpufabric.errors import InputError, printable
from gpufabric.formats.open_input import open_input

MAX_LINE_CHARS = 1 << 16
MAX_FILE_CHARS = 1 << 32

_ANSI = re.compile(r"\x1b(?:\[[0-?]*+[ -/]*+[@-~]|\][^\x07\x1b]*+(?:\x07|\x1b\\)?|[@-Z\\^_])")
_INVISIBLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ufeff\u200b]")
_PREFIX = re.compile(
    r"""^\s*+(?:
      (?:[A-Z][a-z]{2}\ +[A-Z][a-z]{2}\ +\d{1,2}\ \d\d:\d\d:\d\d\ \d{4})?   # mpirun --timestamp-output
      \[\d{1,9},\d{1,9}\](?:<std(?:out|err|diag)>)?:?                        # mpirun --tag-output
    | [A-Z][a-z]{2}\ +[A-Z][a-z]{2}\ +\d{1,2}\ \d\d:\d\d:\d\d\ \d{4}<std(?:out|err)>:
    | \d{4}-\d\d-\d\d[T\ ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?[:\ ]
    | \[(?:pod/[^\]\s]{1,300}|\d{1,9})\](?!\ *NCCL)                     # kubectl --prefix
    | \d{1,7}:\ ?                                                            # srun -l
    | [\w.-]{1,120}\ +\|(?!\|)                                               # docker-compose
    )""",
    re.VERBOSE,
)


@dataclass(frozen=True, slots=True)
class LogLine:
    """One line, numbered from 1; ``cut`` when it was too long and only its start is here."""

    number: int
    text: str
    cut: bool = False


class _BrokenEnd(io.RawIOBase):
    """A raw stream that ends where its compressed source breaks, instead of raising."""

    def __init__(self, source: gzip.GzipFile) -> None:
        self._source = source
        self.broken = False

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        try:
            data = self._source.read1(len(buffer))
        except (EOFError, OSError, zlib.error):
            self.broken = True
            return 0
        buffer[: len(data)] = data
        return len(data)


def _clean(line: str) -> str:
    if line.isprintable():
        return line
    return _INVISIBLE.sub("", _ANSI.sub("", line))


def strip_prefix(text: str) -> str:
    """Return *text* without what launchers put in front of a line, up to three layers deep."""
    for _ in range(3):
        found = _PREFIX.match(text)
        if found is None:
            return text
        text = text[found.end() :]
    return text


class LogFile:
    """Lines of a path, of ``-`` (standard input), or of an open binary stream.

    Iterate once over :meth:`lines`; afterwards ``truncated`` says whether the compressed data broke off or
    the size limit was reached.

    Raises
    ------
    InputError
        When the file can't be opened.
    """

    def __init__(self, source: str | Path | BinaryIO) -> None:
        self._own = False
        self._borrowed: io.BufferedReader | None = None
        if isinstance(source, str | Path):
            self.name = "standard input" if str(source) == "-" else str(source)
            self._stream = self._open(source)
        else:
            self.name = str(getattr(source, "name", "stream"))
            self._stream = source
        self.truncated = False

    def _open(self, source: str | Path) -> BinaryIO:
        if str(source) == "-":
            return sys.stdin.buffer
        try:
            stream = open_input(source)
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or "not a file name"
            raise InputError(
                f"{printable(str(source))}: can't be read ({reason}); name a readable log file, or - for"
                " standard input"
            ) from None
        self._own = True
        return stream

    def _text(self) -> tuple[io.TextIOWrapper, _BrokenEnd | None]:
        buffered = cast(io.BufferedReader, self._stream)
        if not hasattr(buffered, "peek"):
            self._borrowed = buffered = io.BufferedReader(cast(io.RawIOBase, self._stream))
        guard = None
        if buffered.peek(2)[:2] == b"\x1f\x8b":
            guard = _BrokenEnd(gzip.GzipFile(fileobj=buffered))
            buffered = io.BufferedReader(guard)
        wide = buffered.peek(2)[:2] in (b"\xff\xfe", b"\xfe\xff")
        return io.TextIOWrapper(
            buffered, encoding="utf-16" if wide else "utf-8-sig", errors="replace", newline=None
        ), guard

    def lines(self) -> Iterator[LogLine]:
        """Yield the lines without ANSI codes, control characters and line ends; tabs stay."""
        text, guard = self._text()
        number = read = 0
        try:
            while line := text.readline(MAX_LINE_CHARS):
                number += 1
                read += len(line)
                cut = len(line) == MAX_LINE_CHARS and not line.endswith("\n")
                while cut and read < MAX_FILE_CHARS:
                    rest = text.readline(MAX_LINE_CHARS)
                    read += len(rest)
                    if not rest or rest.endswith("\n"):
                        break
                yield LogLine(number, _clean(line.rstrip("\n")), cut)
                if read >= MAX_FILE_CHARS:
                    self.truncated = True
                    return
            self.truncated = guard is not None and guard.broken
        except (OSError, UnicodeError) as error:
            raise InputError(
                f"{printable(self.name)}: reading stopped ({printable(str(error))}); name a readable file"
            ) from None
        finally:
            if self._own:
                self._stream.close()
            else:
                text.detach()
                if self._borrowed is not None:
                    self._borrowed.detach()
