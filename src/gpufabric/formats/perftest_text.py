"""Text output of perftest (``ib_write_bw``, ``ib_read_bw``, ``ib_send_bw``) → :class:`PerftestRuns`.

Its MB/sec are 2²⁰ bytes, its Gb/sec 10⁹ bits: 1,024-byte messages at 5.677340 Mpps are printed as 5544.28 MB/sec
(https://github.com/linux-rdma/perftest/issues/65, read 2026-11).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from gpufabric.errors import InputError, printable
from gpufabric.formats.clean_text import CleanText, read_clean
from gpufabric.formats.read_notes import notes_on
from gpufabric.records.perftest import PerftestRow, PerftestRun, PerftestRuns
from gpufabric.units import parse_rate

MAX_RUNS = 10_000
MAX_ROWS = 100_000
_TITLE = re.compile(
    r"^\s*(RDMA_Write|RDMA_Read|Send|Atomic\w*)( Bidirectional)?(?: Post List)?( Bidirectional)? BW Test"
)
_HEADER = re.compile(
    r"#bytes\s+#iterations\s+BW peak\[(MiB|MB|Gb)/sec\]\s+BW average\[(?:MiB|MB|Gb)/sec\]\s+MsgRate\[Mpps\]"
)
_NUMBER = r"(\d{1,15}(?:\.\d{1,9})?)"
_ROW = re.compile(rf"^\s*(\d{{1,16}})\s+(\d{{1,16}})\s+{_NUMBER}\s+{_NUMBER}\s+{_NUMBER}(?:\s|$)")
_PAIR = re.compile(r"([A-Za-z][\w #*/.()-]{1,30}?)\s*:\s*([^\s:][^\t]{0,60}?)(?=\s{2,}|\t|\s*$)")
_GPU = re.compile(
    r"\b(?:initializing (?:CUDA|HIP|ROCm)|use_cuda|use_rocm|CUDA device|cuMemAlloc|creating CUDA Ctx|GPU buffer)\b"
)
_QUIET = re.compile(
    r"^\s*(?:-{5,}|\*+.*|#.*|(?:local|remote) address:.*|GID:.*|WARNING:.*|\[pid = .*|.*ib_(?:write|read|send)_bw\b.*"
    r"|(?:initializing|Listing|Picking|making|allocated|Perftest|creating|There are|destroying|deallocating|Requested).*)?\s*$"
)


@dataclass
class _Run:
    test: str
    bidirectional: bool
    line: int
    gpu: bool
    facts: dict[str, str] = field(default_factory=dict)
    rows: list[PerftestRow] = field(default_factory=list)


def read(source: str | Path | BinaryIO, name: str = "") -> PerftestRuns:
    """Read one output, or several in one file.

    Raises
    ------
    InputError
        When the file can't be opened. What is in it never raises.
    """
    return read_part(read_clean(source, name))


def read_part(text: CleanText) -> PerftestRuns:
    """Read such outputs of a text; see :func:`read`."""
    notes = notes_on(text, "an output of perftest")
    runs: list[_Run] = []
    unit = ""
    gpu = False
    rows = 0
    for line in text.lines:
        title, header, row = _TITLE.match(line.text), _HEADER.search(line.text), _ROW.match(line.text)
        gpu = gpu or _GPU.search(line.text) is not None
        if title is not None and len(runs) < MAX_RUNS:
            runs.append(_Run(title[1].lower(), bool(title[2] or title[3]), line.number, gpu))
            unit, gpu = "", False
        elif header is not None:
            unit = "Gb" if header[1] == "Gb" else "MiB"
            if not runs:
                runs.append(_Run("", False, line.number, gpu))
        elif row is not None and unit and rows < MAX_ROWS:
            rows += 1
            runs[-1].rows.append(_row(row, unit, line.number))
        elif runs and not unit and (pairs := _PAIR.findall(line.text)):
            if len(runs[-1].facts) < 64:
                runs[-1].facts.update(
                    {key.strip().lower(): printable(value.strip(), 60) for key, value in pairs}
                )
        elif _QUIET.match(line.text) is None:
            notes.missed(line.number, len(line.text))
    for run in runs:
        if not run.rows:
            notes.cut(run.line, "a test has no result row", fix="look at what the other side printed")
    if not runs:
        notes.cut(text.lines_read, "no output of perftest was found")
    return PerftestRuns(
        runs=tuple(_closed(run) for run in runs),
        file=notes.name,
        findings=notes.finish(),
        lines_read=len(text.lines),
        lines_not_understood=notes.missed_lines,
    )


def _row(found: re.Match[str], unit: str, line: int) -> PerftestRow:
    return PerftestRow(
        size_bytes=int(found[1]),
        iterations=int(found[2]),
        peak_bytes_per_s=_rate(found[3], unit),
        average_bytes_per_s=_rate(found[4], unit),
        messages_per_s=float(found[5]) * 1e6,
        line=line,
    )


def _rate(text: str, unit: str) -> float:
    try:
        return parse_rate(f"{text} {unit}/s")
    except InputError:
        return 0.0


def _closed(run: _Run) -> PerftestRun:
    return PerftestRun(
        test=run.test,
        bidirectional=run.bidirectional,
        device=run.facts.get("device", ""),
        link_type=run.facts.get("link type", ""),
        connection=run.facts.get("connection type", ""),
        queue_pairs=_whole(run.facts.get("number of qps", "")),
        mtu_bytes=_whole(run.facts.get("mtu", "")),
        gid_index=_whole(run.facts.get("gid index", "")),
        gpu=run.gpu,
        rows=tuple(run.rows),
        line=run.line,
    )


def _whole(text: str) -> int:
    found = re.match(r"\d{1,9}", text)
    return int(found[0]) if found is not None else -1
