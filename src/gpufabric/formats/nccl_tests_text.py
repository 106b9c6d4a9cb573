"""nccl-tests and rccl-tests output → :class:`~gpufabric.records.measurements.Measurements`.

Layouts read: with and without ``root``, ``error`` or ``#wrong``, ``-I``, ``-S`` and ``-C`` columns, several
tests in one file.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

from gpufabric.errors import printable
from gpufabric.formats.log_lines import MAX_LINE_CHARS, LogBlock, LogFile, LogLine, strip_prefix
from gpufabric.formats.nccl_tests_lines import (
    AVERAGE,
    DEVICE,
    ENDED,
    FAILED,
    INFO,
    OP_OF_PROGRAM,
    OUT_OF_BOUNDS,
    PROGRAM,
    SETTINGS,
    START,
    VALIDATION_OFF,
    VERSION,
    VERSION_CODE,
    WARN,
    WORDS_OF_ROWS,
    WORDS_OF_STEPS,
    has_word,
    is_foreign,
    is_quiet,
    is_told_by_library,
    library_named,
)
from gpufabric.formats.nccl_tests_row import (
    Fragment,
    RowLayout,
    is_continuation,
    joined,
    needs_more,
    parse_row,
    read_header,
    row_fragments,
)
from gpufabric.formats.nccl_tests_run import MAX_ROWS, MAX_TABLES, Device, TestRun
from gpufabric.formats.nccl_tests_tables import tables_of_run
from gpufabric.records.findings import Finding, Severity
from gpufabric.records.measurements import MeasuredTable, Measurements
from gpufabric.units import counted, from_gigabytes

_FINDINGS_SHOWN = 5
_WRAPPED_LINES = 3


def read_nccl_tests(source: str | Path | BinaryIO, name: str = "") -> Measurements:
    """Read the text output of nccl-tests or rccl-tests.

    Parameters
    ----------
    source
        Path of a plain or gzip file, ``-`` for standard input, or an open binary stream.
    name
        What findings call the file; default: the path.

    Returns
    -------
    Measurements
        One table per test and data type, in the file's order. Each line is understood or counted in
        ``lines_not_understood``; bandwidths are bytes/s and times seconds.

    Raises
    ------
    InputError
        When the file can't be opened or read. What is in it never raises.
    """
    log = LogFile(source)
    reader = NcclTestsReader(printable(name or log.name))
    for block in log.blocks():
        if not reader.take_block(block):
            break
    return reader.finish(log.lines_read, log.stopped)


class NcclTestsReader:
    """Takes lines one after the other and keeps the run that they belong to."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.run = TestRun()
        self.layout = RowLayout()
        self.tables: list[MeasuredTable] = []
        self.findings: list[Finding] = []
        self.pending: tuple[Fragment, int] | None = None
        self.wraps = 0
        self.lines = self.not_understood = self.rows = self.warnings = self.failures = 0
        self.first_warning = 0
        self._steps: tuple[tuple[tuple[str, ...], Callable[[str, int], bool]], ...] = (
            (WORDS_OF_STEPS["nccl"], self._nccl),
            (WORDS_OF_STEPS["failure"], self._failure),
            (WORDS_OF_STEPS["device"], self._device),
            (WORDS_OF_STEPS["header"], self._header),
            (WORDS_OF_STEPS["footer"], self._footer),
            (WORDS_OF_STEPS["start"], self._start),
            (WORDS_OF_STEPS["program"], self._program),
            (WORDS_OF_STEPS["version"], self._version),
        )

    def take_block(self, block: LogBlock) -> bool:
        """Take lines one after the other; False as :meth:`take`."""
        for number, text in enumerate(block.texts, block.first):
            if self.pending is None and (not text or is_told_by_library(text)) and number not in block.cut:
                continue
            if not self.take(LogLine(number, text, number in block.cut)):
                return False
        return True

    def take(self, line: LogLine) -> bool:
        """Take one line; False when the limit of rows is reached and reading must stop."""
        self.lines = line.number
        if self.pending is None and not line.cut and is_foreign(line.text):
            self._missed_foreign(line)
            return True
        text = strip_prefix(line.text)
        if self.pending is not None and self._continue_row(text):
            return True
        if line.cut:
            self._missed(
                line.number, f"a line is longer than {MAX_LINE_CHARS:,} characters; only its start was read"
            )
        fragments = row_fragments(line.text) if has_word(line.text, WORDS_OF_ROWS) else ()
        if fragments:
            for fragment in fragments[:-1]:
                self._row(fragment, line.number)
            self._last_row(fragments[-1], line.number)
        elif not (self._step(text, line.number) or is_quiet(text)) and not line.cut:
            self._missed_foreign(line)
        return self.rows < MAX_ROWS and len(self.tables) < MAX_TABLES

    def finish(self, lines: int, stopped: str) -> Measurements:
        """Close the last run and return everything; *stopped* says why not all of the file was read."""
        self.lines = lines
        self._settle_pending()
        self._close_run()
        if self.rows >= MAX_ROWS or len(self.tables) >= MAX_TABLES:
            text = f"reading stopped: a log may have {MAX_ROWS:,} rows in {MAX_TABLES} tables"
            self._note("measured-log-lines", "warning", self.lines, text)
        if stopped:
            text = f"the file ends early: {stopped}"
            self._note(
                "measured-log-lines",
                "warning",
                self.lines,
                text,
                fix="give the whole log, as the test wrote it",
            )
        if self.warnings:
            printed = counted(self.warnings, "warning")
            text = f"NCCL printed {printed}; read {'it' if self.warnings == 1 else 'them'} first"
            self._note("measured-test-failed", "warning", self.first_warning, text)
        if self.not_understood > _FINDINGS_SHOWN:
            more = counted(self.not_understood - _FINDINGS_SHOWN, "more line")
            verb = "was" if self.not_understood == _FINDINGS_SHOWN + 1 else "were"
            self._note("measured-log-lines", "info", self.lines, f"{more} {verb} not understood")
        if not self.tables:
            text = "no result row of nccl-tests was found"
            self._note(
                "measured-log-lines",
                "error",
                max(self.lines, 1),
                text,
                fix="give the text output of an nccl-tests program",
            )
        return Measurements(
            self.name, tuple(self.tables), tuple(self.findings), self.lines, self.not_understood
        )

    def _note(self, rule: str, severity: Severity, line: int, message: str, fix: str = "") -> None:
        self.findings.append(Finding(rule, severity, f"{self.name}:{line}", message, fix=fix))

    def _missed_foreign(self, line: LogLine) -> None:
        if self.not_understood < _FINDINGS_SHOWN:
            length = counted(len(line.text), "character")
            self._missed(line.number, f"a line of {length} is not part of an nccl-tests output")
        else:
            self.not_understood += 1

    def _step(self, text: str, number: int) -> bool:
        return any(step(text, number) for words, step in self._steps if has_word(text, words))

    def _missed(self, line: int, message: str) -> None:
        self.not_understood += 1
        if self.not_understood <= _FINDINGS_SHOWN:
            self._note("measured-log-lines", "info", line, message)

    def _close_run(self) -> None:
        tables, findings = tables_of_run(self.run, self.name, MAX_TABLES - len(self.tables))
        self.tables += tables
        self.findings += findings
        self.run = TestRun()

    def _new_run_if_measured(self) -> None:
        if self.run.rows or self.run.ended:
            self._close_run()

    # Rows

    def _continue_row(self, text: str) -> bool:
        assert self.pending is not None
        fragment, number = self.pending
        if self.wraps < _WRAPPED_LINES and not row_fragments(text) and is_continuation(text):
            self.pending = (joined(fragment, text, self.layout), number)
            self.wraps += 1
            if not needs_more(self.pending[0], self.layout):
                self._settle_pending()
            return True
        self._settle_pending()
        return False

    def _settle_pending(self) -> None:
        if self.pending is not None:
            fragment, number = self.pending
            self.pending = None
            self._row(fragment, number)

    def _last_row(self, fragment: Fragment, number: int) -> None:
        if needs_more(fragment, self.layout):
            self.pending, self.wraps = (fragment, number), 0
        else:
            self._row(fragment, number)

    def _row(self, fragment: Fragment, number: int) -> None:
        row = parse_row(fragment, self.layout)
        if not row.whole:
            kept = sum(half is not None for half in (row.out_of_place, row.in_place))
            self._missed(
                number,
                "a result row is cut or damaged;"
                f" {('nothing', 'one half', 'both halves')[kept]} of it could be used",
            )
        if row.out_of_place is None and row.in_place is None:
            return
        self.rows += 1
        self.run.add_row(row, number, self.layout)

    # Other lines: each step says whether it understood the line.

    def _failure(self, text: str, number: int) -> bool:
        if FAILED.search(text) is None:
            return False
        self.run.ended = self.run.failed = True
        self.failures += 1
        if self.failures > _FINDINGS_SHOWN:
            return True
        self._note(
            "measured-test-failed",
            "error",
            number,
            "the test stopped with a failure",
            fix="look at the lines above it and at the node it names",
        )
        return True

    def _nccl(self, text: str, number: int) -> bool:
        if WARN.search(text):
            self.warnings += 1
            self.first_warning = self.first_warning or number
            return True
        if INFO.search(text) is None:
            return False
        self._version(text, number)
        return True

    def _device(self, text: str, number: int) -> bool:
        found = DEVICE.search(text)
        if found is None:
            return False
        self._new_run_if_measured()
        rank, group, pid, host, gpu = found.groups()
        self.run.add_device(
            Device(int(rank), int(group or 0), int(pid), printable(host), printable(gpu.strip())), number
        )
        return True

    def _header(self, text: str, number: int) -> bool:
        layout = read_header(text)
        if layout is None:
            return False
        self.layout = layout
        if self.run.ended:
            self._close_run()
        self.run.header_lines.append(number)
        return True

    def _footer(self, text: str, number: int) -> bool:
        bounds, average = OUT_OF_BOUNDS.search(text), AVERAGE.search(text)
        if bounds is not None:
            self.run.ended = True
            if int(bounds.group(1)) or bounds.group(2) == "FAILED":
                self.run.out_of_bounds = True
                message = f"nccl-tests counted {counted(int(bounds.group(1)), 'value')} out of bounds"
                self._note(
                    "measured-wrong-elements",
                    "error",
                    number,
                    message,
                    fix="find the node with wrong data before judging its speed",
                )
        if average is not None:
            self.run.ended = True
            value = float(average.group(1))
            self.run.average_bytes_per_s = from_gigabytes(value) if math.isfinite(value) else None
            self.run.average_line = number
        if ENDED.search(text):
            self.run.ended = True
            self._name_op(text)
            return True
        return bounds is not None or average is not None

    def _start(self, text: str, number: int) -> bool:
        settings = SETTINGS.search(text)
        if settings is None and START.search(text) is None:
            return False
        self._new_run_if_measured()
        self._name_op(text, anew=True)
        self._version(text, number)
        if settings is not None:
            self.run.thread_gpus = int(settings.group(1))
            self.run.max_bytes = int(settings.group(2))
            self.run.checked = VALIDATION_OFF.search(text) is None
            self.run.starts += 1
        return True

    def _program(self, text: str, number: int) -> bool:
        found = PROGRAM.search(text)
        if found is None:
            return False
        if self.run.rows and self.run.op != OP_OF_PROGRAM[found.group(1)]:
            self._close_run()
        self._name_op(text, anew=True)
        return True

    def _name_op(self, text: str, anew: bool = False) -> None:
        found = PROGRAM.search(text)
        if found is not None and (anew or self.run.op is None):
            self.run.op = OP_OF_PROGRAM[found.group(1)]

    def _version(self, text: str, number: int) -> bool:
        found, code, name = VERSION.search(text), VERSION_CODE.search(text), library_named(text)
        self.run.library_name = name or self.run.library_name
        if found is not None:
            self.run.library = found.group(1)
        elif code is not None and not self.run.library:
            digits = int(code.group(1))
            # ncclGetVersion: major × 10000 + minor × 100 + patch.
            self.run.library = f"{digits // 10_000}.{digits // 100 % 100}.{digits % 100}"
        return found is not None or code is not None or bool(name)
