"""A log file of any origin → clean numbered lines, in bounded memory.

Takes plain or gzip files, UTF-8 or UTF-16 (what PowerShell writes), CR LF, ANSI colours, and what launchers
put in front of each line (``mpirun --tag-output`` and ``--timestamp-output``, ``srun -l``, kubectl and
docker-compose).
"""

from __future__ import annotations

import codecs
import gzip
import io
import re
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple, cast

from gpufabric.errors import InputError, printable
from gpufabric.formats.open_input import open_input

MAX_LINE_CHARS = 1 << 16
MAX_FILE_CHARS = 1 << 32
MAX_LINES = 1 << 26
#: Logs compress less than 50 times.
MAX_EXPANSION = 200
# So much may come out before the ratio is looked at: a short log of one repeated row is no bomb.
_FREE_BYTES = 1 << 20
# Compressed bytes read ahead are part of the ratio, so they must be few.
_COMPRESSED_STEP = 1 << 13
_BLOCK_BYTES = 1 << 18

_ANSI = re.compile(r"\x1b(?:\[[0-?]*+[ -/]*+[@-~]|\][^\x07\x1b]*+(?:\x07|\x1b\\)?|[@-Z\\^_])")
# Columns are narrower than that; patterns with several runs of blanks take their time to the third power.
_MOST_BLANKS = 100
_BLANKS = re.compile(rf"[^\S\n]{{{_MOST_BLANKS + 1},}}+")
_LONG_LINE = 256
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


class LogLine(NamedTuple):
    """One line, numbered from 1; ``cut`` when it was too long and only its start is here."""

    number: int
    text: str
    cut: bool = False


class LogBlock(NamedTuple):
    """Lines one after the other, blank ones too: the first has number ``first``; ``cut`` are numbers of lines too long."""

    first: int
    texts: list[str]
    cut: frozenset[int] = frozenset()


class _Counted:
    """Compressed bytes on their way to the decompressor, in small steps and counted."""

    def __init__(self, source: io.BufferedReader) -> None:
        self._source = source
        self.taken = 0

    def read(self, size: int) -> bytes:
        data = self._source.read(min(size, _COMPRESSED_STEP))
        self.taken += len(data)
        return data


class _Unpacked(io.RawIOBase):
    """What a gzip file holds; it ends, instead of raising, where the data breaks or grows beyond all measure."""

    def __init__(self, packed: io.BufferedReader) -> None:
        self._packed = _Counted(packed)
        self._source = gzip.GzipFile(fileobj=cast(BinaryIO, self._packed), mode="rb")
        self._given = 0
        self.stopped = ""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        if self._given > _FREE_BYTES and self._given > MAX_EXPANSION * self._packed.taken:
            self.stopped = (
                f"it expands to more than {MAX_EXPANSION} times its compressed size, as no log does"
            )
            return 0
        try:
            data = self._source.read1(len(buffer))
        except (EOFError, OSError, zlib.error):
            self.stopped = "its compressed data breaks off"
            return 0
        buffer[: len(data)] = data
        self._given += len(data)
        return len(data)


def _clean(line: str) -> str:
    return _INVISIBLE.sub("", _ANSI.sub("", line))


def _narrowed(line: str) -> str:
    return _BLANKS.sub(" " * _MOST_BLANKS, line)


def strip_prefix(text: str, layers: int = 3) -> str:
    """Return *text* without what launchers put in front of a line, up to so many layers deep."""
    for _ in range(layers):
        found = _PREFIX.match(text)
        if found is None:
            return text
        text = text[found.end() :]
    return text


class LogFile:
    """Lines of a path, of ``-`` (standard input), or of an open binary stream.

    Iterate once over :meth:`lines`; afterwards ``lines_read`` counts the lines, and ``stopped`` says why the file was not
    read to its end: an empty string when it was.

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
        self.lines_read = 0
        self.stopped = ""

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

    def _bytes(self) -> tuple[io.BufferedReader, _Unpacked | None]:
        buffered = cast(io.BufferedReader, self._stream)
        if not hasattr(buffered, "peek"):
            self._borrowed = buffered = io.BufferedReader(cast(io.RawIOBase, self._stream))
        if buffered.peek(2)[:2] != b"\x1f\x8b":
            return buffered, None
        guard = _Unpacked(buffered)
        return io.BufferedReader(guard), guard

    def lines(self) -> Iterator[LogLine]:
        """Yield the lines without ANSI codes, control characters and line ends; tabs stay.

        Of blank lines in a row only the first is yielded.
        """
        after_blank = False
        for block in self.blocks():
            for number, text in enumerate(block.texts, block.first):
                blank = not text or text.isspace()
                if not (blank and after_blank):
                    yield LogLine(number, text, number in block.cut)
                after_blank = blank

    def blocks(self) -> Iterator[LogBlock]:
        """Yield the same lines by the thousand, all blank ones among them: for readers of logs of gigabytes."""
        try:
            source, unpacked = self._bytes()
            yield from self._blocks(source)
            if unpacked is not None and unpacked.stopped:
                self.stopped = unpacked.stopped
        except (OSError, UnicodeError) as error:
            raise InputError(
                f"{printable(self.name)}: reading stopped ({printable(str(error))}); name a readable file"
            ) from None
        finally:
            if self._own:
                self._stream.close()
            elif self._borrowed is not None:
                self._borrowed.detach()

    def _blocks(self, source: io.BufferedReader) -> Iterator[LogBlock]:
        wide = source.peek(2)[:2] in (b"\xff\xfe", b"\xfe\xff")
        decoder = codecs.getincrementaldecoder("utf-16" if wide else "utf-8-sig")("replace")
        newlines = io.IncrementalNewlineDecoder(decoder, translate=True)
        begun, skipping, read = "", False, 0
        while True:
            data = source.read1(_BLOCK_BYTES)
            text = newlines.decode(data, final=not data)
            read += len(text)
            if skipping:
                _, found, text = text.partition("\n")
                skipping = not found
            texts = (begun + text).split("\n")
            begun = texts.pop() if data else ""
            if not data and not texts[-1]:
                texts.pop()
            if len(begun) >= MAX_LINE_CHARS:
                # The rest of such a line is read and dropped: it may be a gigabyte.
                texts.append(begun)
                begun, skipping = "", True
            room = MAX_LINES - self.lines_read
            if texts[:room]:
                yield self._block(texts[:room])
            if len(texts) > room or read > MAX_FILE_CHARS:
                self.stopped = f"it is longer than {MAX_LINES:,} lines or {MAX_FILE_CHARS:,} characters"
            if self.stopped or not data:
                return

    def _block(self, texts: list[str]) -> LogBlock:
        first = self.lines_read + 1
        self.lines_read += len(texts)
        cut: frozenset[int] = frozenset()
        longest = max(map(len, texts))
        if longest >= MAX_LINE_CHARS:
            cut = frozenset(i for i, text in enumerate(texts, first) if len(text) >= MAX_LINE_CHARS)
            texts = [text[:MAX_LINE_CHARS] for text in texts]
        if any(map(_INVISIBLE.search, texts)):
            texts = [_clean(text) for text in texts]
        if longest > _LONG_LINE:
            texts = [_narrowed(text) if len(text) > _LONG_LINE else text for text in texts]
        return LogBlock(first, texts, cut)
