"""The JSON file of nccl-tests (``-J``, format version 3) → :class:`Measurements`.

Field names are those of its writer (src/util.cu of nccl-tests 2.19, https://github.com/NVIDIA/nccl-tests, read 2026-11):
booleans may be words, a root is a padded text, NaN is the word ``nan``. ``env`` holds the whole environment and is never looked
at. A file of a test that was stopped has no end: what stands in it whole is taken.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from gpufabric.errors import printable
from gpufabric.formats.clean_text import CleanText, read_clean
from gpufabric.formats.nccl_tests_lines import OP_OF_PROGRAM
from gpufabric.formats.nccl_tests_row import Half, ParsedRow, RowLayout
from gpufabric.formats.nccl_tests_run import MAX_ROWS, MAX_TABLES, Device, TestRun
from gpufabric.formats.nccl_tests_tables import tables_of_run
from gpufabric.formats.read_notes import ReadNotes, notes_on
from gpufabric.records.measurements import Measurements
from gpufabric.units import from_gigabytes, from_microseconds

_MAX_DEVICES = 1 << 20
_PROGRAM = re.compile(rf"({'|'.join(OP_OF_PROGRAM)})_perf")
_SIZE = re.compile(r'"size"\s*:')
_SIMPLE = re.compile(r'"(nccl_version|maximum_bytes|validation)"\s*:\s*("[^"\\]{0,80}"|\d{1,19})')


def read(source: str | Path | BinaryIO, name: str = "") -> Measurements:
    """Read the JSON file of one test.

    Raises
    ------
    InputError
        When the file can't be opened. What is in it never raises.
    """
    return read_part(read_clean(source, name))


def read_part(text: CleanText) -> Measurements:
    """Read the JSON document of a text; see :func:`read`."""
    notes = notes_on(text, "a JSON file of nccl-tests")
    whole = "\n".join(line.text for line in text.lines)
    document = _document(whole, text, notes)
    run = TestRun(header_lines=[text.lines[0].number if text.lines else 1])
    _about(document, run)
    lines = [line.number for line in text.lines for _ in _SIZE.findall(line.text)]
    _devices(document, run)
    _rows(document, run, lines, notes)
    tables, findings = tables_of_run(run, notes.name, MAX_TABLES)
    if not tables:
        notes.cut(text.lines_read, "no result of nccl-tests was found")
    return Measurements(
        notes.name, tuple(tables), (*findings, *notes.finish()), len(text.lines), notes.missed_lines
    )


def _document(whole: str, text: CleanText, notes: ReadNotes) -> dict[str, Any]:
    try:
        found = json.loads(whole)
    except (ValueError, RecursionError):
        notes.cut(
            text.lines_read, "the JSON breaks off or is not well formed; what stands in it whole was taken"
        )
        return _from_parts(whole)
    return found if isinstance(found, dict) else {}


def _from_parts(whole: str) -> dict[str, Any]:
    """Return what can be had of a document without its end: the elements of its two lists, and single values."""
    config: dict[str, Any] = {"devices": list(_elements(whole, "devices"))}
    found: dict[str, Any] = {"config": config, "results": list(_elements(whole, "results"))}
    for key, value in _SIMPLE.findall(whole):
        (found if key == "nccl_version" else config)[key] = value.strip('"')
    args = re.search(r'"args"\s*:\s*\[\s*"([^"\\]{0,300})"', whole)
    if args is not None:
        found["args"] = [args[1]]
    return found


def _elements(whole: str, key: str) -> Iterator[dict[str, Any]]:
    start = re.search(rf'"{key}"\s*:\s*\[', whole)
    decoder = json.JSONDecoder()
    at = start.end() if start is not None else len(whole)
    while at < len(whole):
        begin = whole.find("{", at)
        if begin < 0 or "]" in whole[at:begin]:
            return
        try:
            value, at = decoder.raw_decode(whole, begin)
        except (ValueError, RecursionError):
            return
        if isinstance(value, dict):
            yield value


def _number(value: object) -> float:
    """Return a number, or NaN for what is none; NaN and infinity are words in the file."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return math.nan
    try:
        return float(value) if not isinstance(value, str) else float(value.strip()[:40])
    except (ValueError, OverflowError):
        return math.nan


def _whole(value: object, most: int = 2**62) -> int | None:
    number = _number(value)
    return int(number) if math.isfinite(number) and number == int(number) and abs(number) <= most else None


def _about(document: dict[str, Any], run: TestRun) -> None:
    args = document.get("args")
    words = args if isinstance(args, list) else [args]
    program = next((f for word in words[:50] if (f := _PROGRAM.search(str(word)[:500]))), None)
    run.op = OP_OF_PROGRAM[program[1]] if program is not None else None
    version = str(document.get("nccl_version", ""))[:40]
    code = _whole(version)
    # ncclGetVersion: major × 10000 + minor × 100 + patch.
    run.library = f"{code // 10_000}.{code // 100 % 100}.{code % 100}" if code else printable(version, 40)
    config = document.get("config")
    config = config if isinstance(config, dict) else {}
    run.max_bytes = _whole(config.get("maximum_bytes"))
    run.checked = _whole(config.get("validation", 1)) != 0
    run.ended = "end_time" in document
    bounds = document.get("out_of_bounds")
    if isinstance(bounds, dict):
        run.out_of_bounds = bool(_whole(bounds.get("count"))) or bounds.get("okay") in (False, "false")
    average = document.get("average_bus_bandwidth")
    if isinstance(average, dict):
        value = _number(average.get("bandwidth"))
        run.average_bytes_per_s = from_gigabytes(value) if math.isfinite(value) else None
    run.failed = bool(document.get("errors"))


def _devices(document: dict[str, Any], run: TestRun) -> None:
    config = document.get("config")
    devices = config.get("devices") if isinstance(config, dict) else None
    for one in devices[:_MAX_DEVICES] if isinstance(devices, list) else ():
        if not isinstance(one, dict):
            continue
        rank, group, pid = (_whole(one.get(key)) for key in ("rank", "group", "pid"))
        if rank is not None and rank >= 0:
            host, gpu = (
                printable(str(one.get("hostname", "")), 255),
                printable(str(one.get("device_info", "")), 80),
            )
            run.add_device(Device(rank, group or 0, pid or 0, host, gpu.strip()), 1)


def _rows(document: dict[str, Any], run: TestRun, lines: list[int], notes: ReadNotes) -> None:
    results = document.get("results")
    for i, one in enumerate(results[:MAX_ROWS] if isinstance(results, list) else ()):
        line = lines[i] if i < len(lines) else 1
        size = _whole(one.get("size")) if isinstance(one, dict) else None
        if size is None or size < 0:
            notes.missed(line, 0, "a result has no size; it was not used")
            continue
        halves = [_half(one.get(key)) for key in ("out_of_place", "in_place")]
        row = ParsedRow(
            size_bytes=size,
            count=_whole(one.get("count")) or 0,
            dtype=printable(str(one.get("type", "")), 20),
            redop=printable(str(one.get("redop", "")), 20),
            root=_whole(one.get("root")),
            out_of_place=halves[0],
            in_place=halves[1],
            whole=True,
        )
        if halves[0] is None and halves[1] is None:
            notes.missed(line, 0, "a result has neither half; it was not used")
            continue
        cpu = any(
            isinstance(one.get(key), dict) and "cpu_time" in one[key] for key in ("out_of_place", "in_place")
        )
        run.add_row(row, line, RowLayout(known=True, cpu_time=cpu))


def _half(value: object) -> Half | None:
    if not isinstance(value, dict):
        return None
    time_us = _number(value.get("time", value.get("cpu_time")))
    algbw, busbw = _number(value.get("alg_bw")), _number(value.get("bus_bw"))
    if not all(math.isfinite(number) and number >= 0 for number in (time_us, algbw, busbw)):
        return None
    return Half(
        from_microseconds(time_us), from_gigabytes(algbw), from_gigabytes(busbw), _whole(value.get("nwrong"))
    )
