"""What is said of a measured log: a verdict for each size and one for the whole table."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

Judgement = Literal["healthy", "low", "high", "cannot tell"]


@dataclass(frozen=True, slots=True)
class Expectation:
    """What a size should reach, as bus bandwidth in bytes/s.

    ``low`` and ``high`` bound the 80 % range; below ``limit_low`` or above ``limit_high`` lies one
    measurement in forty each; ``ceiling`` can't be beaten without in-network reduction.
    """

    size_bytes: int
    busbw_bytes_per_s: float
    low_bytes_per_s: float
    high_bytes_per_s: float
    limit_low_bytes_per_s: float
    limit_high_bytes_per_s: float
    ceiling_bytes_per_s: float
    ceiling_name: str


@dataclass(frozen=True, slots=True)
class SizeVerdict:
    """One measured half row beside what was expected; bus bandwidths in bytes/s.

    ``gap`` is measured / expected − 1; ``reason`` says what is not told by the figures alone.
    """

    line: int
    size_bytes: int
    in_place: bool
    measured_bytes_per_s: float
    expected: Expectation
    verdict: Judgement
    gap: float
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Cause:
    """A possible cause: ``confidence`` 0 to 1, the arithmetic or line it rests on, what to look at next.

    ``id`` names its page in docs/causes; it is empty for a cause that has none.
    """

    cause: str
    confidence: float
    evidence: str
    next: str
    id: str = ""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The verdict on one table of a log; ``sizes`` are empty when nothing in it could be judged."""

    what: str
    verdict: Judgement
    expected: str
    found: str
    causes: tuple[Cause, ...] = ()
    sizes: tuple[SizeVerdict, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the verdict as plain JSON values."""
        return asdict(self)
