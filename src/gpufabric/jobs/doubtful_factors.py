"""Factors fitted to logs, and the logs → what should be looked at before the factors are believed."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import BinaryIO

from gpufabric.errors import printable
from gpufabric.formats import nccl_debug_log
from gpufabric.libraries.fit_to_logs import Change
from gpufabric.records.calibration import Calibration

_LOOK_AT = {
    (
        True,
        "rate",
    ): "NCCL_NET, NCCL_IB_DISABLE and NCCL_IB_HCA: TCP sockets, or fewer NICs than are described",
    (
        True,
        "latency",
    ): "NCCL_NET and NCCL_IB_DISABLE: TCP sockets; and nccl-tests -g: one process for several GPUs",
    (
        False,
        "rate",
    ): "NCCL_P2P_DISABLE, NCCL_P2P_LEVEL and NCCL_NVLS_ENABLE: a way around the links between GPUs",
    (
        False,
        "latency",
    ): "NCCL_P2P_DISABLE and nccl-tests -g: host memory as the way, or one process for several GPUs",
}
_FASTER = "the description: the cluster may have faster links or more NICs than it says"


def doubtful_factors(changes: Sequence[Change], calibration: Calibration) -> Iterator[str]:
    """Yield a line for each factor that lies outside of where published clusters of its class lie.

    Parameters
    ----------
    changes
        What a fit found.
    calibration
        What was fitted on; its residual ranges are the measure: those of small messages for latencies, of large ones for rates.
    """
    for change in changes:
        small, _, large = calibration.ranges_of(2 if change.network else 1)
        for what, factor, low, high in (
            ("latency", change.latency_factor, small.low, small.slow),
            ("rate", change.rate_factor, -large.slow, -large.low),
        ):
            if low <= math.log(factor) <= high:
                continue
            slower = (factor > 1) == (what == "latency")
            look = _LOOK_AT[bool(change.network), what] if slower else _FASTER
            where = f"{change.scale_up} over {change.network}" if change.network else change.scale_up
            yield (
                f"{where}, {change.protocol}: {what} × {factor:.3g} lies outside of what published clusters of its class differ "
                f"by (× {math.exp(low):.2f} to × {math.exp(high):.2f}); before you believe it, look at {look}"
            )


def socket_logs(logs: Sequence[str | Path | BinaryIO]) -> Iterator[str]:
    """Yield a line for each file that says, by ``NCCL_DEBUG=INFO``, that its data went over TCP sockets.

    Standard input and streams can be read once, and are left alone.
    """
    for log in logs:
        if not isinstance(log, str | Path) or str(log) == "-":
            continue
        read = nccl_debug_log.read(log)
        if any("socket" in name.lower() for name in (*read.networks, *(way for way, _ in read.transports()))):
            yield (
                f"{printable(read.file, 200)}: NCCL moved data over TCP sockets, and the constants are for RDMA; look at "
                "NCCL_NET, NCCL_IB_DISABLE and the lines NET/IB of the log, or leave it out"
            )
