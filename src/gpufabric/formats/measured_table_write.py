"""A measured table → the text that nccl-tests prints, so that all that reads its logs reads ours.

Layout of nccl-tests 2.17 (https://github.com/NVIDIA/nccl-tests, src/common.cu).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gpufabric.formats.nccl_tests_write import PROGRAMS
from gpufabric.records.measurements import MeasuredRow, MeasuredTable
from gpufabric.units import gigabytes, microseconds


@dataclass(frozen=True, slots=True)
class HowMeasured:
    """How a table was measured.

    Attributes
    ----------
    rank_hosts
        Host of each rank.
    rank_devices
        For each rank what the device lines print of it: number, address on the PCIe bus, and kind, such as
        ``0 [0000:1b:00] NVIDIA H100``.
    factor
        From one size to the next.
    warmup, iterations
        Calls before, and calls that are timed.
    notes
        Further lines of comment.
    """

    rank_hosts: Sequence[str]
    rank_devices: Sequence[str]
    factor: int
    warmup: int
    iterations: int
    notes: Sequence[str] = ()


def write_measured_table(table: MeasuredTable, run: HowMeasured) -> str:
    """Return the log; each size needs a row out of place, and has one in place beside it.

    Parameters
    ----------
    table
        With its operation, one of ``PROGRAMS``, and at least one row.
    run
    """
    name = PROGRAMS[table.op or ""]
    halves: dict[int, dict[bool, MeasuredRow]] = {}
    for row in table.rows:
        halves.setdefault(row.size_bytes, {})[row.in_place] = row
    check = int(any(row.wrong is not None for row in table.rows))
    lines = [
        f"# Collective test starting: {name}",
        f"# nThread 1 nGpus 1 minBytes {min(halves)} maxBytes {max(halves)} step: {run.factor}(factor) "
        f"warmup iters: {run.warmup} iters: {run.iterations} agg iters: 1 validation: {check} graph: 0",
        *(f"# {note}" for note in run.notes),
        "#",
        "# Using devices",
    ]
    for rank, (host, device) in enumerate(zip(run.rank_hosts, run.rank_devices, strict=True)):
        lines.append(f"#  Rank {rank:>2} Group  0 Pid      0 on {host} device  {device}")
    lines += [
        "#",
        f"#{'':62}out-of-place{'':23}in-place",
        "#       size         count      type   redop    root     time   algbw   busbw  #wrong     time   algbw   busbw  #wrong",
        "#        (B)    (elements)                               (us)  (GB/s)  (GB/s)             (us)  (GB/s)  (GB/s)",
    ]
    root = -1 if table.root is None else table.root
    for size, both in halves.items():
        first = both[False]
        text = " ".join(_half(both.get(in_place, first)) for in_place in (False, True))
        lines.append(f"{size:>12} {first.count:>13} {table.dtype:>9} {table.redop:>7} {root:>7} {text}")
    rates = [gigabytes(row.busbw_bytes_per_s) for row in table.rows]
    wrong = sum(row.wrong or 0 for row in table.rows)
    lines += [
        f"# Out of bounds values : {wrong} {'FAILED' if wrong else 'OK'}",
        f"# Avg bus bandwidth    : {sum(rates) / len(rates):.4f}",
        "#",
        f"# Collective test concluded: {name}",
    ]
    return "\n".join(lines) + "\n"


def _half(row: MeasuredRow) -> str:
    wrong = "N/A" if row.wrong is None else str(row.wrong)
    algbw, busbw = gigabytes(row.algbw_bytes_per_s), gigabytes(row.busbw_bytes_per_s)
    return f"{microseconds(row.time_s):>9.2f} {algbw:>7.2f} {busbw:>7.2f} {wrong:>6}"
