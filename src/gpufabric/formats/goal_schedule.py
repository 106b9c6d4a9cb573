"""GOAL schedule (LogGOPSim, text) ↔ sends and receives of each rank with what they wait for.

``num_ranks N``, then for each rank ``rank R {``, operations ``LABEL: send Sb to P tag T`` and ``LABEL: recv Sb from P tag T``,
dependencies ``LABEL requires LABEL``, and ``}``. Labels are letters, digits and underscores, and stand before they are used.
Source: txt2bin.re of https://github.com/spcl/LogGOPSim, read 2026-12-01.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from gpufabric.errors import InputError
from gpufabric.formats.strict_lines import WordLine, word_lines
from gpufabric.records.simulator_inputs import GoalOperation, GoalSchedule

_OPERATION = re.compile(
    r"([a-zA-Z][a-zA-Z0-9_]*): (send|recv) ([0-9]{1,18})b (to|from) ([0-9]{1,9}) tag ([0-9]{1,9})"
)
_REQUIRES = re.compile(r"([a-zA-Z][a-zA-Z0-9_]*) requires ([a-zA-Z][a-zA-Z0-9_]*)")
_WAY = {"send": "to", "recv": "from"}
MAX_RANKS = 100_000


def write(schedule: GoalSchedule) -> Iterator[str]:
    """Yield the lines of a schedule, rank by rank, without their ends."""
    yield f"num_ranks {len(schedule.ranks)}"
    for rank, operations in enumerate(schedule.ranks):
        yield ""
        yield f"rank {rank} {{"
        for number, one in enumerate(operations, start=1):
            yield f"l{number}: {one.kind} {one.size_bytes}b {_WAY[one.kind]} {one.peer} tag {one.tag}"
            yield from (f"l{number} requires l{before + 1}" for before in one.after)
        yield "}"


def read(source: str | Path | BinaryIO, name: str = "") -> GoalSchedule:
    """Read such a text; computations and streams (``calc``, ``cpu``, ``nic``, ``irequires``) are not read.

    Raises
    ------
    InputError
        For a line of another form, a label that is unknown or given twice, a peer out of range, or a send that no receive fits.
    """
    lines = word_lines(source, name, comment="//")
    head = next(lines, None)
    if head is None or head.words[0] != "num_ranks" or head.whole(1, 1) > MAX_RANKS:
        raise InputError(
            f"{name}: does not begin with num_ranks and a number up to {MAX_RANKS:,}; write it first"
        )
    count = head.whole(1, 1)
    ranks: list[tuple[GoalOperation, ...]] = []
    for line in lines:
        if line.words != ("rank", str(len(ranks)), "{"):
            line.refuse(f"rank {len(ranks)} does not begin", f"write rank {len(ranks)} {{")
        ranks.append(_rank(lines, line, count))
    if len(ranks) != count:
        head.refuse(f"{len(ranks)} ranks follow", "announce as many")
    schedule = GoalSchedule(tuple(ranks))
    if sorted(_sent(schedule, "send")) != sorted(
        (peer, rank, *rest) for rank, peer, *rest in _sent(schedule, "recv")
    ):
        head.refuse(
            "a send has no receive that fits",
            "every send needs a receive of its peer with the same tag and size",
        )
    return schedule


def _sent(schedule: GoalSchedule, kind: str) -> Iterator[tuple[int, int, int, int]]:
    for rank, operations in enumerate(schedule.ranks):
        yield from ((rank, one.peer, one.tag, one.size_bytes) for one in operations if one.kind == kind)


def _rank(lines: Iterator[WordLine], head: WordLine, count: int) -> tuple[GoalOperation, ...]:
    """Return the operations up to the closing bracket."""
    labels: dict[str, int] = {}
    operations: list[tuple[str, int, int, int]] = []
    after: list[list[int]] = []
    for line in lines:
        text = " ".join(line.words)
        operation, requires = _OPERATION.fullmatch(text), _REQUIRES.fullmatch(text)
        if (
            operation
            and operation[4] == _WAY[operation[2]]
            and operation[1] not in labels
            and int(operation[5]) < count
        ):
            labels[operation[1]] = len(operations)
            operations.append((operation[2], int(operation[3]), int(operation[5]), int(operation[6])))
            after.append([])
        elif requires and requires[1] in labels and requires[2] in labels:
            after[labels[requires[1]]].append(labels[requires[2]])
        elif text == "}":
            return tuple(
                GoalOperation(*one, tuple(waits)) for one, waits in zip(operations, after, strict=True)
            )
        else:
            line.refuse(
                "is no operation or dependency of this rank",
                "write L: send Sb to P tag T, L: recv Sb from P tag T, L requires L",
            )
    return head.refuse("the rank does not end", "close it with }")
