"""Limits that other checkers gate by → JSON, or CSV where the name of the file ends in it."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

from gpufabric.records.verdicts import Verdict
from gpufabric.report.json_text import json_text, plain_json

FORMAT = "gpufabric-thresholds/1"


def thresholds_text(path: Path, name: str, gpu: str, rows: Sequence[Mapping[str, object]]) -> str:
    """Return the file that *path* asks for by its ending: CSV with one row a limit, else JSON.

    Parameters
    ----------
    path
    name, gpu
        Of the cluster and its GPU; empty where not known.
    rows
        Alike in their keys: what the limit is of, ``size_bytes``, and bus bandwidths in bytes/s: below ``limit_low_bytes_per_s``
        lies one healthy measurement in forty, ``low`` and ``high`` bound the 80 % range, ``ceiling`` can't be beaten.
    """
    if path.suffix.lower() != ".csv":
        return json_text({"format": FORMAT, "name": name, "gpu": gpu, "thresholds": list(rows)})
    out = io.StringIO()
    columns = list(dict.fromkeys(key for row in rows for key in row))
    writer = csv.DictWriter(out, columns, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows({key: _harmless(value) for key, value in plain_json(row).items()} for row in rows)
    return out.getvalue()


def verdict_thresholds(verdicts: Sequence[Verdict]) -> list[dict[str, object]]:
    """Return the limits that the sizes of logs were judged by, each size of a log once."""
    rows: list[dict[str, object]] = []
    for verdict in verdicts:
        sizes = {size.size_bytes: size.expected for size in verdict.sizes}
        rows += [{"test": verdict.what, **asdict(expected)} for _, expected in sorted(sizes.items())]
    return rows


def _harmless(value: object) -> object:
    """Return a cell that no spreadsheet takes for a formula."""
    return f"'{value}" if isinstance(value, str) and value[:1] in ("=", "+", "-", "@", "\t", "\r") else value
