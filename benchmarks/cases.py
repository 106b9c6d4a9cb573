"""What is timed: one entry a case, with the sizes it is timed at and the budget it must keep."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class CommandCase:
    """A command in a process of its own, so that every run is cold.

    ``arguments`` makes the words after ``gpufabric`` for one size; budgets hold at the largest size.
    """

    name: str
    arguments: Callable[[int], list[str]]
    sizes: tuple[int, ...] = (1,)
    size_name: str = ""
    budget_s: float | None = None
    budget_bytes: int | None = None

    def command(self, size: int) -> list[str]:
        """Return the whole command line."""
        return [sys.executable, "-m", "gpufabric", *self.arguments(size)]


@dataclass(frozen=True)
class FunctionCase:
    """A function in a new process: the first call is cold, the following ones are warm.

    ``prepare`` makes the input of one size and returns the function to time.
    """

    name: str
    prepare: Callable[[int], Callable[[], object]]
    sizes: tuple[int, ...] = (1,)
    size_name: str = ""
    budget_s: float | None = None
    budget_bytes: int | None = None


CASES: tuple[CommandCase | FunctionCase, ...] = (CommandCase("help", lambda _: ["--help"], budget_s=0.3),)
