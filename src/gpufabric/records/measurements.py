"""What a log of a collective test says, each value with the line it stands on."""

from __future__ import annotations

from dataclasses import dataclass

from gpufabric.records.findings import Finding


@dataclass(frozen=True, slots=True)
class MeasuredRow:
    """One row of a result table. ``in_place`` says which half of the row; times are seconds, bandwidths bytes/s.

    ``wrong`` is the count of wrong elements, None when it was not checked.
    """

    line: int
    size_bytes: int
    time_s: float
    algbw_bytes_per_s: float
    busbw_bytes_per_s: float
    in_place: bool
    wrong: int | None = None


@dataclass(frozen=True, slots=True)
class MeasuredTable:
    """One test: an operation over some ranks with its rows.

    ``ranks`` is None when the file does not say; ``hosts`` maps each host to its number of ranks, in order of first rank;
    ``average_busbw_bytes_per_s`` is the log's own last line, over all sizes and both halves.
    """

    op: str | None
    dtype: str
    redop: str
    root: int | None
    ranks: int | None
    hosts: tuple[tuple[str, int], ...]
    gpu_name: str
    rows: tuple[MeasuredRow, ...]
    average_busbw_bytes_per_s: float | None = None
    library_version: str = ""


@dataclass(frozen=True, slots=True)
class Measurements:
    """All tables of a file, what is odd about them, and how many lines were not understood."""

    file: str
    tables: tuple[MeasuredTable, ...]
    findings: tuple[Finding, ...] = ()
    lines_read: int = 0
    lines_not_understood: int = 0
