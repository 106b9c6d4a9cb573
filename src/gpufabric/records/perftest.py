"""What ``ib_write_bw`` and its siblings of perftest say."""

from __future__ import annotations

from dataclasses import dataclass

from gpufabric.records.file_record import FileRecord


@dataclass(frozen=True, slots=True)
class PerftestRow:
    """One size; ``peak_bytes_per_s`` is 0 where it was not measured; ``messages_per_s`` as printed, in 1/s."""

    size_bytes: int
    iterations: int
    peak_bytes_per_s: float
    average_bytes_per_s: float
    messages_per_s: float
    line: int


@dataclass(frozen=True, slots=True)
class PerftestRun:
    """One run; numbers are -1 and texts empty where the output does not say; ``gpu`` whether GPU memory was used."""

    test: str
    bidirectional: bool
    device: str
    link_type: str
    connection: str
    queue_pairs: int
    mtu_bytes: int
    gid_index: int
    gpu: bool
    rows: tuple[PerftestRow, ...]
    line: int


@dataclass(frozen=True, slots=True)
class PerftestRuns(FileRecord):
    """All runs of a file."""

    runs: tuple[PerftestRun, ...] = ()
