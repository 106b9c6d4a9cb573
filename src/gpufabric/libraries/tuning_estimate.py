"""A priced algorithm, NCCL's own tuning constants and the class-wide range of measurements → its time.

Stands where no calibration of a hardware class does: rates are the wiring's times the median of all published clusters.
"""

from __future__ import annotations

from gpufabric.collectives.bus_factors import bus_factor
from gpufabric.records.estimate import Estimate
from gpufabric.records.job_situation import JobSituation
from gpufabric.records.priced_algorithm import PricedAlgorithm
from gpufabric.records.ring_range import RingLimit, RingRange
from gpufabric.simulators.nccl_ring_latency import PROTOCOLS, Protocol, protocol_bus_rate

# Below 1 MiB the class-wide range mixes sizes that have nothing in common; without a range a healthy cluster is taken to be
# within this factor: wide on purpose, from no measurement.
WIDE = 0.4
_LARGE_BYTES, _SMALL_BYTES = 256 << 20, 1 << 20
# NCCL's tuning.cc has latencies of its own for trees and for NVLS; other algorithms take those of a ring.
_TREE = {
    "ll": Protocol("ll", 6.8e-6, 0.6e-6, 1.0e-6, 5.0e-6, 0.25, PROTOCOLS[0].most_bytes_per_s),
    "ll128": Protocol("ll128", 14.0e-6, 1.25e-6, 1.9e-6, 8.5e-6, 0.92),
    "simple": Protocol("simple", 8.4e-6, 4.0e-6, 4.0e-6, 14.0e-6, 0.92),
}
_NVLS = {"simple": Protocol("simple", 0.0, 25e-6 / 2, 25e-6 / 2, 18e-6, 1.0)}
_TABLES = {"tree": _TREE, "nvls": _NVLS, "nvls_tree": _NVLS}


def estimate(
    priced: PricedAlgorithm,
    protocol: str,
    situation: JobSituation,
    calibration: RingRange | None,
    size_bytes: int,
) -> Estimate:
    """Return latency of NCCL's tables plus size over the rate; see :mod:`gpufabric.records.estimate`."""
    table = _TABLES.get(priced.algorithm, {}).get(protocol) or next(
        p for p in PROTOCOLS if p.name == protocol
    )
    limit: RingLimit = "scale-up" if priced.nodes == 1 else "scale-out"
    large = calibration.band(limit, max(size_bytes, _LARGE_BYTES)) if calibration else None
    band = calibration.band(limit, size_bytes) if calibration and size_bytes >= _SMALL_BYTES else None
    median = min(large.quantiles[2], 1.0) if large else 1.0
    inside_s = table.pcie_s if situation.scale_up == "pcie" else table.nvlink_s
    latency = (
        table.base_s
        + priced.inside_steps * inside_s
        + priced.fabric_steps * table.net_s
        + priced.path_latency_s
    )
    factor = bus_factor(priced.op, priced.ranks)
    bus_rate = protocol_bus_rate(table, priced.line_bytes_per_s * factor * median, priced.nodes)
    wire = size_bytes * factor / bus_rate
    time = latency + wire
    slow, low, centre, high = band.quantiles[:4] if band else (WIDE**2, WIDE, 1.0, 1 / WIDE)
    return Estimate(
        algorithm=priced.algorithm,
        protocol=protocol,
        channels=priced.channels,
        time_s=time,
        low_s=time * centre / high,
        high_s=time * centre / low,
        slow_s=time * centre / slow,
        latency_s=latency,
        wire_s=wire,
        calibration="all kinds of clusters together" if band else "none",
        clusters=band.clusters if band else 0,
        widened=band.widened if band else True,
    )
