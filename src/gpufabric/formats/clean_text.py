"""A text file of any origin → clean lines: without launcher prefixes, comment marks, colours; lines of each node apart.

A prefix is taken away only where nearly every line has one: ``01:00.0`` in front of one line is a bus id, ``3: `` in front of
all is a task of ``srun -l``. What the lines hold is for the reader of each format.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple

from gpufabric.errors import printable
from gpufabric.formats.log_lines import LogBlock, LogFile, strip_prefix

#: Such a text is held in memory whole; logs that may be longer are streamed by their own readers.
MAX_TEXT_CHARS = 1 << 26
MAX_TEXT_LINES = 500_000
#: Of a log of NCCL so much is searched for outputs of other tools.
MAX_LOG_CHARS = 1 << 24
_OF_LOG = " NCCL "
_LAYERS = 3
_LOOKED_AT = 4000
_MOST_LINES = 0.95
_BUS_ID = re.compile(r"\s*(?:[0-9a-fA-F]{4,8}:)?[0-9a-fA-F]{2}:[0-9a-fA-F]{2}\.[0-7]\b")
_LABEL = re.compile(r"\[\d+,\d+\]|pod/[^\]\s]+|^\s*\d+(?=:\s*$)|^\s*[\w.-]+(?=\s*\|$)|^\[\d+\]")
_NODE = re.compile(r"([A-Za-z][\w.-]{0,252}):(?: |$)")
_MARK = re.compile(r"\s*(?:#|>|//)(?: |\t|$)")
_FENCE = re.compile(r"\s*(?:```|~~~)")


class CleanLine(NamedTuple):
    """One line, numbered from 1; ``node`` is the label that its prefix had: a host, a task, a pod, or nothing."""

    number: int
    text: str
    node: str = ""


class CleanText(NamedTuple):
    """A whole text; ``stopped`` says why it was not read to its end, ``cut_lines`` which lines were too long."""

    name: str
    lines: tuple[CleanLine, ...]
    stopped: str = ""
    cut_lines: tuple[int, ...] = ()

    @property
    def lines_read(self) -> int:
        """Number of the last line."""
        return self.lines[-1].number if self.lines else 0


def read_clean(source: str | Path | BinaryIO, name: str = "") -> CleanText:
    """Read a text of bounded size and take away what is in front of its lines.

    Parameters
    ----------
    source
        Path of a plain or gzip file, ``-`` for standard input, or an open binary stream.
    name
        What findings call the file; default: the path.

    Raises
    ------
    InputError
        When the file can't be opened or read.
    """
    log = LogFile(source)
    text, _ = hold_text(log, log.blocks(), name)
    return text


def hold_text(log: LogFile, blocks: Iterator[LogBlock], name: str) -> tuple[CleanText, tuple[LogBlock, ...]]:
    """Take so much of a file as may be held; of a log, whose lines are alike, less.

    Returns
    -------
    CleanText
        Its ``stopped`` says why not all was taken; *blocks* gives the rest.
    tuple of LogBlock
        The same lines as they stand in the file.
    """
    shown = printable(name or log.name, 300)
    lines: list[CleanLine] = []
    held: list[LogBlock] = []
    cut: set[int] = set()
    chars = logged = 0
    after_blank = False
    for block in blocks:
        held.append(block)
        cut |= block.cut
        for number, text in enumerate(block.texts, block.first):
            blank = not text or text.isspace()
            if not (blank and after_blank):
                lines.append(CleanLine(number, text))
                chars += len(text)
                logged += _OF_LOG in text
            after_blank = blank
            if chars > MAX_TEXT_CHARS or len(lines) > MAX_TEXT_LINES:
                limit = f"it is longer than {MAX_TEXT_LINES:,} lines or {MAX_TEXT_CHARS:,} characters"
                return CleanText(
                    shown, clean_lines(lines[:MAX_TEXT_LINES]), limit, tuple(sorted(cut))
                ), tuple(held)
        if chars > MAX_LOG_CHARS and 2 * logged > len(lines):
            limit = f"it is a log of more than {MAX_LOG_CHARS:,} characters"
            return CleanText(shown, clean_lines(lines), limit, tuple(sorted(cut))), tuple(held)
    return CleanText(shown, clean_lines(lines), log.stopped, tuple(sorted(cut))), tuple(held)


def clean_lines(lines: list[CleanLine]) -> tuple[CleanLine, ...]:
    """Take prefixes, comment marks and Markdown fences away where nearly all lines have them."""
    for _ in range(_LAYERS):
        looked = [line for line in lines if line.text.strip()][:_LOOKED_AT]
        if not looked:
            break
        if _most(looked, _has_prefix):
            lines = [_without_prefix(line) for line in lines]
        elif _is_labelled(looked):
            lines = [_without_node(line) for line in lines]
        elif _most(looked, lambda line: _MARK.match(line.text) is not None):
            lines = [line._replace(text=_MARK.sub("", line.text, count=1)) for line in lines]
        else:
            break
    return tuple(line for line in lines if _FENCE.match(line.text) is None)


def _most(lines: list[CleanLine], has: Callable[[CleanLine], bool]) -> bool:
    return sum(has(line) for line in lines) >= _MOST_LINES * len(lines)


def _has_prefix(line: CleanLine) -> bool:
    return _BUS_ID.match(line.text) is None and strip_prefix(line.text, 1) != line.text


def _without_prefix(line: CleanLine) -> CleanLine:
    if not line.text.strip() or _BUS_ID.match(line.text):
        return line
    rest = strip_prefix(line.text, 1)
    found = _LABEL.search(line.text[: len(line.text) - len(rest)])
    return line._replace(text=rest, node=_node(line.node, found.group().strip() if found else ""))


def _is_labelled(lines: list[CleanLine]) -> bool:
    """Say whether nearly all lines begin with one of few names and a colon, as pdsh, clush and ansible write."""
    labels = Counter(found[1] for line in lines if (found := _NODE.match(line.text)))
    return sum(labels.values()) >= _MOST_LINES * len(lines) and min(labels.values(), default=0) >= 3


def _without_node(line: CleanLine) -> CleanLine:
    found = _NODE.match(line.text)
    if found is None:
        return line
    return line._replace(text=line.text[found.end() :], node=_node(line.node, found[1]))


def _node(before: str, label: str) -> str:
    return printable(f"{before}/{label}" if before and label else before or label, 260)


def by_node(lines: tuple[CleanLine, ...]) -> dict[str, tuple[CleanLine, ...]]:
    """Return the lines of each node apart, in order of first line: outputs of several nodes may be interleaved."""
    apart: dict[str, list[CleanLine]] = {}
    for line in lines:
        apart.setdefault(line.node, []).append(line)
    return {node: tuple(own) for node, own in apart.items()}
