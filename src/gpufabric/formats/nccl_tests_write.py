"""Times of a collective → the text that nccl-tests prints, for faulty logs that people and tests learn from.

Layout of nccl-tests 2.17 (https://github.com/NVIDIA/nccl-tests, src/common.cu).
"""

from __future__ import annotations

from collections.abc import Sequence

from gpufabric.records.bus_factor_table import BUS_FACTORS
from gpufabric.units import from_microseconds, gigabytes

#: Our name of an operation → the program that measures it.
PROGRAMS = {
    "all_reduce": "all_reduce_perf",
    "all_gather": "all_gather_perf",
    "reduce_scatter": "reduce_scatter_perf",
    "broadcast": "broadcast_perf",
    "reduce": "reduce_perf",
    "all_to_all": "alltoall_perf",
    "gather": "gather_perf",
    "scatter": "scatter_perf",
    "send_recv": "sendrecv_perf",
}
_FLOAT = 4


def write_nccl_tests(
    op: str, hosts: Sequence[tuple[str, int]], gpu_name: str, times_s: Sequence[tuple[int, float]]
) -> str:
    """Return the log of a test.

    Parameters
    ----------
    op
        One of ``PROGRAMS``.
    hosts
        Name of each host and its ranks, one GPU a rank.
    gpu_name
        As the device lines print it, such as ``NVIDIA H100``.
    times_s
        Message size in bytes, and time in seconds of both halves of its row.
    """
    ranks = sum(count for _, count in hosts)
    scale, depends = BUS_FACTORS[op]
    factor = scale * (ranks - 1) / ranks if depends else scale
    sizes = [size for size, _ in times_s]
    lines = [
        f"# Collective test starting: {PROGRAMS[op]}",
        f"# nThread 1 nGpus 1 minBytes {min(sizes)} maxBytes {max(sizes)} step: 2(factor) warmup iters: 5 iters: 20"
        " agg iters: 1 validation: 1 graph: 0",
        "#",
        "# Using devices",
    ]
    rank = 0
    for host, count in hosts:
        for device in range(count):
            lines.append(
                f"#  Rank {rank:>2} Group  0 Pid {20000 + rank:>6} on {host} device {device:>2}"
                f" [0000:{0x10 + device:02x}:00] {gpu_name}"
            )
            rank += 1
    lines += [
        "#",
        "#                                                              out-of-place                       in-place",
        "#       size         count      type   redop    root     time   algbw   busbw  #wrong     time   algbw   busbw  #wrong",
        "#        (B)    (elements)                               (us)  (GB/s)  (GB/s)             (us)  (GB/s)  (GB/s)",
    ]
    rates = []
    for size, time in times_s:
        algbw = gigabytes(size / time)
        rates.append(algbw * factor)
        half = f"{time / from_microseconds(1.0):>9.2f} {algbw:>7.2f} {algbw * factor:>7.2f}      0"
        lines.append(f"{size:>12} {size // _FLOAT:>13}     float     sum      -1 {half} {half}")
    lines += [
        "# Out of bounds values : 0 OK",
        f"# Avg bus bandwidth    : {sum(rates) / len(rates):.4f}",
        "#",
        f"# Collective test concluded: {PROGRAMS[op]}",
    ]
    return "\n".join(lines) + "\n"
