"""What a reader notices on its way → findings with file:line, bounded in number and without the text of foreign lines."""

from __future__ import annotations

from gpufabric.errors import printable
from gpufabric.formats.clean_text import CleanText
from gpufabric.formats.log_lines import MAX_LINE_CHARS
from gpufabric.formats.without_secrets import without_secrets
from gpufabric.records.findings import Finding, Severity
from gpufabric.units import counted

_NAMED = 5
_MOST = 200


def notes_on(text: CleanText, what: str) -> ReadNotes:
    """Return notes on a text, with what is already known of its reading: lines too long, an early end."""
    notes = ReadNotes(text.name, what)
    for number in text.cut_lines[:_NAMED]:
        notes.cut(number, f"a line is longer than {MAX_LINE_CHARS:,} characters; only its start was read")
    if text.stopped:
        notes.cut(text.lines_read, f"the file was not read to its end: {text.stopped}")
    return notes


class ReadNotes:
    """Findings of one file and the count of its lines that say nothing known.

    A line that is not understood is never repeated: it may hold what should not be shown.
    """

    def __init__(self, name: str, what: str) -> None:
        self.name = printable(name, 300)
        self.what = what
        self.missed_lines = 0
        self._findings: list[Finding] = []
        self._left_out = 0
        self._last = 1

    def add(
        self, rule: str, severity: Severity, line: int, message: str, *, fix: str = "", evidence: str = ""
    ) -> None:
        """Add a finding at a line; beyond the first 200 they are counted."""
        self._last = max(self._last, line)
        if len(self._findings) >= _MOST:
            self._left_out += 1
            return
        text = printable(without_secrets(message[:600]), 500)
        where = f"{self.name}:{max(line, 1)}"
        self._findings.append(Finding(rule, severity, where, text, evidence=evidence, fix=fix))

    def missed(self, line: int, length: int, why: str = "") -> None:
        """Count a line that was not understood; the first five are named."""
        self.missed_lines += 1
        self._last = max(self._last, line)
        if self.missed_lines <= _NAMED:
            text = why or f"a line of {counted(length, 'character')} is not part of {self.what}"
            self.add("input-lines", "info", line, text)

    def cut(
        self, line: int, message: str, fix: str = "give the whole output, as the program wrote it"
    ) -> None:
        """Say that the file, or this output in it, ends early or lacks a part."""
        self.add("input-cut", "warning", line, message, fix=fix)

    def finish(self) -> tuple[Finding, ...]:
        """Return the findings, with what was left out counted."""
        found = list(self._findings)
        where = f"{self.name}:{self._last}"
        if self.missed_lines > _NAMED:
            more = counted(self.missed_lines - _NAMED, "more line")
            verb = "was" if self.missed_lines == _NAMED + 1 else "were"
            found.append(Finding("input-lines", "info", where, f"{more} {verb} not understood"))
        if self._left_out:
            found.append(
                Finding("input-lines", "info", where, f"{counted(self._left_out, 'more finding')} left out")
            )
        return tuple(found)
