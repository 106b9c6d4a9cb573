"""Logs of nccl-tests and the cluster that they were measured on → measured rows."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO

import numpy as np

from gpufabric.errors import InputError, printable
from gpufabric.formats.nccl_tests_text import read_nccl_tests
from gpufabric.jobs.job_library import fitting_libraries
from gpufabric.jobs.measured_runs import WiredSpec
from gpufabric.records.bus_factor_table import BUS_FACTORS
from gpufabric.records.measured_collective import ONE_PROCESS, LeftOut, MeasuredCollective
from gpufabric.records.measurements import MeasuredTable
from gpufabric.rules import measured_scope
from gpufabric.units import MAX_MESSAGE_BYTES


def log_measurements(
    logs: Sequence[str | Path | BinaryIO], wired: WiredSpec
) -> tuple[tuple[MeasuredCollective, ...], tuple[LeftOut, ...]]:
    """Return the rows of logs that a model of time can learn from, and what is left out with the reason.

    Parameters
    ----------
    logs
        Paths, ``-`` for standard input, or open binary streams.
    wired
        The cluster that they were measured on.

    Raises
    ------
    InputError
        If a log can't be read.
    """
    rows: list[MeasuredCollective] = []
    left_out: list[LeftOut] = []
    for log in logs:
        read = read_nccl_tests(log)
        file = printable(read.file, 200)
        if not read.tables:
            left_out.append(LeftOut(file, file, 0, "no table of nccl-tests is in it"))
        for table in read.tables:
            reason = _why_not(table, wired)
            if reason:
                line = table.rows[0].line if table.rows else 0
                left_out.append(LeftOut(f"{file}:{line}", file, line, reason))
                continue
            rows += _rows(table, file, wired)
    return tuple(rows), tuple(left_out)


def _why_not(table: MeasuredTable, wired: WiredSpec) -> str:
    cluster, parts = wired.racked.cluster, wired.racked.parts
    if not len(cluster.gpus):
        raise InputError(f"{wired.spec.name}: the description has no GPUs; nothing measured on GPUs fits it")
    server = parts.servers[cluster.parts[cluster.devices.part[cluster.gpus.host[0]]]]
    if table.failed or table.out_of_bounds:
        return "the test failed"
    here, there = (measured_scope.model_code(name) for name in (table.gpu_name, server.gpu))
    if here and there and here != there:
        return f"it was measured on {printable(table.gpu_name, 60)}, the description has {server.gpu}"
    other = measured_scope.other_library(table, fitting_libraries(server.gpu))
    reason = other or measured_scope.why_not_judged(table, len(cluster.gpus), len(server.gpus))
    if not reason and len(table.hosts) > _nodes(table, wired):
        reason = "its list of devices is cut, and shows more hosts than the ranks fill"
    return reason


def _nodes(table: MeasuredTable, wired: WiredSpec) -> int:
    """Return on how many servers a table's ranks ran: by its hosts where it lists every rank, else as many as they fill."""
    assert table.ranks is not None
    _, per_server = np.unique(wired.racked.cluster.gpus.host, return_counts=True)
    return measured_scope.even_hosts(table) or -(-table.ranks // int(per_server.max()))


def _rows(table: MeasuredTable, file: str, wired: WiredSpec) -> list[MeasuredCollective]:
    assert table.op is not None
    assert table.ranks is not None
    nodes = _nodes(table, wired)
    tool = ONE_PROCESS if 1 < table.thread_gpus == table.ranks // nodes else ""
    scale, depends = BUS_FACTORS[table.op]
    factor = scale * (table.ranks - 1) / table.ranks if depends else scale
    return [
        MeasuredCollective(
            id=f"{file}:{row.line}{' in place' if row.in_place else ''}",
            cluster=wired.spec.name,
            hw_class="",
            source=file,
            line=row.line,
            kind="measured",
            op=table.op,
            nodes=nodes,
            gpus=table.ranks,
            size_bytes=row.size_bytes,
            time_s=row.time_s,
            busbw_bytes_per_s=row.size_bytes * factor / row.time_s,
            rounding=0.0,
            nics_known=True,
            library_version=table.library_version,
            tool=tool,
        )
        for row in table.rows
        if row.consistent and not row.wrong and row.time_s > 0 and 1 <= row.size_bytes <= MAX_MESSAGE_BYTES
    ]
