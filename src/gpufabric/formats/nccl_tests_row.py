"""Text of an nccl-tests result row → its numbers, for every age of the table.

A row is ``size count type redop [root]`` and then, once out-of-place and once in-place, ``time algbw busbw
# wrong`` (older: ``error`` in its place), with ``-I`` four columns of iteration statistics more, with
# ``-S`` a time
stamp at the end.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace

from gpufabric.units import from_gigabytes, from_microseconds

_START = re.compile(
    r"(?<![\w.])(\d{1,19})\s++(\d{1,19})\s++([a-z]\w{1,15})\s++(sum|prod|max|min|avg|mulsum|none)(?!\w)"
)
_REDUCTION = re.compile(r"\s(?:sum|prod|max|min|avg|mulsum|none)(?!\w)")
_HEADER = re.compile(r"\bsize\s++count\s++(?:\(elements\)\s++)?type\s++redop\b(.*)")
_NUMBER = re.compile(r"[+-]?(?:\d{1,24}(?:\.\d{0,12})?|\.\d{1,12})(?:[eE][+-]?\d{1,3})?")
_INTEGER = re.compile(r"[+-]?\d{1,9}")
_STAMP = re.compile(r"\d{4}-\d\d-\d\d|\d\d:\d\d:\d\d")
_GAP_OF_MISSING_HALF = re.compile(r"\s{30}")
_NOT_CHECKED = "N/A"
_HALF_COLUMNS = 4
_STATISTICS_COLUMNS = 4


@dataclass(frozen=True, slots=True)
class RowLayout:
    """What the table's header says of the columns; ``known`` is False when there was none."""

    known: bool = False
    root: bool = True
    error: bool = False
    statistics: bool = False
    cpu_time: bool = False

    @property
    def half(self) -> int:
        """Columns of one half of a row."""
        return _HALF_COLUMNS + (_STATISTICS_COLUMNS if self.statistics else 0)

    @property
    def payload(self) -> int:
        """Columns after redop, without a time stamp."""
        return 2 * self.half + (1 if self.root else 0)


@dataclass(frozen=True, slots=True)
class Fragment:
    """A row's start and the text after its redop, which may be cut, wrapped or followed by something else."""

    size_bytes: int
    count: int
    dtype: str
    redop: str
    rest: str


@dataclass(frozen=True, slots=True)
class Half:
    """Out-of-place or in-place part of a row, in seconds and bytes/s."""

    time_s: float
    algbw_bytes_per_s: float
    busbw_bytes_per_s: float
    wrong: int | None


@dataclass(frozen=True, slots=True)
class ParsedRow:
    """A row's numbers; a half that is cut or damaged is None, and ``whole`` says that nothing was."""

    size_bytes: int
    count: int
    dtype: str
    redop: str
    root: int | None
    out_of_place: Half | None
    in_place: Half | None
    whole: bool


def read_header(text: str) -> RowLayout | None:
    """Return the layout that a table's header line announces, None when *text* is not such a line."""
    found = _HEADER.search(text)
    if found is None:
        return None
    names = found.group(1).split()
    return RowLayout(
        known=True,
        root="root" in names,
        error="error" in names,
        statistics="i_min" in names,
        cpu_time="cputime" in names,
    )


def row_fragments(text: str) -> tuple[Fragment, ...]:
    """Return the starts of all rows in *text*; there are several when lines were joined."""
    if _REDUCTION.search(text) is None:
        return ()
    starts = list(_START.finditer(text))
    ends = [*(m.start() for m in starts[1:]), len(text)] if starts else []
    return tuple(
        Fragment(int(m.group(1)), int(m.group(2)), m.group(3), m.group(4), text[m.end() : end])
        for m, end in zip(starts, ends, strict=True)
    )


def _values(rest: str) -> tuple[list[str], bool]:
    """Return the numeric tokens at the start of *rest* and whether nothing but time stamps follows them."""
    tokens: list[str] = []
    words = rest.split(maxsplit=64)
    for position, word in enumerate(words):
        if _STAMP.fullmatch(word):
            continue
        if word not in (_NOT_CHECKED, "inf", "nan", "-nan") and _NUMBER.fullmatch(word) is None:
            return tokens, position == len(words)
        tokens.append(word)
    return tokens, True


def is_continuation(text: str) -> bool:
    """Say whether *text* can only be the rest of a wrapped row: numbers and nothing else."""
    tokens, only = _values(text)
    return bool(tokens) and only


def needs_more(fragment: Fragment, layout: RowLayout) -> bool:
    """Say whether the row lacks columns that a wrapped line may still bring."""
    tokens, only = _values(fragment.rest)
    return only and len(tokens) < layout.payload and not _only_in_place(fragment.rest, tokens, layout)


def joined(fragment: Fragment, continuation: str, layout: RowLayout) -> Fragment:
    """Return the row with a wrapped line's rest.

    A terminal wraps in the middle of a number too: the two ends are glued when only that gives the right
    number of columns.
    """
    apart, glued = (
        Fragment(
            fragment.size_bytes,
            fragment.count,
            fragment.dtype,
            fragment.redop,
            fragment.rest + between + continuation,
        )
        for between in (" ", "")
    )
    fits = [len(_values(f.rest)[0]) == layout.payload for f in (apart, glued)]
    return glued if fits == [False, True] else apart


def _only_in_place(rest: str, tokens: list[str], layout: RowLayout) -> bool:
    """Say whether the out-of-place half was left blank (nccl-tests does so when it replays a trace)."""
    rooted = len(tokens) == layout.half + 1
    if not rooted and len(tokens) != layout.half:
        return False
    body = rest.lstrip()
    return _GAP_OF_MISSING_HALF.match(body[len(tokens[0]) :] if rooted else rest) is not None


def _has_root(tokens: list[str], layout: RowLayout, size_bytes: int) -> bool:
    if not tokens or _INTEGER.fullmatch(tokens[0]) is None:
        return False
    if len(tokens) % _HALF_COLUMNS in (0, 1) and not layout.known:
        return len(tokens) % _HALF_COLUMNS == 1
    if layout.known:
        return layout.root
    return tokens[0].startswith("-") or not _agrees(tokens[:2], size_bytes)


def _agrees(time_algbw: list[str], size_bytes: int) -> bool:
    if len(time_algbw) < 2 or _NOT_CHECKED in time_algbw:
        return False
    time_s, algbw = from_microseconds(float(time_algbw[0])), from_gigabytes(float(time_algbw[1]))
    return time_s > 0 and math.isclose(size_bytes / time_s, algbw, rel_tol=0.05, abs_tol=from_gigabytes(0.01))


def _half(tokens: list[str], layout: RowLayout) -> Half | None:
    if len(tokens) < layout.half or _NOT_CHECKED in tokens[:3]:
        return None
    time_us, algbw, busbw = (float(t) for t in tokens[:3])
    if not all(math.isfinite(v) and v >= 0 for v in (time_us, algbw, busbw)):
        return None
    return Half(
        from_microseconds(time_us), from_gigabytes(algbw), from_gigabytes(busbw), _wrong(tokens[3], layout)
    )


def _wrong(token: str, layout: RowLayout) -> int | None:
    if layout.error or token == _NOT_CHECKED:
        return None
    value = float(token)
    # Between 0 and 1 lies only the largest relative error of older tables, whose header was lost.
    return int(value) if math.isfinite(value) and (value == 0 or value >= 1) else None


def parse_row(fragment: Fragment, layout: RowLayout) -> ParsedRow:
    """Return the numbers of a row.

    Without a header, the number of columns tells whether there is a ``root`` column; in a cut row, whether
    size / time is algbw.
    """
    tokens, only = _values(fragment.rest)
    rooted = _has_root(tokens, layout, fragment.size_bytes)
    root = int(tokens[0]) if rooted else None
    lone = only and _only_in_place(fragment.rest, tokens, layout)
    numbers = tokens[1:] if rooted else tokens
    if not layout.known and len(numbers) == 2 * (_HALF_COLUMNS + _STATISTICS_COLUMNS):
        layout = replace(layout, statistics=True)
    first = None if lone else _half(numbers, layout)
    second = _half(numbers if lone else numbers[layout.half :], layout)
    whole = only and second is not None and (lone or (first is not None and len(numbers) == 2 * layout.half))
    return ParsedRow(
        fragment.size_bytes, fragment.count, fragment.dtype, fragment.redop, root, first, second, whole
    )
