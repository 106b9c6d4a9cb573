"""What a log of a collective test says, each value with the line it stands on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from gpufabric.records.findings import Finding

RanksSource = Literal["device lines", "bus factor", ""]


@dataclass(frozen=True, slots=True)
class MeasuredRow:
    """One half of a row of a result table; times are seconds, bandwidths bytes/s.

    ``in_place`` says which half of the row; ``wrong`` is the count of wrong elements, None when it was not
    checked; ``consistent`` is False when size, time, algbw and busbw contradict each other: such a row must
    not be judged.
    """

    line: int
    size_bytes: int
    time_s: float
    algbw_bytes_per_s: float
    busbw_bytes_per_s: float
    in_place: bool
    wrong: int | None = None
    count: int = -1
    consistent: bool = True


@dataclass(frozen=True, slots=True)
class MeasuredTable:
    """One test: an operation over some ranks with its rows.

    ``ranks`` is None when the file does not say, and ``ranks_source`` how it is known; ``hosts`` maps each
    host to the number of its device lines (fewer than its ranks when the list is elided), in order of first
    line; ``groups`` above 1 means that as many tests of ``ranks`` ranks each ran at the same time;
    ``cpu_time`` that the times are of the host's calls, not of the transfers; ``average_busbw_bytes_per_s``
    is the log's own last line, over all sizes and both halves; ``library`` is ``nccl`` or ``rccl`` where the log names it beyond
    doubt, else empty; ``out_of_bounds`` that the log's own check of the data failed;
    ``failed`` that the test stopped with a failure; ``thread_gpus`` are the GPUs that one thread of the test drives (its
    ``-g``), 0 when the log does not say.
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
    ranks_source: RanksSource = ""
    groups: int = 1
    cpu_time: bool = False
    out_of_bounds: bool = False
    failed: bool = False
    library: str = ""
    thread_gpus: int = 0


@dataclass(frozen=True, slots=True)
class Measurements:
    """All tables of a file, what is odd about them, and how many lines were not understood."""

    file: str
    tables: tuple[MeasuredTable, ...]
    findings: tuple[Finding, ...] = ()
    lines_read: int = 0
    lines_not_understood: int = 0
