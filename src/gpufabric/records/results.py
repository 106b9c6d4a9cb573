"""What a computation says: value, range, method, assumptions, findings."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class CollectiveResult:
    """The predicted cost of one collective of one size; the field names are those of the JSON output.

    ``time_low_s`` and ``time_high_s`` bound the 80 % range. Bus bandwidth follows nccl-tests: for all_reduce
    algbw × 2(n − 1)/n with algbw = size / time. ``ceiling_busbw_bytes_per_s`` can't be beaten without in-network reduction.
    """

    op: str
    size_bytes: int
    gpus: int
    rank_order: str
    time_s: float
    time_low_s: float
    time_high_s: float
    algbw_bytes_per_s: float
    busbw_bytes_per_s: float
    attainable_busbw_bytes_per_s: float
    ceiling_busbw_bytes_per_s: float
    ceiling_name: str
    algorithm: str
    protocol: str
    channels: int
    library: str
    bottleneck: str
    method: str
    assumptions: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain JSON values."""
        return asdict(self)
