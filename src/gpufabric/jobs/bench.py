"""Measure a collective on one's own machines, one process a rank, as nccl-tests does: ``gpufabric bench``."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

from gpufabric.collectives.bus_factors import bus_factor
from gpufabric.errors import InputError, did_you_mean
from gpufabric.formats.measured_table_write import HowMeasured, write_measured_table
from gpufabric.jobs.known_op import known_op
from gpufabric.lab.bench_session import (
    MeasuredSize,
    Session,
    launched,
    measure_sizes,
    session,
    usable_sizes,
)
from gpufabric.lab.bench_worker import EXCHANGES, NOT_IN_PLACE
from gpufabric.lab.find_torch import find_torch
from gpufabric.records.findings import Finding
from gpufabric.records.measurements import MeasuredRow, MeasuredTable

_MOST_SIZES = 256
_REDUCING = ("all_reduce", "reduce_scatter", "reduce")
_ROOTED = ("broadcast", "reduce")


@dataclass(frozen=True, slots=True)
class BenchOptions:
    """What to measure; ``backend`` None is nccl where there are GPUs, else gloo. Sizes are those of nccl-tests' -b, -e and -f."""

    op: str = "all_reduce"
    first_bytes: int = 1 << 20
    last_bytes: int = 1 << 27
    factor: int = 2
    warmup: int = 5
    iterations: int = 20
    backend: str | None = None
    check: bool = True

    def sizes(self) -> list[int]:
        """Return the sizes.

        Raises
        ------
        InputError
            If they fall, do not grow, or are too many.
        """
        if self.last_bytes < self.first_bytes:
            raise InputError(
                "-e: is smaller than -b; the sizes go from -b to -e; write the smaller one first"
            )
        if self.factor < 2:
            raise InputError(f"-f: {self.factor} does not grow; 2 or more is allowed; give a larger factor")
        found = [self.first_bytes]
        while found[-1] * self.factor <= self.last_bytes and len(found) < _MOST_SIZES:
            found.append(found[-1] * self.factor)
        return found


@dataclass(frozen=True, slots=True)
class BenchResult:
    """What was measured; ``run`` says how."""

    table: MeasuredTable
    run: HowMeasured
    backend: str
    findings: tuple[Finding, ...]
    assumptions: tuple[str, ...]

    def log(self) -> str:
        """Return the text that nccl-tests would print."""
        return write_measured_table(self.table, self.run)

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain JSON values."""
        table = self.table
        return {
            "op": table.op,
            "backend": self.backend,
            "library": " ".join(filter(None, (table.library or self.backend, table.library_version))),
            "gpus": table.ranks,
            "hosts": [{"host": host, "ranks": count} for host, count in table.hosts],
            "iterations": self.run.iterations,
            "warmup": self.run.warmup,
            "results": [
                {
                    "op": table.op,
                    "size_bytes": row.size_bytes,
                    "count": row.count,
                    "in_place": row.in_place,
                    "time_s": row.time_s,
                    "algbw_bytes_per_s": row.algbw_bytes_per_s,
                    "busbw_bytes_per_s": row.busbw_bytes_per_s,
                    "wrong": row.wrong,
                }
                for row in table.rows
            ],
            "findings": [
                {"rule": f.rule, "severity": f.severity, "where": f.where, "message": f.message, "fix": f.fix}
                for f in self.findings
            ],
            "assumptions": list(self.assumptions),
        }


def bench(options: BenchOptions) -> BenchResult | None:
    """Measure together with the other ranks of the job, and return the result on rank 0, None on the others.

    Parameters
    ----------
    options

    Raises
    ------
    InputError
        If PyTorch or its backend is missing, no launcher has started this process, or the sizes are not possible.
    """
    op = known_op(options.op)
    if op not in EXCHANGES:
        raise InputError(
            f"operation {op}: is not measured here; known: {', '.join(EXCHANGES)}.{did_you_mean(op, EXCHANGES)}"
        )
    wanted = options.sizes()
    find_torch()
    one = launched(os.environ)
    sizes = usable_sizes(op, wanted, one.ranks)
    if not sizes:
        raise InputError(
            f"-e: {options.last_bytes} bytes are no element for each of {one.ranks} ranks; take more"
        )
    with session(options.backend, one) as here:
        measured = list(measure_sizes(op, sizes, here, options.warmup, options.iterations, options.check))
        return _result(op, options, here, measured) if one.rank == 0 else None


def _result(op: str, options: BenchOptions, here: Session, measured: list[MeasuredSize]) -> BenchResult:
    factor = bus_factor(op, here.place.ranks)
    rows = tuple(
        MeasuredRow(
            line=0,
            size_bytes=one.size_bytes,
            time_s=one.time_s,
            algbw_bytes_per_s=one.size_bytes / one.time_s,
            busbw_bytes_per_s=one.size_bytes / one.time_s * factor,
            in_place=one.in_place,
            wrong=one.wrong,
            count=one.count,
        )
        for one in measured
    )
    hosts: dict[str, int] = {}
    for host in here.hosts:
        hosts[host] = hosts.get(host, 0) + 1
    table = MeasuredTable(
        op=op,
        dtype="float",
        redop="sum" if op in _REDUCING else "none",
        root=0 if op in _ROOTED else None,
        ranks=here.place.ranks,
        hosts=tuple(hosts.items()),
        gpu_name=here.devices[0].split("] ", 1)[-1],
        rows=rows,
        library_version=here.library_version,
        library=here.library if here.library in ("nccl", "rccl") else "",
        out_of_bounds=any(row.wrong for row in rows),
    )
    notes = _notes(op)
    run = HowMeasured(
        here.hosts,
        here.devices,
        options.factor,
        options.warmup,
        options.iterations,
        (
            f"measured by gpufabric bench with torch.distributed over {here.library} {here.library_version}".rstrip(),
        ),
    )
    findings = tuple(
        Finding(
            "bench-wrong",
            "error",
            f"{op}, {row.size_bytes} bytes",
            f"{row.wrong} elements of the result are wrong",
            fix="look for errors of memory and links before measuring on",
        )
        for row in rows
        if row.wrong
    )
    return BenchResult(table, run, here.library, findings, notes)


def _notes(op: str) -> tuple[str, ...]:
    both = "times are the mean over ranks of the mean over timed calls, each call on the host's clock"
    if op in NOT_IN_PLACE:
        return (
            both,
            f"{op} has no meaning in place: both halves of a row have two buffers, and the second is not checked",
        )
    if op in ("all_reduce", "broadcast", "reduce"):
        return (
            both,
            "torch.distributed has this operation in place only: both halves of a row are measured so",
        )
    return (both,)
