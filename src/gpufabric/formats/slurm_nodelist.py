"""A Slurm node list, compressed as ``srv[001-004,007],gpu-[1-2]-[01-02]`` or plain → the hosts in its order.

The form is that of ``SLURM_JOB_NODELIST`` and of the NodeList of ``scontrol show job`` (Slurm::Hostlist of slurm 23.11,
https://manpages.ubuntu.com/manpages/noble/man3/Slurm::Hostlist.3pm.html, read 2026-11-30). Numbers keep their leading zeros;
several brackets in one name are all combinations, the last one varying fastest.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from itertools import product
from math import prod
from pathlib import Path

from gpufabric.errors import InputError, printable
from gpufabric.formats.log_lines import LogFile
from gpufabric.records.cluster_spec import MAX_SERVERS
from gpufabric.records.rank_places import RankPlaces

MAX_LIST_CHARS = 1 << 20
_MAX_BRACKETS = 8
_MAX_NAME = 255
_FIRST_WORD = re.compile(r"(?:^|\s)(?:SLURM_(?:JOB_|STEP_)?NODELIST|NodeList)=(\S*)")
_PIECE = re.compile(r"([A-Za-z0-9._-]{1,255})|\[([0-9,\-\s]+)\]")
_RANGE = re.compile(r"(\d{1,9})(?:-(\d{1,9}))?")
_ADVICE = "write it as Slurm does, such as srv[001-004,007]"


def read(text: str) -> RankPlaces:
    """Return the hosts of a node list, or of a file that holds one; every GPU of a host has a rank.

    A file may hold the bare list, ``SLURM_JOB_NODELIST=…``, what ``scontrol show job`` prints, or one host a line.

    Raises
    ------
    InputError
        If the list can't be understood, is empty, names a host twice, or names more than a million.
    """
    stripped = text.strip()
    if not stripped:
        raise InputError(f"slurm: the node list is empty; {_ADVICE}")
    if len(stripped) < 4096 and _is_file(stripped):
        return _read_file(stripped)
    return _places("slurm", _list_of(stripped), "slurm")


def _is_file(text: str) -> bool:
    try:
        return Path(text).exists()
    except (OSError, ValueError):
        return False


def _read_file(path: str) -> RankPlaces:
    where = printable(path)
    lists, size = [], 0
    for line in LogFile(path).lines():
        size += len(line.text)
        if line.cut or size > MAX_LIST_CHARS:
            raise InputError(
                f"{where}:{line.number}: is longer than a node list of a million hosts; {_ADVICE}"
            )
        text = line.text.strip()
        found = _FIRST_WORD.search(text)
        if found:
            # The first list that is named stands: scontrol names others (ExcNodeList) beside it.
            return _places(f"slurm {printable(Path(path).name)}", found.group(1), f"{where}:{line.number}")
        if text and not text.startswith("#"):
            lists.append(text.strip(","))
    if not lists:
        raise InputError(f"{where}: holds no node list; {_ADVICE}")
    return _places(f"slurm {printable(Path(path).name)}", ",".join(lists), where)


def _list_of(text: str) -> str:
    found = _FIRST_WORD.search(text)
    return found.group(1) if found else text


def _places(source: str, text: str, where: str) -> RankPlaces:
    hosts = expand(text, where)
    if len(set(hosts)) < len(hosts):
        twice = Counter(hosts).most_common(1)[0][0]
        raise InputError(f'{where}: host "{printable(twice)}" is named twice; name each host once')
    return RankPlaces(source, tuple(hosts), (0,) * len(hosts), (-1,) * len(hosts))


def expand(text: str, where: str = "slurm") -> list[str]:
    """Return the host names of a compressed node list, in its order.

    Raises
    ------
    InputError
        If the list can't be understood or names more than a million hosts; *where* begins the message.
    """
    if len(text) > MAX_LIST_CHARS:
        raise InputError(
            f"{where}: the node list has {len(text):,} characters; allowed are {MAX_LIST_CHARS:,}; use fewer"
        )
    hosts: list[str] = []
    for name in _names(text, where):
        if not name:
            raise InputError(
                f'{where}: node list "{printable(text)}" has an empty place between two commas; {_ADVICE}'
            )
        pieces = _pieces(name, where)
        if len(hosts) + prod(len(piece) for piece in pieces) > MAX_SERVERS:
            raise InputError(
                f'{where}: "{printable(name)}" makes more than {MAX_SERVERS:,} hosts; use a shorter list'
            )
        hosts += ("".join(parts) for parts in product(*pieces))
    return hosts


def _names(text: str, where: str) -> Iterator[str]:
    """Yield what stands between the commas outside brackets."""
    start, inside = 0, False
    for at, letter in enumerate(text):
        if letter == "[" and inside:
            raise InputError(
                f'{where}: "{printable(text[start:])}" opens a bracket inside a bracket; {_ADVICE}'
            )
        inside = (inside or letter == "[") and letter != "]"
        if letter == "," and not inside:
            yield text[start:at].strip()
            start = at + 1
    if inside:
        raise InputError(f'{where}: "{printable(text[start:])}" has no closing bracket; {_ADVICE}')
    yield text[start:].strip()


def _pieces(name: str, where: str) -> list[list[str]]:
    """Return the alternatives of each piece of a name: one text, or the numbers of a bracket."""
    pieces: list[list[str]] = []
    if name.count("[") > _MAX_BRACKETS:
        raise InputError(
            f'{where}: "{printable(name)}" has too many brackets; allowed are {_MAX_BRACKETS}; {_ADVICE}'
        )
    at = 0
    while at < len(name):
        found = _PIECE.match(name, at)
        if found is None:
            raise InputError(f'{where}: "{printable(name)}" is not a host name or a list of them; {_ADVICE}')
        at = found.end()
        pieces.append([found.group(1)] if found.group(1) else _numbers(found.group(2), where))
        # Counted as they come: writing out all brackets of a long name would take seconds.
        if prod(len(piece) for piece in pieces) > MAX_SERVERS:
            raise InputError(
                f'{where}: "{printable(name)}" makes more than {MAX_SERVERS:,} hosts; use a shorter list'
            )
    if sum(len(piece[0]) for piece in pieces) > _MAX_NAME:
        raise InputError(
            f'{where}: "{printable(name)}" makes names of more than {_MAX_NAME} characters; {_ADVICE}'
        )
    return pieces


def _numbers(text: str, where: str) -> list[str]:
    numbers: list[str] = []
    for part in text.split(","):
        found = _RANGE.fullmatch(part.strip())
        first, last = (found.group(1), found.group(2) or found.group(1)) if found else ("1", "0")
        if int(last) < int(first):
            raise InputError(f'{where}: "[{printable(text)}]" has a part that is no range; {_ADVICE}')
        if len(numbers) + int(last) - int(first) >= MAX_SERVERS:
            raise InputError(
                f'{where}: "[{printable(text)}]" makes more than {MAX_SERVERS:,} hosts; use a shorter list'
            )
        numbers += (f"{number:0{len(first)}d}" for number in range(int(first), int(last) + 1))
    return numbers
