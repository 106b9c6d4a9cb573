"""A function and its arguments → its results in order, worked out by a few threads."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from typing import TypeVar

_THREADS = 4

Argument = TypeVar("Argument")
Result = TypeVar("Result")


def side_by_side(function: Callable[[Argument], Result], arguments: Iterable[Argument]) -> Iterator[Result]:
    """Give what *function* returns for each argument, in their order, a few at a time.

    NumPy lets other threads run while it works on an array; for arrays of less than some ten thousand values threads cost more
    than they gain. No more than a few arguments are taken ahead, so that what comes out fits in memory.

    Parameters
    ----------
    function : callable
        Writes to nothing that another call reads.
    arguments : iterable
    """
    waiting = iter(arguments)
    with ThreadPoolExecutor(_THREADS) as pool:
        while some := list(islice(waiting, _THREADS)):
            yield from pool.map(function, some)
