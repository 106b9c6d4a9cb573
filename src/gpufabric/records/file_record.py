"""What every record that was read from a file knows of its reading."""

from __future__ import annotations

from dataclasses import dataclass

from gpufabric.records.findings import Finding


@dataclass(frozen=True, slots=True, kw_only=True)
class FileRecord:
    """Where a record comes from and how much of the file it holds.

    Attributes
    ----------
    file : str
        Name of the file, as findings call it.
    findings : tuple of Finding
        What is odd in the file, each with file:line.
    lines_read, lines_not_understood : int
        Lines of the file (or of the part of it that holds this output), and how many of them say nothing known.
    """

    file: str = ""
    findings: tuple[Finding, ...] = ()
    lines_read: int = 0
    lines_not_understood: int = 0
