"""The factors between algorithm and bus bandwidth that nccl-tests uses (doc/PERFORMANCE.md and src/*.cu of version 2.19.6).

``BUS_FACTORS[op]`` is (scale, depends): busbw = algbw × scale × ((n − 1)/n if depends else 1).
"""

from __future__ import annotations

BUS_FACTORS: dict[str, tuple[float, bool]] = {
    "all_reduce": (2.0, True),
    "all_gather": (1.0, True),
    "reduce_scatter": (1.0, True),
    "all_to_all": (1.0, True),
    "all_to_all_v": (1.0, True),
    "gather": (1.0, True),
    "scatter": (1.0, True),
    "broadcast": (1.0, False),
    "reduce": (1.0, False),
    "send_recv": (1.0, False),
    "hypercube": (1.0, False),
}
