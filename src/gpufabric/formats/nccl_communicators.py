"""Lines of a log about ranks, rings, trees and connections → communicators.

A log may hold several communicators of one process. Lines about rings carry no name of theirs: they belong to the communicator
that the same thread set up last, and to the only one there is when no line sets one up.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import NamedTuple

from gpufabric.errors import printable
from gpufabric.records.nccl_log import (
    Communicator,
    Connection,
    LoggedRank,
    LoggedRing,
    LoggedTree,
    RingSource,
)

MAX_COMMUNICATORS = 1000
MAX_RANKS = 1 << 18
MAX_CHANNELS = 1024
MAX_CONNECTIONS = 200_000
MAX_NEIGHBOURS = 1 << 20

_TREE = re.compile(r"([-\d/]{1,40})\s*->\s*(\d{1,7})\s*->\s*([-\d/]{1,40})")


class Process(NamedTuple):
    """Who wrote a line; ``device`` is the CUDA device in brackets."""

    host: str
    pid: int
    thread: int
    device: int


@dataclass
class _Rank:
    line: int
    host: str = ""
    pid: int = -1
    device: int = -1
    bus_id: str = ""
    local_rank: int = -1


@dataclass
class OpenCommunicator:
    """A communicator while its lines come in."""

    id: str
    size: int = -1
    nodes: int = -1
    ranks: dict[int, _Rank] = field(default_factory=dict)
    whole: dict[int, tuple[list[int], bool, int]] = field(default_factory=dict)
    following: dict[int, dict[int, int]] = field(default_factory=dict)
    ring_lines: dict[int, int] = field(default_factory=dict)
    up: dict[int, dict[int, int]] = field(default_factory=dict)
    tree_lines: dict[int, int] = field(default_factory=dict)
    connections: list[Connection] = field(default_factory=list)
    channels: dict[str, int] = field(default_factory=dict)
    nvls_heads: int = 0
    mnnvl: bool | None = None

    def rank(self, number: int, line: int) -> _Rank:
        """Return a rank of it, new when it is not known yet."""
        if number not in self.ranks and len(self.ranks) >= MAX_RANKS:
            return _Rank(line)
        return self.ranks.setdefault(number, _Rank(line))


class Communicators:
    """All communicators of a log."""

    def __init__(self) -> None:
        self.all: dict[str, OpenCommunicator] = {}
        self.dropped = 0
        self._of_thread: dict[tuple[str, int, int], str] = {}
        self._of_pointer: dict[tuple[str, int, str], str] = {}
        self._inits: dict[tuple[str, int, int, int], int] = {}
        self._affinity: dict[tuple[str, int], str] = {}
        self._neighbours = 0

    def get(self, who: Process, pointer: str = "") -> OpenCommunicator:
        """Return the communicator that a line belongs to."""
        key = self._of_pointer.get((who.host, who.pid, pointer)) if pointer else None
        return self._named(key or self._of_thread.get((who.host, who.pid, who.thread), ""))

    def _named(self, key: str) -> OpenCommunicator:
        if key not in self.all and len(self.all) >= MAX_COMMUNICATORS:
            self.dropped += 1
            key = next(iter(self.all))
        return self.all.setdefault(key, OpenCommunicator(key))

    def set_up(self, who: Process, pointer: str, size: int, comm_id: str) -> OpenCommunicator:
        """Take a line that sets a communicator up, or says that it is set up."""
        place = (who.host, who.pid, pointer)
        key = self._of_pointer.get(place, "")
        if comm_id:
            key = printable(comm_id, 40)
        elif not key:
            # Without an id the n-th communicator of a size is the same one on all ranks.
            seen = (who.host, who.pid, who.device, size)
            self._inits[seen] = self._inits.get(seen, 0) + 1
            key = f"{size} ranks" + (f" #{self._inits[seen]}" if self._inits[seen] > 1 else "")
        if len(self._of_pointer) < MAX_RANKS:
            self._of_pointer[place] = key
            self._of_thread[who.host, who.pid, who.thread] = key
        found = self._named(key)
        found.size = size if size > 0 else found.size
        return found

    def place(self, found: OpenCommunicator, number: int, who: Process, line: int) -> _Rank:
        """Note that a process is a rank, from a line that the rank wrote of itself."""
        rank = found.rank(number, line)
        if not rank.host:
            rank.host, rank.pid, rank.device = who.host, who.pid, who.device
        return rank

    def affinity(self, who: Process, text: str) -> None:
        """Note the CPUs that a process is bound to."""
        if len(self._affinity) < MAX_RANKS:
            self._affinity[who.host, who.device] = printable(text, 200)

    def ring(self, found: OpenCommunicator, channel: int, ranks: list[int], cut: bool, line: int) -> None:
        """Take a ring that was printed whole."""
        if channel < MAX_CHANNELS and channel not in found.whole:
            found.whole[channel] = (ranks, cut, line)

    def neighbours(
        self, found: OpenCommunicator, channel: int, three: tuple[int, int, int], line: int
    ) -> None:
        """Take what a rank said of the ranks before and after it in a ring."""
        if channel < MAX_CHANNELS and self._neighbours < MAX_NEIGHBOURS:
            self._neighbours += 1
            before, rank, after = three
            following = found.following.setdefault(channel, {})
            following[rank] = after
            following.setdefault(before, rank)
            found.ring_lines.setdefault(channel, line)

    def tree(self, found: OpenCommunicator, channel: int, text: str, who: Process, line: int) -> bool:
        """Take a rank's place in a tree, in any of its spellings: the side with strokes has the children."""
        match = _TREE.search(text)
        if match is None:
            return False
        left, rank, right = match[1], int(match[2]), match[3]
        parent, down = (right, left) if "/" in left else (left, right)
        if not re.fullmatch(r"-?\d{1,7}", parent):
            return False
        self.place(found, rank, who, line)
        if channel < MAX_CHANNELS and self._neighbours < MAX_NEIGHBOURS:
            self._neighbours += 1
            up = found.up.setdefault(channel, {})
            up[rank] = int(parent)
            for child in down.split("/")[:16]:
                if child.isdigit():
                    up.setdefault(int(child), rank)
            found.tree_lines.setdefault(channel, line)
        return True

    def finish(self) -> tuple[Communicator, ...]:
        """Return the communicators; lines that name none belong to the only one there is."""
        named = [one for key, one in self.all.items() if key]
        loose = self.all.get("")
        if loose is not None and len(named) == 1:
            _merge(named[0], loose)
            return (self._closed(named[0]),)
        return tuple(self._closed(one) for one in self.all.values())

    def _closed(self, one: OpenCommunicator) -> Communicator:
        ranks = tuple(
            LoggedRank(
                number,
                rank.host,
                rank.pid,
                rank.device,
                rank.bus_id,
                rank.local_rank,
                self._affinity.get((rank.host, rank.device), ""),
                rank.line,
            )
            for number, rank in sorted(one.ranks.items())
        )
        trees = tuple(
            LoggedTree(channel, tuple(sorted(up.items())), one.tree_lines[channel])
            for channel, up in sorted(one.up.items())
        )
        return Communicator(
            id=one.id,
            size=one.size,
            nodes=one.nodes,
            ranks=ranks,
            rings=_rings(one),
            trees=trees,
            connections=tuple(one.connections),
            channels=tuple(sorted(one.channels.items())),
            nvls_heads=one.nvls_heads,
            multi_node_nvlink=one.mnnvl,
        )


def _merge(into: OpenCommunicator, loose: OpenCommunicator) -> None:
    for number, rank in loose.ranks.items():
        known = into.ranks.setdefault(number, rank)
        known.bus_id = known.bus_id or rank.bus_id
        if not known.host:
            known.host, known.pid, known.device = rank.host, rank.pid, rank.device
    for channel, ring in loose.whole.items():
        into.whole.setdefault(channel, ring)
    for mine, other in ((into.following, loose.following), (into.up, loose.up)):
        for channel, pairs in other.items():
            mine.setdefault(channel, {}).update(pairs)
    for channel, line in loose.ring_lines.items():
        into.ring_lines.setdefault(channel, line)
    for channel, line in loose.tree_lines.items():
        into.tree_lines.setdefault(channel, line)
    into.connections = [*loose.connections, *into.connections][:MAX_CONNECTIONS]
    into.channels = {**loose.channels, **into.channels}
    into.nvls_heads = max(into.nvls_heads, loose.nvls_heads)


def _rings(one: OpenCommunicator) -> tuple[LoggedRing, ...]:
    rings = []
    for channel in sorted({*one.whole, *one.following}):
        ranks, cut, line = one.whole.get(channel, ([], True, one.ring_lines.get(channel, 0)))
        source: RingSource = "whole"
        size = one.size if one.size > 0 else len(ranks)
        complete = not cut and len(ranks) == size and len(set(ranks)) == size
        if not complete and channel in one.following:
            put_together, closed = _walk(one.following[channel], one.size)
            if closed or len(put_together) > len(ranks):
                ranks, complete, source = put_together, closed, "local"
                line = one.ring_lines[channel]
        rings.append(LoggedRing(channel, tuple(ranks), complete, source, line))
    return tuple(rings)


def _walk(following: dict[int, int], size: int) -> tuple[list[int], bool]:
    """Return the ranks in order from what each said of the one after it, and whether the ring closes over all."""
    start = min(following)
    ranks, seen = [start], {start}
    while (after := following.get(ranks[-1])) is not None and after not in seen:
        ranks.append(after)
        seen.add(after)
    closed = following.get(ranks[-1]) == start and len(ranks) == (size if size > 0 else len(following))
    return ranks, closed
