"""One run of an nccl-tests program while its lines come in."""

from __future__ import annotations

from dataclasses import dataclass, field

from gpufabric.formats.nccl_tests_row import Half, ParsedRow, RowLayout
from gpufabric.records.measurements import MeasuredRow

MAX_ROWS = 100_000
MAX_TABLES = 200
_MAX_DEVICES = 1 << 20


@dataclass(frozen=True, slots=True)
class Device:
    """A device line: the GPU that a rank uses."""

    rank: int
    group: int
    pid: int
    host: str
    gpu: str


@dataclass(frozen=True, slots=True)
class TableKey:
    """What is equal for all rows of one table."""

    header: int
    dtype: str
    redop: str
    root: int | None
    cpu_time: bool


@dataclass
class TestRun:
    """What the lines of a run said so far; ``ended`` when its footer or a failure came."""

    __test__ = False  # the name is the field's, not pytest's

    op: str | None = None
    library: str = ""
    library_name: str = ""
    gpu: str = ""
    max_bytes: int | None = None
    thread_gpus: int = 0
    checked: bool = True
    starts: int = 0
    ended: bool = False
    failed: bool = False
    out_of_bounds: bool = False
    average_bytes_per_s: float | None = None
    average_line: int = 0
    header_lines: list[int] = field(default_factory=list)
    rows: list[tuple[TableKey, MeasuredRow]] = field(default_factory=list)
    ranks: set[int] = field(default_factory=set)
    group_ranks: dict[int, int] = field(default_factory=dict)
    hosts: dict[str, int] = field(default_factory=dict)
    other_gpus: set[str] = field(default_factory=set)
    repeated_ranks: int = 0
    first_device_line: int = 0

    def add_device(self, device: Device, line: int) -> None:
        """Take a device line; a rank seen before is counted in ``repeated_ranks``."""
        self.first_device_line = self.first_device_line or line
        if device.rank in self.ranks:
            self.repeated_ranks += 1
            return
        if len(self.ranks) >= _MAX_DEVICES:
            return
        self.ranks.add(device.rank)
        self.group_ranks[device.group] = self.group_ranks.get(device.group, 0) + 1
        self.hosts[device.host] = self.hosts.get(device.host, 0) + 1
        if not self.gpu:
            self.gpu = device.gpu
        elif device.gpu and device.gpu != self.gpu and len(self.other_gpus) < 4:
            self.other_gpus.add(device.gpu)

    def add_row(self, row: ParsedRow, line: int, layout: RowLayout) -> None:
        """Take a result row: up to two measured rows."""
        # Copies of a program built without MPI print their headers one after the other: the last before a
        # row counts.
        header = self.header_lines[-1] if self.header_lines else 0
        key = TableKey(header, row.dtype, row.redop, row.root, layout.cpu_time)
        for half, in_place in ((row.out_of_place, False), (row.in_place, True)):
            if half is not None:
                self.rows.append((key, _measured(row, half, line, in_place)))


def _measured(row: ParsedRow, half: Half, line: int, in_place: bool) -> MeasuredRow:
    return MeasuredRow(
        line=line,
        size_bytes=row.size_bytes,
        time_s=half.time_s,
        algbw_bytes_per_s=half.algbw_bytes_per_s,
        busbw_bytes_per_s=half.busbw_bytes_per_s,
        in_place=in_place,
        wrong=half.wrong,
        count=row.count,
    )
