"""``r[1-2]n[01-16],login1`` ↔ the names that it stands for, as Slurm writes lists of hosts."""

from __future__ import annotations

import re

MAX_HOSTS = 1 << 20
_PIECE = re.compile(r"([^\[\],]*)\[([\d,-]{1,4096})\]")
_RANGE = re.compile(r"(\d{1,9})(?:-(\d{1,9}))?")
_MAX_NAME = 255


def expand_hosts(text: str, room: int = MAX_HOSTS) -> tuple[str, ...] | None:
    """Return the names of a host list in its order; None when it is malformed or stands for more than *room* names."""
    names: list[str] = []
    for part in _parts(text):
        found = _expand(part.strip(), room - len(names))
        if found is None:
            return None
        names += found
    return tuple(names)


def _parts(text: str) -> list[str]:
    """Return what stands between the commas that are outside brackets."""
    parts, depth, start = [], 0, 0
    for at, letter in enumerate(text):
        depth += (letter == "[") - (letter == "]")
        if letter == "," and depth == 0:
            parts.append(text[start:at])
            start = at + 1
    return [*parts, text[start:]]


def _expand(part: str, room: int) -> list[str] | None:
    names, at = [""], 0
    for piece in _PIECE.finditer(part):
        if piece.start() != at:
            return None
        numbers = _numbers(piece[2], room // len(names))
        if numbers is None:
            return None
        names = [f"{name}{piece[1]}{number}" for name in names for number in numbers]
        at = piece.end()
    rest = part[at:]
    if not part or re.search(r"[\[\]\s]", rest) or len(part) > 8 * _MAX_NAME or len(names) > room:
        return None
    return [name + rest for name in names]


def _numbers(text: str, room: int) -> list[str] | None:
    out: list[str] = []
    for item in text.split(","):
        found = _RANGE.fullmatch(item)
        if found is None:
            return None
        first, last = int(found[1]), int(found[2] or found[1])
        if not 0 <= last - first < room - len(out):
            return None
        width = len(found[1])
        out += [f"{number:0{width}d}" for number in range(first, last + 1)]
    return out
