"""A priced algorithm and NCCL's own tuning constants → its time with a wide range, where nothing was fitted."""

from __future__ import annotations

from gpufabric.records.estimate import Estimate
from gpufabric.records.job_situation import JobSituation
from gpufabric.records.priced_algorithm import PricedAlgorithm
from gpufabric.records.ring_range import RingRange
from gpufabric.simulators.nccl_ring_latency import PROTOCOLS

WIDE = 0.4


def estimate(
    priced: PricedAlgorithm,
    protocol: str,
    situation: JobSituation,
    calibration: RingRange | None,
    size_bytes: int,
) -> Estimate:
    """Return latency of NCCL's tables plus size over the line rate."""
    del calibration
    table = next(one for one in PROTOCOLS if one.name == protocol)
    inside_s = table.pcie_s if situation.scale_up == "pcie" else table.nvlink_s
    latency = (
        table.base_s
        + priced.inside_steps * inside_s
        + priced.fabric_steps * table.net_s
        + priced.path_latency_s
    )
    wire = size_bytes / (priced.line_bytes_per_s * table.efficiency)
    time = latency + wire
    return Estimate(
        algorithm=priced.algorithm,
        protocol=protocol,
        channels=priced.channels,
        time_s=time,
        low_s=time * WIDE,
        high_s=time / WIDE,
        slow_s=time / WIDE / WIDE,
        latency_s=latency,
        wire_s=wire,
        calibration="none",
        clusters=0,
        widened=True,
    )
