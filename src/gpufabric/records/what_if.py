"""What a change of the fabric or of the job does to a collective."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from gpufabric.records.results import CollectiveResult


@dataclass(frozen=True, slots=True)
class WhatIf:
    """One change and one operation.

    Attributes
    ----------
    change : str
        Such as ``2:1 oversubscription``; ``as asked`` for none.
    op : str
    result : CollectiveResult, optional
        None where there is none; ``reason`` then says why.
    left : float, optional
        Bus bandwidth over that as asked.
    reason : str
    """

    change: str
    op: str
    result: CollectiveResult | None
    left: float | None
    reason: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain JSON values, of the result only what differs between changes."""
        result = self.result
        return {
            "change": self.change,
            "op": self.op,
            "busbw_bytes_per_s": result.busbw_bytes_per_s if result else None,
            "left": self.left,
            "time_s": result.time_s if result else None,
            "ceiling_busbw_bytes_per_s": result.ceiling_busbw_bytes_per_s if result else None,
            "algorithm": result.algorithm if result else None,
            "protocol": result.protocol if result else None,
            "bottleneck": result.bottleneck if result else None,
            "reason": self.reason or None,
        }
