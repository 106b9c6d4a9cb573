"""A log of nccl-tests → the rows that can be held against a predicted collective."""

from __future__ import annotations

from gpufabric.errors import InputError, printable
from gpufabric.formats.nccl_tests_text import read_nccl_tests
from gpufabric.records.measurements import MeasuredRow
from gpufabric.records.results import CollectiveResult
from gpufabric.units import MAX_MESSAGE_BYTES, counted


def measured_points(log: str, like: CollectiveResult) -> tuple[MeasuredRow, ...]:
    """Return the rows of a log that are of the same operation over as many ranks, out of place and in place.

    Parameters
    ----------
    log
        Path, plain or gzip; ``-`` for standard input.
    like
        The prediction that they are held against.

    Raises
    ------
    InputError
        If the log can't be read or has no such row.
    """
    read = read_nccl_tests(log)
    rows = tuple(
        row
        for table in read.tables
        if table.op == like.op and table.ranks in {None, like.gpus} and table.groups == 1
        for row in table.rows
        if row.consistent
        and not row.wrong
        and row.time_s > 0
        and 0 < row.size_bytes <= MAX_MESSAGE_BYTES
        and row.busbw_bytes_per_s > 0
    )
    if not rows:
        there = dict.fromkeys(
            f"{table.op or 'an unknown operation'} over {counted(table.ranks, 'rank') if table.ranks else 'unknown ranks'}"
            for table in read.tables
        )
        raise InputError(
            f"{printable(read.file, 200)}: no row of {like.op} over {counted(like.gpus, 'rank')} is in it "
            f"(found: {printable(', '.join(list(there)[:5]), 300) or 'no table'}); name a log of the same job, or set --gpus"
        )
    return rows
