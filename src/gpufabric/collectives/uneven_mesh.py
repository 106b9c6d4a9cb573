"""The links of each pair of GPUs of a node → rings that share no link, and ways through the node that share few.

NCCL searches for both (src/graph/search.cc): as many rings over all GPUs as the links allow, each used in both directions.
On a hybrid cube mesh of eight V100 these are the three rings of single links that NVIDIA describes (DGX-1 with V100 system
architecture, WP-08437-001), six with both directions.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise

Links = tuple[tuple[int, ...], ...]
"""Links of each pair, square and symmetric; no row where a node is even."""
#: Rings and ways that are looked at; beyond it the best so far is taken.
MOST_TRIED = 20_000


@lru_cache(maxsize=64)
def ring_orders(links: Links) -> tuple[tuple[int, ...], ...]:
    """Return closed orders of the GPUs, each in both directions, that together use no link twice in a direction.

    As many as the search finds; none where no closed order over direct links exists.

    Parameters
    ----------
    links : tuple of tuples of int
        Of 3 GPUs or more.
    """
    left = [list(row) for row in links]
    cycles = [way for way in _bounded(_ways(links, 0)) if way[1] < way[-1] and links[way[-1]][0]]
    chosen = _pack(cycles, left, [MOST_TRIED])
    return tuple(order for cycle in chosen for order in (cycle, cycle[::-1]))


@lru_cache(maxsize=64)
def way_orders(
    links: Links, starts: tuple[int, ...], ends: tuple[frozenset[int], ...]
) -> tuple[tuple[int, ...], ...]:
    """Return a way over all GPUs from each start to one of its ends, so that links are used as evenly as can be.

    One after the other takes the way whose busiest link has least on it, and to another end only where none leads to its own.
    Where no way over direct links exists, the GPUs follow each other by number.

    Parameters
    ----------
    links : tuple of tuples of int
    starts : tuple of int
        Positions of GPUs, one a channel.
    ends : tuple of frozenset of int
        Where each channel had better end: beside the NIC that it leaves by.
    """
    count = len(links)
    used = [[0] * count for _ in range(count)]
    found = []
    for start, near in zip(starts, ends, strict=True):
        ways = list(_bounded(_ways(links, start))) or [tuple((start + step) % count for step in range(count))]
        way = min(ways, key=lambda one: (one[-1] not in near, _busiest(one, links, used), one))
        for one, other in pairwise(way):
            used[one][other] += 1
        found.append(way)
    return tuple(found)


def _ways(links: Links, start: int) -> Iterator[tuple[int, ...]]:
    """Yield the ways from *start* over direct links that visit every GPU once."""
    count = len(links)
    stack: list[tuple[int, ...]] = [(start,)]
    while stack:
        way = stack.pop()
        if len(way) == count:
            yield way
            continue
        stack += [(*way, gpu) for gpu in reversed(range(count)) if gpu not in way and links[way[-1]][gpu]]


def _bounded(ways: Iterator[tuple[int, ...]]) -> Iterator[tuple[int, ...]]:
    return (way for way, _ in zip(ways, range(MOST_TRIED), strict=False))


def _pack(
    cycles: Sequence[tuple[int, ...]], left: list[list[int]], tries: list[int]
) -> list[tuple[int, ...]]:
    """Return most cycles, one perhaps several times, that take no more of each link than is *left*; *tries* are counted down."""
    most = min(sum(row) // 2 for row in left)
    best: list[tuple[int, ...]] = []
    for place, cycle in enumerate(cycles):
        edges = list(zip(cycle, (*cycle[1:], cycle[0]), strict=True))
        if any(left[a][b] < 1 for a, b in edges):
            continue
        tries[0] -= 1
        _take(left, edges, 1)
        found = [cycle, *_pack(cycles[place:], left, tries)]
        _take(left, edges, -1)
        if len(found) > len(best):
            best = found
        if len(best) >= most or tries[0] < 0:
            break
    return best


def _take(left: list[list[int]], edges: Sequence[tuple[int, int]], number: int) -> None:
    for a, b in edges:
        left[a][b] -= number
        left[b][a] -= number


def _busiest(way: tuple[int, ...], links: Links, used: list[list[int]]) -> float:
    return max(((used[a][b] + 1) / max(links[a][b], 1) for a, b in pairwise(way)), default=0.0)
