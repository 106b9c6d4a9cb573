"""A finished run of nccl-tests → its tables, and findings about what in it does not fit together."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import groupby, pairwise
from typing import TypedDict, Unpack

from gpufabric.formats.bus_factor_inference import (
    bus_factor,
    op_by_elimination,
    op_from_quotient,
    quotient_bounds,
    ranks_from_quotient,
)
from gpufabric.formats.nccl_tests_run import TestRun
from gpufabric.records.findings import Finding, Severity
from gpufabric.records.measurements import MeasuredRow, MeasuredTable, RanksSource
from gpufabric.units import counted, format_gigabytes_per_s, from_gigabytes

_SOURCE = (
    "nccl-tests, doc/PERFORMANCE.md, https://github.com/NVIDIA/nccl-tests/blob/master/doc/PERFORMANCE.md"
)
# Times have at least four digits and bandwidths two decimals; 1 % leaves room for both.
_RELATIVE = 0.01
_LAST_DIGIT = from_gigabytes(0.011)
# What nccl-tests calls size there is not what algbw counts.
_ALGBW_IS_NOT_SIZE_OVER_TIME = {"hypercube", "all_to_all_v"}


def tables_of_run(run: TestRun, name: str, limit: int) -> tuple[list[MeasuredTable], list[Finding]]:
    """Return at most *limit* tables of *run*, and findings; *name* is what findings call the file."""
    judge = _RunJudge(run, name)
    tables = [judge.table(rows) for rows in _split(run)[:limit]]
    if tables:
        judge.about_run()
        if run.average_bytes_per_s is not None:
            judge.about_average(tables)
            tables[-1] = replace(tables[-1], average_busbw_bytes_per_s=run.average_bytes_per_s)
    return tables, judge.findings


def _split(run: TestRun) -> list[list[int]]:
    """Return the indices of the rows of each table: a new key or a smaller size starts one."""
    tables: list[list[int]] = []
    for _, group in groupby(range(len(run.rows)), key=lambda i: run.rows[i][0]):
        last = math.inf
        for index in group:
            size = run.rows[index][1].size_bytes
            if size < last and (last is math.inf or not _is_step_down(run, index)):
                tables.append([])
            tables[-1].append(index)
            last = size
    return tables


def _is_step_down(run: TestRun, index: int) -> bool:
    """Say whether a smaller size is a late line of a copy (as without MPI), not the start of a new table."""
    row = run.rows[index][1]
    return run.repeated_ranks > 0 and any(
        r.size_bytes == row.size_bytes for _, r in run.rows[max(0, index - 64) : index]
    )


class _More(TypedDict, total=False):
    expected: str
    found: str
    fix: str
    source: str


class _RunJudge:
    """Builds tables and collects findings of one run."""

    def __init__(self, run: TestRun, name: str) -> None:
        self.run = run
        self.name = name
        self.findings: list[Finding] = []

    def _note(
        self,
        rule: str,
        severity: Severity,
        line: int,
        message: str,
        **more: Unpack[_More],
    ) -> None:
        self.findings.append(Finding(rule, severity, f"{self.name}:{line}", message, **more))

    def table(self, indices: Sequence[int]) -> MeasuredTable:
        """Return the table of the rows *indices*."""
        run = self.run
        key = run.rows[indices[0]][0]
        rows = [run.rows[i][1] for i in indices]
        rows = self._time_checked(rows)
        op = run.op or self._op(rows, key.redop, key.root)
        rows = self._algbw_checked(rows, op)
        bounds = quotient_bounds(rows)
        ranks, source = self._ranks(rows, op, bounds)
        rows = self._busbw_checked(rows, op, ranks)
        self._about_copies(rows)
        return MeasuredTable(
            op=op,
            dtype=key.dtype,
            redop=key.redop,
            root=key.root,
            ranks=ranks,
            hosts=tuple(run.hosts.items()),
            gpu_name=run.gpu,
            rows=tuple(rows),
            library_version=run.library,
            ranks_source=source,
            groups=max(1, len(run.group_ranks)),
            cpu_time=key.cpu_time,
            out_of_bounds=run.out_of_bounds,
            failed=run.failed,
            library=run.library_name,
            thread_gpus=run.thread_gpus,
        )

    # Operation and ranks

    def _op(self, rows: list[MeasuredRow], redop: str, root: int | None) -> str | None:
        bounds = quotient_bounds(rows)
        op = op_from_quotient(bounds, redop) if bounds else None
        ranks = self._ranks_of_devices()
        if op is None and bounds and root is not None and ranks is not None and ranks > 1:
            out, within = ({r.wrong is None for r in rows if r.in_place is half} for half in (False, True))
            op = op_by_elimination(bounds, redop, root, ranks, out == {False} and within == {True})
        if op is None:
            self._note(
                "measured-op-unknown",
                "warning",
                rows[0].line,
                "the log does not say which operation was tested, and several fit its numbers",
                fix="keep the lines above the table, or the command, in the log",
            )
        else:
            self._note(
                "measured-op-unknown",
                "info",
                rows[0].line,
                f"the log does not name its operation; only {op} fits what its columns and busbw / algbw show",
                source=_SOURCE,
            )
        return op

    def _ranks_of_devices(self) -> int | None:
        groups = list(self.run.group_ranks.values())
        if len(groups) > 1:
            return groups[0] if len(set(groups)) == 1 else None
        return max(self.run.ranks) + 1 if self.run.ranks else None

    def _ranks(
        self, rows: list[MeasuredRow], op: str | None, bounds: tuple[float, float] | None
    ) -> tuple[int | None, RanksSource]:
        listed = self._ranks_of_devices()
        fitting = ranks_from_quotient(bounds, op) if bounds and op else None
        if listed is None:
            return self._ranks_of_numbers(rows[0].line, fitting)
        if fitting is None or fitting[0] <= listed <= fitting[1] or listed == 1:
            return listed, "device lines"
        # A list of devices is often cut: its largest rank is a lower bound, so the numbers win when they
        # ask for more.
        more = fitting[0] > listed
        sure = more and fitting[0] == fitting[1]
        used = f"{fitting[0]} ranks are assumed" if sure else "their number is not known"
        if not more:
            used = f"{listed} ranks are assumed"
        self._note(
            "measured-ranks-unknown",
            "warning",
            rows[0].line,
            "busbw / algbw does not fit the ranks of the device lines: the list is cut or of another run; "
            f"{used}",
            expected=counted(listed, "rank"),
            found=_interval(fitting),
            source=_SOURCE,
        )
        if sure:
            return fitting[0], "bus factor"
        return (None, "") if more else (listed, "device lines")

    def _ranks_of_numbers(self, line: int, fitting: tuple[int, int] | None) -> tuple[int | None, RanksSource]:
        if fitting is not None and fitting[0] == fitting[1]:
            mixed = self.run.max_bytes is not None and any(
                r.size_bytes > self.run.max_bytes for _, r in self.run.rows
            )
            doubt = ", if its rows are of one run, which they are not all" if mixed else ""
            text = f"the log does not list its ranks; busbw / algbw is that of {_interval(fitting)}{doubt}"
            fix = "if another number is known, the rows were altered or are of another run: keep the device lines in the log"
            self._note(
                "measured-ranks-unknown", "warning" if mixed else "info", line, text, fix=fix, source=_SOURCE
            )
            return fitting[0], "bus factor"
        said = f"busbw / algbw allows {_interval(fitting)}" if fitting else "its numbers do not tell either"
        text = f"the log does not list its ranks; {said}"
        self._note("measured-ranks-unknown", "warning", line, text, fix="keep the device lines in the log")
        return None, ""

    # Arithmetic

    def _time_checked(self, rows: list[MeasuredRow]) -> list[MeasuredRow]:
        return self._without(
            rows,
            lambda r: r.time_s <= 0 < max(r.size_bytes, r.algbw_bytes_per_s, r.busbw_bytes_per_s),
            "time is 0 although data moved",
        )

    def _algbw_checked(self, rows: list[MeasuredRow], op: str | None) -> list[MeasuredRow]:
        if op in _ALGBW_IS_NOT_SIZE_OVER_TIME:
            return rows
        return self._without(
            rows,
            lambda r: r.time_s > 0 and not _near(r.size_bytes / r.time_s, r.algbw_bytes_per_s),
            "size / time is not algbw",
        )

    def _busbw_checked(self, rows: list[MeasuredRow], op: str | None, ranks: int | None) -> list[MeasuredRow]:
        factor = bus_factor(op, ranks) if op is not None and ranks is not None else None
        if factor is None or ranks is None:
            return rows
        return self._without(
            rows,
            lambda r: not _near(r.algbw_bytes_per_s * factor, r.busbw_bytes_per_s, slack=2.0),
            f"busbw / algbw is not that of {op} over {counted(ranks, 'rank')}",
        )

    def _without(
        self, rows: list[MeasuredRow], contradicts: Callable[[MeasuredRow], bool], what: str
    ) -> list[MeasuredRow]:
        """Return *rows* with those marked that contradict themselves, and note the first of them."""
        bad = {i for i, row in enumerate(rows) if row.consistent and contradicts(row)}
        if bad:
            self._about_contradictions([rows[i] for i in sorted(bad)], what)
        return [replace(row, consistent=False) if i in bad else row for i, row in enumerate(rows)]

    def _about_contradictions(self, bad: list[MeasuredRow], what: str) -> None:
        first = bad[0]
        self._note(
            "measured-row-contradiction",
            "warning",
            first.line,
            f"{what} in {counted(len(bad), 'half row')}; {'it is' if len(bad) == 1 else 'they are'} not judged",
            found=(
                f"size {first.size_bytes} B, time {first.time_s:.6g} s,"
                f" algbw {format_gigabytes_per_s(first.algbw_bytes_per_s)},"
                f" busbw {format_gigabytes_per_s(first.busbw_bytes_per_s)}"
            ),
            fix="take the log from the program, not from a copy that was edited",
            source=_SOURCE,
        )

    # The run as a whole

    def _about_copies(self, rows: list[MeasuredRow]) -> None:
        sizes = [r.size_bytes for r in rows if not r.in_place] or [r.size_bytes for r in rows]
        repeated = sum(a == b for a, b in pairwise(sizes))
        copies = self.run.repeated_ranks > 0 or (len(sizes) > 2 and 2 * repeated >= len(sizes))
        alone = self._ranks_of_devices() == 1 or (
            self.run.op == "all_reduce"
            and all(r.busbw_bytes_per_s == 0 for r in rows)
            and any(r.algbw_bytes_per_s > 0 for r in rows)
        )
        if not copies and not alone:
            return
        text = (
            "each row is there several times"
            if copies
            else "the test ran on one rank, so its busbw says nothing"
        )
        self._note(
            "measured-without-mpi",
            "warning",
            rows[0].line,
            f"{text}: the processes did not find each other, as in nccl-tests built without MPI",
            fix="build nccl-tests with MPI=1 and start it with the launcher of that MPI",
        )

    def about_run(self) -> None:
        """Note what the start of the log and its rows do not agree on."""
        run = self.run
        if run.max_bytes is not None:
            above = [r for _, r in run.rows if r.size_bytes > run.max_bytes]
            if above:
                self._note(
                    "measured-runs-mixed",
                    "warning",
                    above[0].line,
                    "rows are larger than the largest size that the log's first line announces: parts of two"
                    " runs were put together",
                    expected=f"at most {run.max_bytes} B",
                    found=f"{above[-1].size_bytes} B",
                )
        if run.ranks and len(run.ranks) < max(run.ranks) + 1:
            text = f"the list of devices shows {len(run.ranks):,} of {counted(max(run.ranks) + 1, 'rank')}"
            self._note("measured-ranks-unknown", "info", run.first_device_line, text)
        if len(run.group_ranks) > 1:
            text = f"{len(run.group_ranks)} groups of ranks ran at the same time and share the network"
            self._note("measured-runs-mixed", "info", run.first_device_line, text)
        if run.other_gpus:
            text = f"the ranks run on different GPUs: {run.gpu}, {', '.join(sorted(run.other_gpus))}"
            self._note("measured-gpu-mismatch", "warning", run.first_device_line, text)

    def about_average(self, tables: list[MeasuredTable]) -> None:
        """Note when the log's average is not that of its rows."""
        values = [r.busbw_bytes_per_s for t in tables for r in t.rows]
        mean, said = sum(values) / len(values), self.run.average_bytes_per_s
        if said is not None and not _near(mean, said):
            self._note(
                "measured-runs-mixed",
                "info",
                self.run.average_line,
                "the average that the log prints is not that of its rows: rows are missing or of another run",
                expected=format_gigabytes_per_s(mean),
                found=format_gigabytes_per_s(said),
            )


def _near(a: float, b: float, slack: float = 1.0) -> bool:
    return math.isclose(a, b, rel_tol=_RELATIVE, abs_tol=slack * _LAST_DIGIT)


def _interval(fitting: tuple[int, int]) -> str:
    last = counted(fitting[1], "rank")
    return last if fitting[0] == fitting[1] else f"{fitting[0]:,} to {last}"
