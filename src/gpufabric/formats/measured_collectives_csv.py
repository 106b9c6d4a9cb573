"""CSV of published measurements of collectives → :class:`~gpufabric.records.measured_collective.MeasuredTableFile`.

The columns are in ``docs/reference/validation.md``. A row that can't be used is left out with its reason; a file that is no such
table is refused.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from pathlib import Path

from gpufabric.errors import InputError, printable
from gpufabric.formats.csv_rows import csv_rows
from gpufabric.formats.library_settings_text import read_tool
from gpufabric.formats.nccl_tests_lines import OP_OF_PROGRAM
from gpufabric.records.bus_factor_table import BUS_FACTORS
from gpufabric.records.measured_collective import LeftOut, MeasuredCollective, MeasuredTableFile
from gpufabric.units import MAX_MESSAGE_BYTES, from_gigabytes, from_microseconds

REQUIRED = ("cluster", "nodes", "gpus", "collective", "bytes")
MEASURES = ("time_us", "busbw_gbps", "algbw_gbps")
_MAX_CELL = 4000
_MOST = 10_000_000
_NUMBER = re.compile(r"(\d{1,18})(?:\.(\d{0,18}))?(?:[eE][+-]?\d{1,3})?")
_WHOLE = re.compile(r"\d{1,18}")
_OPS = {name.replace("_", ""): op for name, op in OP_OF_PROGRAM.items()}


def read_measured_collectives(path: Path | str) -> MeasuredTableFile:
    """Return the measurements in a CSV file.

    Parameters
    ----------
    path
        UTF-8, at most 64 MiB; the first line names the columns, unknown ones are allowed.

    Raises
    ------
    InputError
        If the file can't be read, is not CSV, or lacks a needed column.
    """
    where = printable(str(path), 200)
    rows = csv_rows(path, where)
    columns = _columns(next(rows, (1, [])), where)
    read: list[MeasuredCollective] = []
    left_out: list[LeftOut] = []
    for line, cells in rows:
        row = {name: cells[i] if i < len(cells) else "" for name, i in columns.items()}
        shown = printable(row.get("id", "") or f"line {line}")
        try:
            read.append(_measured(row, shown, line))
        except InputError as error:
            left_out.append(LeftOut(shown, printable(row["cluster"]), line, str(error)))
    if not read and not left_out:
        raise InputError(f"{where}: has no rows; a table of measurements has one row a measurement; add some")
    return MeasuredTableFile(where, tuple(read), tuple(left_out))


def _columns(header: tuple[int, list[str]], where: str) -> dict[str, int]:
    line, cells = header
    names = [cell.lower() for cell in cells]
    missing = [name for name in REQUIRED if name not in names]
    if missing:
        raise InputError(
            f"{where}:{line}: column {missing[0]} is missing (found {printable(','.join(cells), 60)}); "
            f"needed are {', '.join(REQUIRED)} and one of time_us, busbw_GBps, algbw_GBps; name them in the first line"
        )
    if not set(MEASURES) & set(names):
        raise InputError(
            f"{where}:{line}: no column says what was measured; allowed are time_us, busbw_GBps, algbw_GBps; add one"
        )
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise InputError(f'{where}:{line}: column "{printable(twice)}" is named twice; remove one')
    return {name: index for index, name in enumerate(names)}


def _measured(row: Mapping[str, str], shown: str, line: int) -> MeasuredCollective:
    if any(len(cell) > _MAX_CELL for cell in row.values()):
        raise InputError(f"a cell has more than {_MAX_CELL:,} characters")
    if not row["cluster"]:
        raise InputError("cluster is blank")
    nodes, gpus = _count(row, "nodes", 1, _MOST), _count(row, "gpus", 2, _MOST)
    if gpus < nodes:
        raise InputError(f"gpus is {gpus:,} and nodes {nodes:,}; a node has one GPU or more")
    size = _count(row, "bytes", 1, MAX_MESSAGE_BYTES)
    op = _OPS.get(row["collective"].lower().removesuffix("_perf").replace("_", "").replace("-", ""))
    if op is None:
        raise InputError(f'collective "{printable(row["collective"], 40)}" is unknown')
    scale, depends = BUS_FACTORS[op]
    factor = scale * (gpus - 1) / gpus if depends else scale
    time_s, busbw, rounding = _time_and_bandwidth(row, size, factor)
    return MeasuredCollective(
        id=shown,
        cluster=printable(row["cluster"]),
        hw_class=printable(row.get("hw_class", "")),
        source=printable(row.get("source", ""), 200),
        line=line,
        kind=printable(row.get("kind", "")) or "measured",
        op=op,
        nodes=nodes,
        gpus=gpus,
        size_bytes=size,
        time_s=time_s,
        busbw_bytes_per_s=busbw,
        rounding=rounding,
        nics_known=all(_positive(row.get(name, "")) for name in ("nics_per_node", "nic_gbps")),
        library_version=printable(row.get("nccl_version", "")),
        settings_text=printable(row.get("algo_proto_env", ""), _MAX_CELL),
        tool=read_tool(row.get("tool", ""), row.get("algo_proto_env", "")),
        cluster_spec=row.get("cluster_spec", ""),
        rank_order=row.get("rank_order", ""),
    )


def _time_and_bandwidth(row: Mapping[str, str], size: int, factor: float) -> tuple[float, float, float]:
    """Return time, bus bandwidth, and how far rounding may have moved what the size decides on (see ``quantity``)."""
    time_us = _positive(row.get("time_us", ""))
    busbw = _positive(row.get("busbw_gbps", ""))
    algbw = _positive(row.get("algbw_gbps", ""))
    said = (("time_us", time_us), ("busbw_gbps", busbw), ("algbw_gbps", algbw))
    known = [name for name, value in said if value is not None]
    if not known:
        raise InputError("time_us, busbw_GBps and algbw_GBps are blank, zero or no numbers")
    rates = [from_gigabytes(busbw)] if busbw is not None else []
    rates += [from_gigabytes(algbw) * factor] if algbw is not None else []
    time_s = from_microseconds(time_us) if time_us is not None else size * factor / rates[0]
    bandwidth = rates[0] if rates else size * factor / time_s
    if not all(math.isfinite(value) and value > 0 for value in (time_s, bandwidth)):
        raise InputError("what was measured is out of range")
    best = min(_rounding(row[name]) for name in known)
    return time_s, bandwidth, best


def _positive(text: str) -> float | None:
    if not _NUMBER.fullmatch(text):
        return None
    value = float(text)
    return value if math.isfinite(value) and value > 0 else None


def _rounding(text: str) -> float:
    """Return half of the last digit of a number as a share of the number."""
    found = _NUMBER.fullmatch(text)
    assert found is not None
    digits = found.group(2) or ""
    whole = float(f"{found.group(1)}.{digits or 0}")
    return 0.5 * 10.0 ** -len(digits) / whole if whole else math.inf


def _count(row: Mapping[str, str], name: str, least: int, most: int) -> int:
    text = row[name]
    if not text:
        raise InputError(f"{name} is blank")
    if not _WHOLE.fullmatch(text) or not least <= int(text) <= most:
        raise InputError(f'{name} "{printable(text, 40)}" is no whole number from {least:,} to {most:,}')
    return int(text)
